"""What a picture shows, told by a vision model."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import NamedTuple

from pydantic import Field, ValidationError

from extract.chat.answer import NotJson, find_object
from extract.chat.cache import AnswerCache
from extract.chat.errand import current
from extract.chat.model import CallRecord, ChatMessage, ChatModel, ChatRequest, Usage
from extract.errors import AnswerCut, MalformedAnswer
from extract.prompting import prompt, repair_message
from extract.said import Said, closed_schema

_SCHEMA_NAME = "picture"
_ASK = "What does this picture show?"


class Seen(Said):
    """What a vision model says of a picture."""

    description: str = Field(min_length=4, description="two to eight sentences on what is shown")
    text: str = Field(default="", description="the words in the picture, or empty")


class Look(NamedTuple):
    """What a picture shows, and the name under which the answer is kept."""

    seen: Seen
    kept: str


class Viewer:
    """Describes pictures.

    Args:
        chat: a model that takes pictures.
        cache: of validated answers.
        max_output_tokens: of one answer.
        on_call: told of every answer that was there already.
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

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    def describe(self, picture: bytes, tenant: str) -> Look:
        """Return what a JPEG shows; the same picture is asked about once.

        Raises:
            TransientError, ModelRefuses: see ``ChatModel.ask``.
            ContentFiltered: the provider refuses it.
            AnswerCut, MalformedAnswer: no valid answer, even after a repair.
        """
        url = f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"
        request = ChatRequest(
            messages=(
                ChatMessage(role="system", content=prompt("picture")),
                ChatMessage(role="user", content=_ASK, pictures=(url,)),
            ),
            schema_name=_SCHEMA_NAME,
            json_schema=closed_schema(Seen),
            max_output_tokens=self._max_output_tokens,
        )
        version = hashlib.sha256(prompt("picture").encode()).hexdigest()[:8]
        key = self._cache.key(tenant, self._chat.name, version, request)
        with self._cache.held(key):
            known = self._cache.get(key, Seen)
            if known is not None:
                self._on_call(CallRecord(self._chat.name, Usage(), 0.0, "cached", 1, current()))
                return Look(known, key)
            seen = self._ask(request)
            self._cache.put(key, seen)
            return Look(seen, key)

    def _ask(self, request: ChatRequest) -> Seen:
        problem = ""
        for _ in range(2):
            reply = self._chat.ask(request)
            if not reply.complete:
                raise AnswerCut
            try:
                return Seen.model_validate(find_object(reply.text))
            except (NotJson, ValidationError) as error:
                problem = str(error)[:200]
                shown = ChatMessage(role="assistant", content=reply.text[:2000] or "-")
                request = request.also(shown, repair_message(problem))
        raise MalformedAnswer(f"The vision model's answer cannot be used: {problem}")
