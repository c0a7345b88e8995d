"""The language model as a reranker: it sees all texts at once and grades each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extract.chat.answer import NotJson, find_object
from extract.chat.model import ChatModel, ChatRequest
from extract.errors import ExtractError, ModelRefuses
from ingest.errors import TransientError
from retrieval.errors import RerankerRefused, RerankerUnavailable
from retrieval.prompting import conversation, fenced

_MOST = 10  # the best grade
_TOKENS_PER_GRADE = 16
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "grades": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "passage": {"type": "integer"},
                    "grade": {"type": "integer", "minimum": 0, "maximum": _MOST},
                },
                "required": ["passage", "grade"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["grades"],
    "additionalProperties": False,
}


class ListwiseReranker:
    """Asks a language model to grade passages from 0 to 10.

    Args:
        chat: the model.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The model, as it stands in traces."""
        return self._chat.name

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the grade of each text, 0 to 1; one the model passes over has 0; see ``Reranker``."""
        request = ChatRequest(
            messages=conversation("listwise", question, fenced(texts)),
            schema_name="grades",
            json_schema=_SCHEMA,
            max_output_tokens=200 + _TOKENS_PER_GRADE * len(texts),
        )
        try:
            reply = self._chat.ask(request)
            said = find_object(reply.text)
        except TransientError as error:
            raise RerankerUnavailable(f"The language model does not answer ({error.detail}).") from error
        except (ModelRefuses, ExtractError) as error:
            raise RerankerRefused(f"The language model refuses ({error.detail}).") from error
        except NotJson as error:
            raise RerankerRefused("The language model's answer holds no grades.") from error
        return _grades(said, len(texts))


def _grades(said: dict[str, Any], count: int) -> list[float]:
    scores = [0.0] * count
    graded = 0
    rows = said.get("grades")
    for row in rows if isinstance(rows, list) else ():
        passage, grade = (row.get("passage"), row.get("grade")) if isinstance(row, dict) else (None, None)
        if not isinstance(passage, int) or not isinstance(grade, int | float) or not 1 <= passage <= count:
            continue
        scores[passage - 1] = min(1.0, max(0.0, grade / _MOST))
        graded += 1
    if not graded:
        raise RerankerRefused("The language model graded none of the passages.")
    return scores
