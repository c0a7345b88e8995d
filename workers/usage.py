"""What calls of models cost, as frozen values. Prices have no currency: they are in units of the settings."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from pydantic import Field

from ingest.anchors import Frozen

MICRO = 1_000_000
# A call that ended otherwise gave nothing.
_FINE = frozenset({"ok", "cut", "cached", "refused"})


class Prices(NamedTuple):
    """What a million tokens cost, in and out."""

    per_million_in: float = 0.0
    per_million_out: float = 0.0

    def of(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Return what a call costs, in millionths of a unit."""
        return round(prompt_tokens * self.per_million_in + completion_tokens * self.per_million_out)


class PaidCall(Frozen):
    """One call of a model as it is entered into the ledger.

    Attributes:
        tenant: who pays; empty where nobody told.
        document_id: of which document; None for a question.
        stage: which stage of it, or "search".
        outcome: "ok", "cut" (for length), "cached" (nothing was sent), "refused" (a part of the request was
            not understood), or the code of an error.
        attempt: 1 for the first try of a request.
        prompt_tokens, completion_tokens: 0 where nothing came back.
        estimated: the endpoint did not tell; the tokens were counted here.
        price_micro: in millionths of a unit.
        seconds: how long it took.
    """

    tenant: str
    document_id: str | None
    stage: str
    model: str
    outcome: str
    attempt: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    price_micro: int = 0
    seconds: float = 0.0

    @property
    def cached(self) -> bool:
        """Tell whether the answer was there already."""
        return self.outcome == "cached"

    @property
    def failed(self) -> bool:
        """Tell whether the call gave nothing."""
        return self.outcome not in _FINE


class Spent(Frozen):
    """What some calls came to.

    Attributes:
        calls: requests that were sent, failed ones included.
        cached: answers that were there already, and cost nothing.
        failed: requests that gave nothing.
        price: in units of LLM_PRICE_IN, LLM_PRICE_OUT and EMBED_PRICE_IN.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price: float = 0.0

    @property
    def tokens(self) -> int:
        """Return the tokens in and out."""
        return self.prompt_tokens + self.completion_tokens


class Budget(Frozen):
    """What may be spent, as price and as tokens; 0 means no bound."""

    price: float = Field(default=0.0, ge=0)
    tokens: int = Field(default=0, ge=0)

    def used_up_by(self, spent: Spent) -> str | None:
        """Return what of the budget is used up in words, or None while there is some left."""
        if self.price and spent.price >= self.price:
            return f"{spent.price:g} of {self.price:g}"
        if self.tokens and spent.tokens >= self.tokens:
            return f"{spent.tokens} of {self.tokens} tokens"
        return None


class UsageRow(Spent):
    """What one model cost in one stage on one day (UTC)."""

    day: date
    model: str
    stage: str


class UsageFilter(Frozen):
    """Whose usage, and of which days (UTC, both included); None does not narrow."""

    tenant: str
    user_id: str | None = None
    group_id: str | None = None
    first: date | None = None
    last: date | None = None


def day_of(moment: datetime) -> str:
    """Return the day of a moment in UTC, as it is kept."""
    return moment.date().isoformat()
