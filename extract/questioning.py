"""Getting one valid answer out of a language model for a stretch of elements, and paying for it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from pydantic import ValidationError

from extract.chat.answer import NotJson, find_object
from extract.chat.cache import AnswerCache
from extract.chat.errand import current
from extract.chat.model import CallRecord, ChatMessage, ChatModel, ChatReply, ChatRequest, Usage
from extract.errors import AnswerCut, ContextTooLong, MalformedAnswer
from extract.language import UNDETERMINED, detect_language
from extract.prompting import extraction_messages, language_name, prompts_version, repair_message
from extract.said import SCHEMA_NAME, SaidEpisode, answer_schema
from extract.scripts import estimate_tokens
from extract.statements.draft import Scene
from ingest.model import Element

_SHOWN_AGAIN = 6000  # characters of a wrong answer that are shown with the request to repair it


class _Verdict(NamedTuple):
    answer: SaidEpisode | None
    problem: str


class Questioner:
    """Asks, checks, repairs once, splits where it must, and keeps what is valid.

    Args:
        chat: the model.
        cache: of validated answers.
        max_output_tokens: of one answer.
        on_call: told of every answer that was there already, with the outcome "cached".
    """

    def __init__(
        self,
        chat: ChatModel,
        cache: AnswerCache,
        max_output_tokens: int,
        on_call: Callable[[CallRecord], None] | None = None,
    ) -> None:
        self._chat = chat
        self._cache = cache
        self._max_output_tokens = max_output_tokens
        self._on_call = on_call or (lambda record: None)

    def ask(self, scene: Scene, elements: Sequence[Element]) -> SaidEpisode:
        """Return the valid answer for a run of elements of the scene's segment.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            AnswerCut, ContextTooLong: even a single element is too much.
            ContentFiltered: the provider refuses it.
            MalformedAnswer: no valid answer after a repair.
        """
        request = ChatRequest(
            messages=extraction_messages(scene, elements),
            schema_name=SCHEMA_NAME,
            json_schema=answer_schema(),
            max_output_tokens=self._max_output_tokens,
        )
        key = self._cache.key(self._chat.name, prompts_version(), request)
        with self._cache.held(key):
            known = self._cache.get(key, SaidEpisode)
            if known is not None:
                self._on_call(CallRecord(self._chat.name, Usage(), 0.0, "cached", 1, current()))
                return known
            answer = self._whole_or_halves(scene, elements, request)
            self._cache.put(key, answer)
            return answer

    def _whole_or_halves(
        self, scene: Scene, elements: Sequence[Element], request: ChatRequest
    ) -> SaidEpisode:
        try:
            return self._checked(scene, request)
        except (AnswerCut, ContextTooLong):
            middle = _middle(elements)
            if not middle:
                raise
            return self.ask(scene, elements[:middle]).joined(self.ask(scene, elements[middle:]))

    def _checked(self, scene: Scene, request: ChatRequest) -> SaidEpisode:
        reply = self._complete(request)
        verdict = _judge(scene, reply.text)
        if verdict.answer is not None:
            return verdict.answer
        shown = ChatMessage(role="assistant", content=reply.text[:_SHOWN_AGAIN] or "-")
        again = self._complete(request.also(shown, repair_message(verdict.problem)))
        repaired = _judge(scene, again.text)
        if repaired.answer is None:
            raise MalformedAnswer(f"The language model's answer cannot be used: {repaired.problem}")
        return repaired.answer

    def _complete(self, request: ChatRequest) -> ChatReply:
        reply = self._chat.ask(request)
        if not reply.complete:
            raise AnswerCut
        return reply


def _middle(elements: Sequence[Element]) -> int:
    """Return where a run falls into two halves of about equal size; 0 for a single element."""
    if len(elements) < 2:
        return 0
    sizes = list(accumulate(estimate_tokens(element.text) for element in elements))
    return min(range(1, len(elements)), key=lambda at: abs(sizes[at - 1] * 2 - sizes[-1]))


def _judge(scene: Scene, text: str) -> _Verdict:
    """Return the answer, or what is wrong with it in words a model understands."""
    try:
        answer = SaidEpisode.model_validate(find_object(text))
    except NotJson as error:
        return _Verdict(None, str(error))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return _Verdict(None, f"{place}: {first['msg']}.")
    written = detect_language(" ".join([answer.summary, *(fact.text for fact in answer.facts)]))
    if UNDETERMINED not in (written, scene.language) and written != scene.language:
        return _Verdict(None, f"It must be written in {language_name(scene.language)}.")
    return _Verdict(answer, "")
