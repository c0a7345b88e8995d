"""What may be spent, each a setting ``BUDGET_<NAME>``; 0 means no bound."""

from __future__ import annotations

from pydantic import Field

from ingest.anchors import Frozen


class BudgetKnobs(Frozen):
    """Bounds on what models may cost; beyond one the work waits, and nothing fails.

    Attributes:
        tenant_per_day, tenant_tokens_per_day: of one tenant from midnight to midnight (UTC), as price or as
            tokens in and out.
        per_batch, tokens_per_batch: of one upload, unless it names its own.
    """

    tenant_per_day: float = Field(default=0.0, ge=0)
    tenant_tokens_per_day: int = Field(default=0, ge=0)
    per_batch: float = Field(default=0.0, ge=0)
    tokens_per_batch: int = Field(default=0, ge=0)
