"""The outbox: what has to be in the queues. The ledger is the truth; a queue is only a way to be quick.

A row is written in the transaction that changes the document, is marked when its message was sent, and
goes when a worker takes the stage. So at any time the rows marked as sent are the messages that must be
in the queues, and a queue that holds fewer has lost some.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from workers.ledger.database import Database
from workers.ledger.records import outbox_entry
from workers.ledger.tables import OutboxRow
from workers.model import OutboxEntry, Stage


class Outbox:
    """Reads and marks the outbox."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, limit: int, document_id: str | None = None) -> list[OutboxEntry]:
        """Return up to ``limit`` unsent messages whose time has come, oldest first."""
        query = (
            select(OutboxRow)
            .where(OutboxRow.sent_at.is_(None), OutboxRow.available_at <= self._database.now())
            .order_by(OutboxRow.available_at, OutboxRow.id)
            .limit(limit)
        )
        if document_id is not None:
            query = query.where(OutboxRow.document_id == document_id)
        with self._database.read() as session:
            return [outbox_entry(row) for row in session.scalars(query)]

    def mark_sent(self, entries: Sequence[OutboxEntry]) -> None:
        """Record that these messages were sent; one put off meanwhile stays unsent."""
        with self._database.write() as session:
            for entry in entries:
                session.execute(
                    update(OutboxRow)
                    .where(OutboxRow.id == entry.id, OutboxRow.available_at == entry.available_at)
                    .values(sent_at=self._database.now())
                )

    def sent_counts(self) -> dict[Stage, int]:
        """Return how many messages each queue should hold."""
        query = (
            select(OutboxRow.stage, func.count())
            .where(OutboxRow.sent_at.is_not(None))
            .group_by(OutboxRow.stage)
        )
        with self._database.read() as session:
            return {Stage(stage): count for stage, count in session.execute(query)}

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
