"""Budgets of batches, and the documents that wait for a budget."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import select, update

from workers.errors import NotFound
from workers.ledger import outbox
from workers.ledger.batches import budget_columns
from workers.ledger.database import Database
from workers.ledger.tables import BatchRow, DocumentRow
from workers.ledger.usages import batch_of
from workers.model import STAGE_OF, State
from workers.usage import MICRO, Budget


class BatchBudget(NamedTuple):
    """The batch through which a document came in, and its own budget; None where it names none."""

    batch_id: str
    budget: Budget | None


class Waiting(NamedTuple):
    """A document that waits for a budget."""

    tenant: str
    document_id: str
    reason: str


class Budgets:
    """Reads and sets the budgets of batches, and lets documents go on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_document(self, document_id: str) -> BatchBudget | None:
        """Return the batch of a document and its budget, or None when it came in through none."""
        with self._database.read() as session:
            document = session.get(DocumentRow, document_id)
            identity = batch_of(session, document) if document else None
            row = session.get(BatchRow, identity) if identity else None
            return BatchBudget(row.id, _budget(row)) if row else None

    def of_batch(self, tenant: str, batch_id: str) -> Budget | None:
        """Return the budget of a batch, or None when it names none.

        Raises:
            NotFound: the tenant has no such batch.
        """
        with self._database.read() as session:
            row = session.get(BatchRow, batch_id)
            if row is None or row.tenant != tenant:
                raise NotFound("There is no such batch.")
            return _budget(row)

    def set(self, tenant: str, batch_id: str, budget: Budget) -> None:
        """Give a batch a budget of its own; what waits for more goes on at the next look.

        Raises:
            NotFound: the tenant has no such batch.
        """
        values = budget_columns(budget)
        mine = (BatchRow.id == batch_id, BatchRow.tenant == tenant)
        with self._database.write() as session:
            found = session.scalar(update(BatchRow).where(*mine).values(**values).returning(BatchRow.id))
            if found is None:
                raise NotFound("There is no such batch.")

    def waiting(self, reasons: Collection[str]) -> list[Waiting]:
        """Return the documents that wait for one of these reasons, in the order in which they came."""
        query = (
            select(DocumentRow.tenant, DocumentRow.id, DocumentRow.waits_for)
            .where(DocumentRow.waits_for.in_(reasons), DocumentRow.lease_token.is_(None))
            .order_by(DocumentRow.received_at, DocumentRow.id)
        )
        with self._database.read() as session:
            return [Waiting(tenant, one, reason or "") for tenant, one, reason in session.execute(query)]

    def go_on(self, document_id: str, reason: str) -> bool:
        """Let a document that waits for this reason be worked on at once; tell whether it did wait."""
        with self._database.write() as session:
            row = session.get(DocumentRow, document_id, with_for_update=True)
            stage = STAGE_OF.get(State(row.state)) if row else None
            if row is None or stage is None or row.waits_for != reason or row.lease_token is not None:
                return False
            outbox.put(self._database, session, row.id, stage, self._database.now())
            return True


def _budget(row: BatchRow) -> Budget | None:
    if row.budget_micro is None and row.budget_tokens is None:
        return None
    return Budget(price=(row.budget_micro or 0) / MICRO, tokens=row.budget_tokens or 0)
