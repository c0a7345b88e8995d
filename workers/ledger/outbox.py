"""The outbox: what has to be in the queues. The ledger is the truth; a queue is only a way to be quick.

A row is written in the transaction that changes the document, is marked when its message was sent, and
goes when a worker takes the stage. So at any time the rows marked as sent are the messages that must be
in the queues, and a queue that holds fewer has lost some.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, delete, exists, func, select, update
from sqlalchemy.orm import Session

from workers.ledger.database import Database
from workers.ledger.records import outbox_entry
from workers.ledger.tables import DocumentRow, OutboxRow
from workers.model import OutboxEntry, Stage


class Outbox:
    """Reads and marks the outbox."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, window: int) -> list[OutboxEntry]:
        """Reserve messages that may be sent now and mark them as sent; who takes them has to send them.

        Args:
            window: messages each queue may hold. Of those that wait, every owner's oldest comes first, so an
                owner with thousands of files does not keep the others waiting.
        """
        now = self._database.now()
        # Mostly there is nothing; finding that out must not take the write lock.
        with self._database.read() as session:
            if not session.scalar(select(exists().where(*_due(now)))):
                return []
        with self._database.write() as session:
            held = _sent_counts(session)
            rows: list[OutboxRow] = []
            for stage in Stage:
                free = window - held.get(stage, 0)
                if free > 0:
                    rows += session.scalars(_fair(stage, now).limit(free))
            taken = [row for row in rows if _reserve(session, row.id, now)]
            return [outbox_entry(row) for row in taken]

    def put_back(self, entries: Sequence[OutboxEntry]) -> None:
        """Let messages that could not be sent be taken again."""
        with self._database.write() as session:
            session.execute(
                update(OutboxRow).where(OutboxRow.id.in_([one.id for one in entries])).values(sent_at=None)
            )

    def waiting(self) -> list[OutboxEntry]:
        """Return the messages that are not in a queue yet, in the order in which they become due."""
        query = select(OutboxRow).where(OutboxRow.sent_at.is_(None))
        with self._database.read() as session:
            ordered = query.order_by(OutboxRow.available_at, OutboxRow.id)
            return [outbox_entry(row) for row in session.scalars(ordered)]

    def counts(self) -> dict[Stage, int]:
        """Return how many messages of each stage are sent and not taken, or wait to be sent now or later."""
        every = select(OutboxRow.stage, func.count()).group_by(OutboxRow.stage)
        with self._database.read() as session:
            found = {Stage(stage): count for stage, count in session.execute(every)}
        return {stage: found.get(stage, 0) for stage in Stage}

    def sent_counts(self) -> dict[Stage, int]:
        """Return how many messages each queue should hold."""
        with self._database.read() as session:
            return _sent_counts(session)

    def resend(self, stage: Stage, limit: int, older_than_s: float) -> int:
        """Mark up to ``limit`` messages of a queue as unsent again, the ones sent longest ago first.

        Args:
            stage: the queue.
            limit: how many are known to be lost.
            older_than_s: leave alone what was sent within this many seconds.

        Returns:
            How many were marked.
        """
        before = self._database.now() - timedelta(seconds=older_than_s)
        oldest = (
            select(OutboxRow.id)
            .where(OutboxRow.stage == stage, OutboxRow.sent_at <= before)
            .order_by(OutboxRow.sent_at, OutboxRow.id)
            .limit(limit)
        )
        with self._database.write() as session:
            ids = list(session.scalars(oldest))
            session.execute(update(OutboxRow).where(OutboxRow.id.in_(ids)).values(sent_at=None))
        return len(ids)


def _sent_counts(session: Session) -> dict[Stage, int]:
    sent = select(OutboxRow.stage, func.count()).where(OutboxRow.sent_at.is_not(None))
    return {Stage(stage): count for stage, count in session.execute(sent.group_by(OutboxRow.stage))}


def _due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (OutboxRow.sent_at.is_(None), OutboxRow.available_at <= now)


def _fair(stage: Stage, now: datetime) -> Select[OutboxRow]:
    owner = (DocumentRow.tenant, DocumentRow.user_id, DocumentRow.group_id)
    turn = func.row_number().over(partition_by=owner, order_by=(OutboxRow.available_at, OutboxRow.id))
    return (
        select(OutboxRow)
        .join(DocumentRow, DocumentRow.id == OutboxRow.document_id)
        .where(OutboxRow.stage == stage, *_due(now))
        .order_by(turn, OutboxRow.available_at, OutboxRow.id)
    )


def _reserve(session: Session, identity: int, now: datetime) -> bool:
    # Another process may have reserved it since it was read (PostgreSQL).
    free = (OutboxRow.id == identity, OutboxRow.sent_at.is_(None))
    reserved = update(OutboxRow).where(*free).values(sent_at=now).returning(OutboxRow.id)
    return session.scalar(reserved.execution_options(synchronize_session=False)) is not None


def put(database: Database, session: Session, document_id: str, stage: Stage, at: datetime) -> None:
    """Ask for a message inside a transaction; one that is already asked for is due at the new time."""
    fresh = {"document_id": document_id, "stage": stage.value, "available_at": at, "sent_at": None}
    if not database.insert_new(session, OutboxRow, fresh):
        session.execute(
            update(OutboxRow)
            .where(OutboxRow.document_id == document_id, OutboxRow.stage == stage)
            .values(available_at=at, sent_at=None)
        )


def clear(session: Session, document_id: str) -> None:
    """Withdraw every message of a document inside a transaction; a sent one finds nothing to do."""
    session.execute(delete(OutboxRow).where(OutboxRow.document_id == document_id))


def pending(session: Session, document_id: str, stage: Stage) -> OutboxRow | None:
    """Return the message of a stage that still has to be taken."""
    return session.scalar(
        select(OutboxRow).where(OutboxRow.document_id == document_id, OutboxRow.stage == stage)
    )
