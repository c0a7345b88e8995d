"""The lease columns of a document's row: who may write, and what to make of a holder that is gone."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import Field

from ingest.anchors import Frozen
from workers.errors import Poison
from workers.holder import Fate, current_holder, fate_of
from workers.ledger.records import set_diagnosis
from workers.ledger.tables import DocumentRow
from workers.model import ErrorRecord, State


class LeaseRules(Frozen):
    """How long a lease holds and how often a stage is tried.

    Attributes:
        lease_s: a holder not heard of for this long has lost its lease, in seconds.
        max_attempts: starts of a stage before a transient error becomes final; removals have no such limit.
        max_deaths: worker processes a document may end before it is set aside.
        busy_s: when a stage finds another one still winding down, it tries again after this, in seconds.
    """

    lease_s: float = Field(default=60.0, gt=0)
    max_attempts: int = Field(default=10, ge=1)
    max_deaths: int = Field(default=2, ge=1)
    busy_s: float = Field(default=1.0, gt=0)


class Leases:
    """Gives, keeps and breaks leases on rows, inside a transaction that has locked the row.

    Args:
        rules: durations and counts.
        holder: names this process.
        fate: tells what became of a holder.
    """

    def __init__(
        self,
        rules: LeaseRules,
        holder: Callable[[], str] = current_holder,
        fate: Callable[[str], Fate] = fate_of,
    ) -> None:
        self.rules = rules
        self._holder = holder
        self._fate = fate

    def give(self, row: DocumentRow, now: datetime) -> str:
        """Lease a row to this process and return the token."""
        token = str(uuid.uuid4())
        row.lease_token, row.lease_holder = token, self._holder()
        self.extend(row, now)
        return token

    def extend(self, row: DocumentRow, now: datetime) -> None:
        """Let a lease hold for another while."""
        row.lease_until = now + timedelta(seconds=self.rules.lease_s)

    def is_lost(self, row: DocumentRow, now: datetime) -> bool:
        """Tell whether a row has a lease whose holder is gone or was not heard of in time."""
        if row.lease_token is None or row.lease_until is None:
            return False
        if row.lease_until <= now:
            return True
        return self._fate(row.lease_holder or "") in (Fate.DIED, Fate.DIED_WITH_PARENT)

    def break_lost(self, row: DocumentRow) -> None:
        """Take a lost lease away; a holder that died alone is held against the document."""
        if self._fate(row.lease_holder or "") is Fate.DIED:
            row.deaths += 1
        let_go(row)

    def exhausted(self, row: DocumentRow) -> ErrorRecord | None:
        """Return why a stage may not be started again, or None when it may."""
        if row.state == State.DELETING:
            return None
        if row.deaths >= self.rules.max_deaths:
            return ErrorRecord.of(Poison(f"The {row.stage} stage ended its worker {row.deaths} times."))
        if row.attempts >= self.rules.max_attempts:
            return ErrorRecord.of(Poison(f"The {row.stage} stage did not end in {row.attempts} starts."))
        return None


def let_go(row: DocumentRow) -> None:
    """Clear the lease of a row."""
    row.lease_token = row.lease_holder = row.lease_until = None


def end(row: DocumentRow, state: State, now: datetime, error: ErrorRecord | None = None) -> None:
    """Bring a document to an end. ``error`` replaces the diagnosis when it is given."""
    row.state = state.value
    row.finished_at = row.updated_at = now
    if error is not None:
        set_diagnosis(row, error)
