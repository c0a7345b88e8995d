"""Whether results suffice, and what to ask next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from extract.chat.answer import NotJson, find_object
from extract.chat.model import ChatModel, ChatRequest
from extract.errors import ExtractError, ModelRefuses
from extract.scripts import estimate_tokens
from ingest.errors import StrataError, TransientError
from retrieval.bridges import Reading, covered, next_questions
from retrieval.errors import JudgeFailed
from retrieval.prompting import conversation, fenced

_READ_BY_TEXT = 3
_READ_BY_MODEL = 12
_READING_CHARS = 600
_QUESTION_CHARS = 300
_OUTPUT_TOKENS = 400
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "enough": {"type": "boolean"},
        "questions": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["enough", "questions"],
    "additionalProperties": False,
}


class Verdict(NamedTuple):
    """What a judge says.

    Attributes:
        questions: what to ask next; none when the results suffice or nothing more comes to mind.
        enough: the results suffice.
        tokens: what it took.
    """

    questions: tuple[str, ...]
    enough: bool = False
    tokens: int = 0


class Judge(Protocol):
    """Reads results and says what is missing."""

    @property
    def name(self) -> str:
        """Who judges, as it stands in traces."""

    def cost(self, question: str, readings: Sequence[Reading]) -> int:
        """Return how many tokens a verdict will take, about."""

    def judge(
        self, question: str, language: str, readings: Sequence[Reading], asked: Sequence[str], most: int
    ) -> Verdict:
        """Return a verdict.

        Args:
            question: the caller's.
            language: it is written in.
            readings: the best results so far, best first; those of the last round in front.
            asked: all questions so far, the caller's first.
            most: further questions wanted at most.

        Raises:
            JudgeFailed: there is none.
        """


class TextJudge:
    """Asks about the names that the best results bring up, until they bring up none."""

    name = "text"

    def cost(self, question: str, readings: Sequence[Reading]) -> int:
        """Return 0: it takes no tokens."""
        return 0

    def judge(
        self, question: str, language: str, readings: Sequence[Reading], asked: Sequence[str], most: int
    ) -> Verdict:
        """Return further questions about names; see ``Judge``."""
        if covered(question, readings[:_READ_BY_TEXT], language):
            return Verdict((), enough=True)
        found = next_questions(question, readings[:_READ_BY_TEXT], most, asked[1:], language)
        return Verdict(tuple(found))


class ModelJudge:
    """Asks a language model.

    Args:
        chat: the model.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    def cost(self, question: str, readings: Sequence[Reading]) -> int:
        """Return how many tokens a verdict will take, about."""
        messages = self._messages(question, readings, ())
        return sum(estimate_tokens(one.content) for one in messages) + _OUTPUT_TOKENS

    def judge(
        self, question: str, language: str, readings: Sequence[Reading], asked: Sequence[str], most: int
    ) -> Verdict:
        """Return the model's verdict; see ``Judge``."""
        request = ChatRequest(
            messages=self._messages(question, readings, asked[1:]),
            schema_name="verdict",
            json_schema=_SCHEMA,
            max_output_tokens=_OUTPUT_TOKENS,
        )
        try:
            reply = self._chat.ask(request)
            said = find_object(reply.text)
        except (TransientError, ModelRefuses, ExtractError) as error:
            raise JudgeFailed(f"The language model does not judge ({_detail(error)}).") from error
        except NotJson as error:
            raise JudgeFailed("The language model's verdict cannot be read.") from error
        tokens = reply.usage.prompt_tokens + reply.usage.completion_tokens
        return _verdict(said, set(asked), most, tokens or self.cost(question, readings))

    def _messages(self, question: str, readings: Sequence[Reading], asked: Sequence[str]) -> Any:  # noqa: ANN401
        shown = [f"{one.title}: {one.text}"[:_READING_CHARS] for one in readings[:_READ_BY_MODEL]]
        earlier = ["Asked already: " + " | ".join(asked)] if asked else []
        return conversation("judge", question, fenced(shown), *earlier)


def _verdict(said: dict[str, Any], asked: set[str], most: int, tokens: int) -> Verdict:
    enough, rows = said.get("enough"), said.get("questions")
    if not isinstance(enough, bool) or not isinstance(rows, list):
        raise JudgeFailed("The language model's verdict has another form than asked for.")
    if enough:
        return Verdict((), True, tokens)
    lines = (" ".join(row.split())[:_QUESTION_CHARS] for row in rows if isinstance(row, str))
    fresh = [line for line in dict.fromkeys(lines) if line not in asked and any(c.isalnum() for c in line)]
    return Verdict(tuple(fresh[:most]), False, tokens)


def _detail(error: StrataError) -> str:
    return error.detail
