"""Getting one valid answer out of a language model for a stretch of elements, and paying for it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from extract.chat.cache import AnswerCache
from extract.chat.errand import current
from extract.chat.model import CallRecord, ChatMessage, ChatModel, ChatReply, ChatRequest, Usage
from extract.checking import Verdict, judge
from extract.errors import AnswerCut, ContextTooLong, ExtractError, MalformedAnswer
from extract.prompting import extraction_messages, prompts_version, repair_message
from extract.said import SCHEMA_NAME, SaidEpisode, answer_schema
from extract.scripts import estimate_tokens
from extract.statements.draft import Scene
from ingest.errors import TransientError
from ingest.model import Element

_SHOWN_AGAIN = 6000  # characters of a wrong answer that are shown with the request to repair it


class Answered(NamedTuple):
    """An answer that can be used.

    Attributes:
        said: what the model says.
        kept: the names under which it, or its halves, are kept for the next time; empty where they are not.
    """

    said: SaidEpisode
    kept: tuple[str, ...] = ()


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

    def ask(self, scene: Scene, elements: Sequence[Element]) -> Answered:
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
        tenant = scene.document.owner.tenant
        key = self._cache.key(tenant, self._chat.name, prompts_version(), request)
        with self._cache.held(key):
            known = self._cache.get(key, SaidEpisode)
            if known is not None:
                self._on_call(CallRecord(self._chat.name, Usage(), 0.0, "cached", 1, current()))
                return Answered(known, (key,))
            verdict = self._whole(scene, elements, request, key)
            if verdict is not None:
                return self._kept(key, verdict)
        # A half has an entry of its own, and the whole none: what is kept is what was paid for.
        middle = _middle(elements)
        first, second = self.ask(scene, elements[:middle]), self.ask(scene, elements[middle:])
        return Answered(first.said.joined(second.said), (*first.kept, *second.kept))

    def _kept(self, key: str, verdict: Verdict) -> Answered:
        assert verdict.answer is not None
        if verdict.problem and not verdict.grounded:
            return Answered(verdict.answer)
        self._cache.put(key, verdict.answer)
        return Answered(verdict.answer, (key,))

    def _whole(
        self, scene: Scene, elements: Sequence[Element], request: ChatRequest, key: str
    ) -> Verdict | None:
        """Return the best answer that can be used, or None when it has to be asked for in halves."""
        middle = _middle(elements)
        if middle and self._cache.too_long(key, self._max_output_tokens):
            return None
        try:
            return self._checked(scene, elements, request)
        except (AnswerCut, ContextTooLong):
            if not middle:
                raise
            self._cache.note_too_long(key, self._max_output_tokens)
            return None

    def _checked(self, scene: Scene, elements: Sequence[Element], request: ChatRequest) -> Verdict:
        reply = self._complete(request)
        first = judge(scene, elements, reply.text)
        if first.answer is not None and not first.problem:
            return first
        try:
            shown = ChatMessage(role="assistant", content=reply.text[:_SHOWN_AGAIN] or "-")
            again = self._complete(request.also(shown, repair_message(first.problem)))
        except (ExtractError, TransientError):
            if first.answer is None:
                raise
            return first
        second = judge(scene, elements, again.text)
        best = max((second, first), key=lambda one: (one.answer is not None, one.grounded))
        if best.answer is not None:
            return best
        if first.unfinished and second.unfinished:
            # Cut for length by an endpoint that does not say so.
            raise AnswerCut
        raise MalformedAnswer(f"The language model's answer cannot be used: {second.problem}")

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
