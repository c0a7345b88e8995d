"""A language model behind any OpenAI-compatible endpoint.

One request becomes as many calls as it takes: what an endpoint refuses to understand is left out and
remembered, short outages and limits are waited for, and the whole call has a deadline that a server which
drips bytes cannot stretch. What remains is a typed error.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from math import ldexp
from threading import Lock
from typing import Any

import httpx2
import openai
from openai import OpenAI

from extract.chat.body import BodyTooLong, BodyTooSlow, read_body
from extract.chat.capabilities import Capabilities, CapabilityMemory
from extract.chat.errand import current, pause, still_wanted
from extract.chat.faults import dislike_of, typed
from extract.chat.limiter import Unlimited
from extract.chat.model import CallRecord, ChatReply, ChatRequest, Limiter, Usage
from extract.chat.wire import body_of, read_reply
from extract.errors import ModelUnavailable, RateLimited
from extract.knobs import LlmKnobs
from extract.scripts import estimate_tokens
from ingest.errors import StrataError, TransientError

_FIRST_WAIT_S = 1.0
# From this try on an endpoint that never answered, and says 500 without a reason, is asked without a schema.
_DOUBTS_FROM = 3


class ChatClient:
    """Asks one model at one endpoint. Safe to share between threads; connects on first use.

    Args:
        knobs: endpoint, key, model and limits.
        memory: what endpoints take.
        limiter: shared with everybody who uses the key.
        on_call: told of every call in the thread that made it, failed ones included.
        sleep: how to wait; tests hand in their own.
    """

    def __init__(
        self,
        knobs: LlmKnobs,
        memory: CapabilityMemory | None = None,
        limiter: Limiter | None = None,
        on_call: Callable[[CallRecord], None] | None = None,
        sleep: Callable[[float], None] = pause,
    ) -> None:
        self._knobs = knobs
        self._memory = memory or CapabilityMemory()
        self._limiter: Limiter = limiter or Unlimited()
        self._on_call = on_call or (lambda record: None)
        self._sleep = sleep
        self._client: OpenAI | None = None
        self._lock = Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._knobs.model

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return the answer to a request; see ``ChatModel``."""
        attempt = 0
        while True:
            attempt += 1
            still_wanted()
            try:
                return self._call(request, attempt)
            except (RateLimited, ModelUnavailable) as error:
                wait = self._wait_after(error, attempt)
                if isinstance(error, RateLimited):
                    self._limiter.hold_off(wait)
                if attempt >= self._knobs.tries or wait > self._knobs.longest_wait_s:
                    raise
                self._sleep(wait)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _wait_after(self, error: TransientError, attempt: int) -> float:
        """Return how long to wait: what was asked for, else doubling with jitter."""
        if error.retry_after_s is not None:
            return float(error.retry_after_s)
        return ldexp(_FIRST_WAIT_S, attempt - 1) * random.uniform(0.5, 1.0)

    def _call(self, request: ChatRequest, attempt: int) -> ChatReply:
        """Make one call, leaving out what the endpoint turns out not to know."""
        endpoint = f"{self._knobs.endpoint}\n{self._knobs.model}"
        capabilities = self._memory.get(endpoint)
        untried = attempt >= _DOUBTS_FROM and not self._memory.proven(endpoint)
        guessed = False
        while True:
            self._limiter.acquire(_size(request))
            try:
                reply = self._recorded(request, capabilities, attempt, untried)
            except _Disliked as refusal:
                capabilities, guessed = refusal.remaining, guessed or refusal.guessed
                continue
            self._memory.learn(endpoint, capabilities, keep=not guessed)
            return reply

    def _recorded(
        self, request: ChatRequest, capabilities: Capabilities, attempt: int, untried: bool
    ) -> ChatReply:
        started = time.monotonic()
        usage, outcome = Usage(), "refused"
        try:
            reply = self._send(request, capabilities, untried)
            usage, outcome = _used(request, reply), "ok" if reply.complete else "cut"
            return reply
        except StrataError as error:
            outcome = error.code
            raise
        finally:
            seconds = time.monotonic() - started
            self._on_call(CallRecord(self._knobs.model, usage, seconds, outcome, attempt, current()))

    def _send(self, request: ChatRequest, capabilities: Capabilities, untried: bool) -> ChatReply:
        body = body_of(request, capabilities, self._knobs.model)
        try:
            raw = self._post(body)
        except openai.APIStatusError as error:
            told = dislike_of(error)
            dislike = told or dislike_of(error, untried=untried)
            remaining = capabilities.without(dislike) if dislike else None
            if remaining is not None:
                raise _Disliked(remaining, guessed=told is None) from error
            raise typed(error) from error
        except openai.APIError as error:
            raise typed(error) from error
        except httpx2.HTTPError as error:  # while the body was read
            raise ModelUnavailable("The connection to the language model broke.") from error
        return read_reply(raw, capabilities.rung)

    def _post(self, body: dict[str, Any]) -> bytes:
        """Return the raw answer, read under a deadline and a size limit."""
        deadline = time.monotonic() + self._knobs.timeout_s
        try:
            with self._connected().chat.completions.with_streaming_response.create(**body) as response:
                return read_body(response.iter_bytes(), deadline, self._knobs.max_answer_bytes)
        except BodyTooSlow as error:
            message = f"The answer was not there after {self._knobs.timeout_s:g} s."
            raise ModelUnavailable(message) from error
        except BodyTooLong as error:
            raise ModelUnavailable("The answer is longer than LLM_MAX_ANSWER_BYTES allows.") from error

    def _connected(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                # Retries are ours: the library's do not tell a limit from a used-up account.
                self._client = OpenAI(
                    api_key=self._knobs.api_key.get_secret_value() or "none",
                    base_url=self._knobs.endpoint,
                    max_retries=0,
                    timeout=self._knobs.timeout_s,
                )
            return self._client


class _Disliked(Exception):
    """The endpoint objects to a part of the request that can be left out."""

    def __init__(self, remaining: Capabilities, *, guessed: bool) -> None:
        self.remaining = remaining
        self.guessed = guessed
        super().__init__(remaining)


def _asked(request: ChatRequest) -> int:
    return sum(estimate_tokens(message.content) for message in request.messages)


def _size(request: ChatRequest) -> int:
    """Return what a provider counts against a limit when a request comes in: the longest answer included."""
    return _asked(request) + request.max_output_tokens


def _used(request: ChatRequest, reply: ChatReply) -> Usage:
    """Return the tokens of a call; a budget must hold at an endpoint that does not tell them, too."""
    if reply.usage.prompt_tokens or reply.usage.completion_tokens:
        return reply.usage
    said = estimate_tokens(reply.text)
    return Usage(prompt_tokens=_asked(request), completion_tokens=said, estimated=True)
