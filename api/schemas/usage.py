"""What the calls about usage take and give."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workers.usage import Budget, Spent, UsageRow


class UsageOut(BaseModel):
    """What calls of models came to."""

    calls: int = Field(description="requests that were sent, failed ones included")
    cached: int = Field(description="answers that were there already, and cost nothing")
    failed: int = Field(description="requests that gave nothing")
    prompt_tokens: int
    completion_tokens: int
    price: float = Field(description="in units of LLM_PRICE_IN, LLM_PRICE_OUT and EMBED_PRICE_IN")


class BudgetIn(BaseModel):
    """What a batch may cost, as price and as tokens in and out; 0 means no bound."""

    model_config = ConfigDict(extra="forbid")

    budget: float = Field(default=0, ge=0, le=10**9)
    budget_tokens: int = Field(default=0, ge=0, le=10**15)


class BudgetOut(BaseModel):
    """What a batch may cost; 0 means no bound."""

    price: float
    tokens: int


class UsageQuery(BaseModel):
    """Of which days (UTC, both included); without them, of all."""

    model_config = ConfigDict(extra="forbid")

    first: date | None = None
    last: date | None = None

    @model_validator(mode="after")
    def _in_order(self) -> UsageQuery:
        if self.first and self.last and self.first > self.last:
            raise ValueError("first has to be on or before last")
        return self


class UsageDay(UsageOut):
    """What one model cost in one stage on one day (UTC)."""

    day: date
    model: str
    stage: str = Field(description="'extract', 'index', or 'search' for questions")


class UsageResponse(BaseModel):
    """The sum, and what it is made of."""

    total: UsageOut
    rows: list[UsageDay]


def usage_out(spent: Spent) -> UsageOut:
    """Return the public form of a sum."""
    return UsageOut(**_shown(spent))


def budget_out(budget: Budget | None) -> BudgetOut | None:
    """Return the public form of a batch's own budget."""
    return None if budget is None else BudgetOut(price=budget.price, tokens=budget.tokens)


def usage_day(row: UsageRow) -> UsageDay:
    """Return the public form of a row."""
    return UsageDay(**_shown(row))


def _shown(spent: Spent) -> dict[str, Any]:
    return {**spent.model_dump(), "price": round(spent.price, 6)}
