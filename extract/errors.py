"""Errors of extraction.

StrataError
├── TransientError
│   ├── Postponed                                    waiting, which is no failure
│   │   ├── RateLimited         llm_rate_limited     429: too many requests or tokens just now
│   │   └── TurnFarOff          llm_turn             our own limiter: the next free turn is far off
│   ├── LimiterUnavailable      llm_limiter          what the workers share to keep to a limit is away
│   ├── ModelUnavailable        llm_unavailable      5xx, no connection, no answer in time
│   └── CallAbandoned           llm_abandoned        nobody waits for the answer any more
├── ModelRefuses                                     every call will end so until somebody acts
│   ├── QuotaExhausted          llm_quota            429 insufficient_quota, 402
│   └── ModelMisconfigured      llm_misconfigured    401, 403, 404, a request it does not take
└── ExtractError                extract              nothing could be made of this stretch
    ├── ContextTooLong          llm_context
    ├── ContentFiltered         llm_filtered
    ├── AnswerCut               llm_cut              finish_reason=length
    └── MalformedAnswer         llm_malformed        no valid answer, even after a repair
"""

from __future__ import annotations

from ingest.errors import Postponed, StrataError, TransientError


class ExtractError(StrataError):
    """No episodes and facts could be made of the document."""

    code = "extract"
    advice = "Retry the document; if it stays, look at its elements with `strata parse`."


class RateLimited(Postponed):
    """The language model takes no more requests at the moment."""

    code = "llm_rate_limited"


class TurnFarOff(Postponed):
    """The language model is used as fast as its limits allow; the next free turn is some time off."""

    code = "llm_turn"
    advice = "Nothing has to be done; to go faster raise LLM_REQUESTS_PER_MINUTE or LLM_TOKENS_PER_MINUTE."


class LimiterUnavailable(TransientError):
    """What the workers share to keep to the language model's limits does not answer."""

    code = "llm_limiter"


class ModelUnavailable(TransientError):
    """The language model does not answer."""

    code = "llm_unavailable"


class CallAbandoned(TransientError):
    """The work the language model was asked for has been stopped."""

    code = "llm_abandoned"


class ModelRefuses(StrataError):
    """The language model refuses every request."""

    code = "llm_refuses"
    advice = "Check LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, then retry the document."


class QuotaExhausted(ModelRefuses):
    """The account at the language model's provider is used up."""

    code = "llm_quota"
    advice = "Top up the account or raise its limit, then retry the document; nothing paid for is lost."


class ModelMisconfigured(ModelRefuses):
    """The language model's endpoint does not take the request."""

    code = "llm_misconfigured"


class ContextTooLong(ExtractError):
    """The stretch is longer than the language model can read."""

    code = "llm_context"
    advice = "Choose a model with a larger context, or split the file."


class ContentFiltered(ExtractError):
    """The language model's provider refused the content."""

    code = "llm_filtered"
    advice = "Use EXTRACTOR=extractive for this file, or another provider."


class AnswerCut(ExtractError):
    """The language model's answer was cut off."""

    code = "llm_cut"
    advice = "Raise LLM_MAX_OUTPUT_TOKENS."


class MalformedAnswer(ExtractError):
    """The language model gave no answer that can be used."""

    code = "llm_malformed"
    advice = "Use a larger model; small ones often cannot keep to a form."
