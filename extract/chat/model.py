"""What is asked of a language model, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import Field

from extract.chat.errand import Errand
from ingest.anchors import Frozen


class ChatMessage(Frozen):
    """One message of a request. Pictures are data URLs, shown behind the words."""

    role: Literal["system", "user", "assistant"]
    content: str
    pictures: tuple[str, ...] = ()


class ChatRequest(Frozen):
    """One request: messages, and the JSON schema the answer has to keep to."""

    messages: tuple[ChatMessage, ...] = Field(min_length=1)
    schema_name: str
    json_schema: Mapping[str, Any]
    max_output_tokens: int = Field(gt=0)

    def also(self, *messages: ChatMessage, max_output_tokens: int | None = None) -> ChatRequest:
        """Return the request with further messages."""
        return self.model_copy(
            update={
                "messages": (*self.messages, *messages),
                "max_output_tokens": max_output_tokens or self.max_output_tokens,
            }
        )


class Rung(IntEnum):
    """How an endpoint is told to keep to a schema, the strictest first."""

    SCHEMA = 0  # response_format json_schema, the standard
    OBJECT_SCHEMA = 1  # response_format json_object with a schema, llama-cpp's way
    OBJECT = 2  # response_format json_object alone; the schema stands in the prompt
    TEXT = 3  # nothing but the prompt


class Usage(Frozen):
    """Tokens of one call as the endpoint counts them; 0 where it does not tell.

    Attributes:
        cached_tokens: those of the prompt which the endpoint still knew.
        estimated: the endpoint did not tell; they were counted here.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False


class ChatReply(Frozen):
    """The answer of a language model.

    Attributes:
        text: as it came.
        complete: False when it was cut off for length.
        rung: how the schema was asked for.
    """

    text: str
    complete: bool
    usage: Usage
    rung: Rung


class CallRecord(NamedTuple):
    """One call for the token ledger, failures included.

    Attributes:
        model: its name.
        usage: tokens; none where nothing came back.
        seconds: how long it took.
        outcome: "ok", "cut", "cached" (nothing was sent), "refused" (a part of the request was not
            understood), or the code of the error.
        attempt: 1 for the first try of a request.
        errand: on whose behalf.
    """

    model: str
    usage: Usage
    seconds: float
    outcome: str
    attempt: int
    errand: Errand


class ChatModel(Protocol):
    """A language model that can be asked."""

    @property
    def name(self) -> str:
        """The model's name, part of everything that is cached."""

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return the answer to a request.

        Raises:
            RateLimited, ModelUnavailable: try again later.
            ModelRefuses: every request will be refused until somebody acts.
            ContextTooLong, ContentFiltered: this request will be refused again.
        """


class Limiter(Protocol):
    """Keeps the calls of one key under the provider's limits, across all who use the key."""

    def acquire(self, tokens: int) -> None:
        """Wait until a call of about this many tokens may be made.

        Raises:
            Postponed: that is too far off to be waited for; says when to come back.
            LimiterUnavailable: what is shared between the workers is away.
        """

    def hold_off(self, seconds: float) -> None:
        """Make all wait: the provider asked for it."""
