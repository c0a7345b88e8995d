"""What an endpoint's refusal means, in our own errors.

Providers use the same status for different things: 429 is "slow down" or "your credit is used up", 400 is a
schema it cannot keep to, a prompt too long, or content it refuses. The body tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

import openai

from extract.errors import (
    ContentFiltered,
    ContextTooLong,
    ModelMisconfigured,
    ModelUnavailable,
    QuotaExhausted,
    RateLimited,
)
from ingest.errors import StrataError

_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credit)|exceeded your current quota|billing|payment required"
    r"|out of credits?|credit balance|余额不足|欠费",
    re.IGNORECASE,
)
# A code of its own for a used-up account, whatever else is said.
_ACCOUNT = re.compile(r"insufficient[_ ](?:quota|balance|funds|credit)", re.IGNORECASE)
_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many tokens|prompt is too long|input is too long"
    r"|exceeds? the (?:maximum|model|limit)|maximum (?:input|prompt) length|reduce the length"
    r"|requested tokens .* exceed",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[_ ]?(?:filter|policy|management)|responsible ?ai|safety system|data_inspection_failed"
    r"|sensitive content|inappropriate content",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response_format|json_schema|json_object|json schema|structured output|grammar", re.IGNORECASE
)
_TEMPERATURE = re.compile(r"temperature|seed|unsupported.*sampling", re.IGNORECASE)
_MAX_TOKENS = re.compile(r"max_tokens", re.IGNORECASE)
_MAX_WAIT_S = 3600.0
_TELLING = ("code", "type", "param", "message")


class Dislike(Enum):
    """A part of the request an endpoint does not know; asked without it, it may answer."""

    SCHEMA = "schema"
    SAMPLING = "sampling"
    MAX_TOKENS = "max_tokens"


def dislike_of(error: openai.APIStatusError, *, untried: bool = False) -> Dislike | None:
    """Return which part of a request an endpoint objects to, or None when it is something else.

    Args:
        error: the refusal.
        untried: the endpoint has never answered, and this is not the first try. Some choke on a schema with
            a 500 that says nothing; then the schema is the likeliest reason.
    """
    if error.status_code not in (400, 404, 415, 422, 500, 501):
        return None
    words = _words(error)
    if _CONTEXT.search(words) or _FILTER.search(words):
        return None
    if _SCHEMA.search(words):
        return Dislike.SCHEMA
    if error.status_code >= 500:
        return Dislike.SCHEMA if untried and error.status_code == 500 else None
    if _MAX_TOKENS.search(words):
        return Dislike.MAX_TOKENS
    return Dislike.SAMPLING if _TEMPERATURE.search(words) else None


def typed(error: openai.APIError) -> StrataError:
    """Return our error for one of the client library's."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailable("The language model did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("The connection to the language model failed.")
    return ModelUnavailable("The language model's answer could not be read.")


def _of_status(error: openai.APIStatusError) -> StrataError:
    return of_refusal(error.status_code, _words(error), retry_after(error.response.headers))


def of_refusal(status: int, words: str, wait_s: float | None = None) -> StrataError:
    """Return our error for a status, what the endpoint says with it, and how long it asks to wait."""
    if status == 402 or (status in (400, 403, 429) and _is_quota(words, wait_s)):
        return QuotaExhausted()
    if status == 429:
        return RateLimited(retry_after_s=wait_s)
    if status == 413 or _CONTEXT.search(words):
        return ContextTooLong()
    if _FILTER.search(words):
        return ContentFiltered()
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailable(
            f"The language model's endpoint answered {status}.",
            retry_after_s=wait_s,
        )
    return ModelMisconfigured(f"The language model's endpoint answered {status}: {words[:200]}")


def _is_quota(words: str, wait_s: float | None) -> bool:
    """Some speak of quota and billing at every limit; one that ends soon is a limit."""
    return bool(_QUOTA.search(words)) and (wait_s is None or _ACCOUNT.search(words) is not None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds an endpoint asks to wait, at most an hour; None when it does not tell."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds:
            return _bounded(float(milliseconds) / 1000)
        if value:
            return _bounded(float(value))
    except ValueError:
        return _until(value or "")
    return None


def _until(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return _bounded((moment - datetime.now(moment.tzinfo or UTC)).total_seconds())


def _bounded(seconds: float) -> float:
    return min(max(0.0, seconds), _MAX_WAIT_S)


def _words(error: openai.APIStatusError) -> str:
    return f"{telling_words(error.body)} {error.message}"


def telling_words(body: object) -> str:
    """Return what the body of a refusal says: code, type, parameter and message."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return str(inner or "")
    return " ".join(str(inner.get(key) or "") for key in _TELLING)
