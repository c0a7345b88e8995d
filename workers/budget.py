"""Keeping to what may be spent: before each call it is looked whether there is anything left.

What is used up makes the stage wait with a reason that can be seen. Nothing fails, and what has been done is
kept. The reconciler lets a document go on when its budget was raised; a new day does so by itself. Questions
are counted but never kept waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import lru_cache

from extract.chat.errand import Errand, current
from extract.chat.model import Limiter
from workers.errors import BudgetUsedUp
from workers.knobs import BudgetKnobs
from workers.ledger.ledger import Ledger
from workers.usage import Budget

DAY, BATCH = "budget_day", "budget_batch"
_NEVER_WAITING = frozenset({"", "search"})
_LOOK_AGAIN_S = 86_400.0  # the reconciler looks far more often


class BudgetGuard:
    """Tells what may still be spent.

    Args:
        ledger: what was spent, and the budgets of batches.
        knobs: the bounds of the settings.
    """

    def __init__(self, ledger: Ledger, knobs: BudgetKnobs) -> None:
        self._ledger = ledger
        self._per_day = Budget(price=knobs.tenant_per_day, tokens=knobs.tenant_tokens_per_day)
        self._per_batch = Budget(price=knobs.per_batch, tokens=knobs.tokens_per_batch)

    def check(self, errand: Errand) -> None:
        """Find out whether a call may be paid for.

        Raises:
            BudgetUsedUp: the tenant's budget of the day, or the batch's, is used up.
        """
        if errand.stage in _NEVER_WAITING:
            return
        for refusal in (self.day(errand.tenant), self.batch(errand.document_id)):
            if refusal is not None:
                raise refusal

    def day(self, tenant: str) -> BudgetUsedUp | None:
        """Return why a tenant may spend no more today, or None."""
        if self._per_day == Budget():
            return None
        used = self._per_day.used_up_by(self._ledger.usages.of_today(tenant))
        if used is None:
            return None
        now = self._ledger.database.now()
        return _used_up(
            DAY,
            f"The budget of the day is used up ({used}).",
            "It goes on by itself at 00:00 UTC, or once BUDGET_TENANT_PER_DAY is raised.",
            _until_midnight(now),
        )

    def batch(self, document_id: str) -> BudgetUsedUp | None:
        """Return why no more may be spent on a document's batch, or None."""
        found = self._ledger.budgets.of_document(document_id)
        if found is None:
            return None
        budget = self._per_batch if found.budget is None else found.budget
        if budget == Budget():
            return None
        used = budget.used_up_by(self._ledger.usages.of_batch(found.batch_id))
        if used is None:
            return None
        return _used_up(
            BATCH,
            f"The budget of the batch is used up ({used}).",
            f"It goes on by itself once the budget is raised: PUT /api/v1/batches/{found.batch_id}/budget.",
            _LOOK_AGAIN_S,
        )

    def release(self) -> int:
        """Let the documents go on whose budget has something left again; return how many."""
        day = lru_cache(maxsize=None)(self.day)
        released = 0
        for tenant, document_id, reason in self._ledger.budgets.waiting((DAY, BATCH)):
            if day(tenant) is None and self.batch(document_id) is None:
                released += self._ledger.budgets.go_on(document_id, reason)
        return released


class BudgetedLimiter:
    """A limiter that asks first whether the call may be paid for."""

    def __init__(self, limiter: Limiter, check: Callable[[Errand], None]) -> None:
        self._limiter = limiter
        self._check = check

    def acquire(self, tokens: int) -> None:
        """Wait for the call's turn; see ``Limiter``.

        Raises:
            BudgetUsedUp: it may not be paid for.
        """
        self._check(current())
        self._limiter.acquire(tokens)

    def hold_off(self, seconds: float) -> None:
        """Make all wait."""
        self._limiter.hold_off(seconds)


def _used_up(code: str, detail: str, next_step: str, retry_after_s: float) -> BudgetUsedUp:
    refusal = BudgetUsedUp(detail, retry_after_s=retry_after_s)
    refusal.code, refusal.next_step = code, next_step
    return refusal


def _until_midnight(now: datetime) -> float:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    return (midnight - now).total_seconds()
