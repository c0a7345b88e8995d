"""What calls of models cost: entered one by one, added up by document, batch, day and model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Integer, Row, cast, func, select
from sqlalchemy.orm import Session

from workers.ledger.database import Database
from workers.ledger.tables import BatchItemRow, BatchRow, DocumentRow
from workers.ledger.usage_tables import CallRow
from workers.texts import storable
from workers.usage import MICRO, PaidCall, Spent, UsageFilter, UsageRow, day_of

_MANY = 500


class Usages:
    """Enters calls and adds them up."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enter(self, call: PaidCall) -> None:
        """Keep a call, with the owner of its document and the batch through which that came in."""
        now = self._database.now()
        with self._database.write() as session:
            document = session.get(DocumentRow, call.document_id) if call.document_id else None
            session.add(
                CallRow(
                    at=now,
                    day=day_of(now),
                    user_id=document.user_id if document else None,
                    group_id=document.group_id if document else None,
                    batch_id=batch_of(session, document) if document else None,
                    model=storable(call.model, 255),
                    outcome=storable(call.outcome, 64),
                    cached=call.cached,
                    failed=call.failed,
                    **call.model_dump(exclude={"model", "outcome"}),
                )
            )

    def of_document(self, identity: str) -> Spent:
        """Return what a document has cost so far."""
        return self._sum(CallRow.document_id == identity)

    def of_documents(self, identities: Iterable[str]) -> dict[str, Spent]:
        """Return what each of some documents has cost so far; those without calls are left out."""
        wanted, found = sorted(set(identities)), {}
        with self._database.read() as session:
            for at in range(0, len(wanted), _MANY):
                some = CallRow.document_id.in_(wanted[at : at + _MANY])
                query = select(CallRow.document_id, *_sums()).where(some).group_by(CallRow.document_id)
                found.update({row[0]: _spent(row[1:]) for row in session.execute(query)})
        return {identity: spent for identity, spent in found.items() if identity is not None}

    def of_batch(self, identity: str) -> Spent:
        """Return what the documents of a batch have cost that came in through it."""
        return self._sum(CallRow.batch_id == identity)

    def of_days(self, narrow: UsageFilter) -> Spent:
        """Return what an owner has spent."""
        return self._sum(*_narrowed(narrow))

    def of_today(self, tenant: str) -> Spent:
        """Return what a tenant has spent since midnight (UTC)."""
        today = self._database.now().date()
        return self.of_days(UsageFilter(tenant=tenant, first=today))

    def table(self, narrow: UsageFilter) -> tuple[UsageRow, ...]:
        """Return what an owner has spent by day, model and stage, the latest day first."""
        keys = (CallRow.day, CallRow.model, CallRow.stage)
        query = (
            select(*keys, *_sums())
            .where(*_narrowed(narrow))
            .group_by(*keys)
            .order_by(CallRow.day.desc(), CallRow.model, CallRow.stage)
        )
        with self._database.read() as session:
            return tuple(
                UsageRow(
                    day=date.fromisoformat(row[0]), model=row[1], stage=row[2],
                    **_spent(row[3:]).model_dump(),
                )
                for row in session.execute(query)
            )  # fmt: skip

    def _sum(self, *conditions: ColumnElement[bool]) -> Spent:
        with self._database.read() as session:
            return _spent(session.execute(select(*_sums()).where(*conditions)).one())


def batch_of(session: Session, document: DocumentRow) -> str | None:
    """Return the batch through which a document came in, last if it did so more than once."""
    query = (
        select(BatchRow.id)
        .join(BatchItemRow, BatchItemRow.batch_id == BatchRow.id)
        .where(BatchItemRow.document_id == document.root_id, BatchItemRow.duplicate_of.is_(None))
        .order_by(BatchRow.created_at.desc(), BatchRow.id)
    )
    return session.scalar(query.limit(1))


def _narrowed(narrow: UsageFilter) -> Collection[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [CallRow.tenant == narrow.tenant]
    if narrow.user_id is not None:
        found.append(CallRow.user_id == narrow.user_id)
    if narrow.group_id is not None:
        found.append(CallRow.group_id == narrow.group_id)
    if narrow.first is not None:
        found.append(CallRow.day >= narrow.first.isoformat())
    if narrow.last is not None:
        found.append(CallRow.day <= narrow.last.isoformat())
    return found


def _sums() -> tuple[ColumnElement[Any], ...]:
    def count(column: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(cast(column, Integer))

    sums = (
        func.sum(CallRow.prompt_tokens),
        func.sum(CallRow.completion_tokens),
        func.sum(CallRow.price_micro),
    )
    return func.count(), count(CallRow.cached), count(CallRow.failed), *sums  # type: ignore[arg-type]


def _spent(row: Row[Any] | tuple[Any, ...]) -> Spent:
    every, cached, failed, prompt, completion, micro = (int(value or 0) for value in row)
    return Spent(
        calls=every - cached, cached=cached, failed=failed, prompt_tokens=prompt,
        completion_tokens=completion, price=micro / MICRO,
    )  # fmt: skip
