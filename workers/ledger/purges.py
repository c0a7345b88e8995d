"""Bytes that leave the blob store.

Equal bytes are stored once, so removing them races with an upload of the same. The order is: mark them
as leaving in the transaction that removes the last document with them, remove them, record that they are
gone. An upload that began to store before they were gone is refused and stores again.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, exists, select, update
from sqlalchemy.orm import Session

from workers.errors import BlobLeaving
from workers.ledger.database import Database
from workers.ledger.tables import DocumentRow, PurgeRow
from workers.model import Upload


class Purges:
    """Reads and marks the bytes that leave."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def unfinished(self, older_than_s: float = 0, limit: int = 1000) -> list[str]:
        """Return the hashes of bytes marked at least this long ago that are not recorded as gone."""
        before = self._database.now() - timedelta(seconds=older_than_s)
        query = select(PurgeRow.sha256).where(PurgeRow.purged_at.is_(None), PurgeRow.marked_at <= before)
        with self._database.read() as session:
            return list(session.scalars(query.limit(limit)))

    def finish(self, sha256: str) -> None:
        """Record that the bytes are gone."""
        with self._database.write() as session:
            session.execute(
                update(PurgeRow).where(PurgeRow.sha256 == sha256).values(purged_at=self._database.now())
            )

    def mark_unused(self, sha256: str) -> bool:
        """Mark bytes that no document has as leaving; tell whether they may be removed now."""
        with self._database.write() as session:
            return mark_if_unused(self._database, session, sha256)

    def forget(self, older_than_s: float) -> None:
        """Drop the records of bytes gone for longer than this; no upload can still be that old."""
        before = self._database.now() - timedelta(seconds=older_than_s)
        with self._database.write() as session:
            session.execute(delete(PurgeRow).where(PurgeRow.purged_at < before))


def mark_if_unused(database: Database, session: Session, sha256: str) -> bool:
    """Mark bytes as leaving inside a transaction unless a document has them; tell whether they leave."""
    values = {"sha256": sha256, "marked_at": database.now(), "purged_at": None}
    # The row is locked first, so that an upload of the same bytes waits for the outcome.
    if not database.insert_new(session, PurgeRow, values):
        session.get(PurgeRow, sha256, with_for_update=True)
    if session.scalar(select(exists().where(DocumentRow.sha256 == sha256))):
        session.execute(delete(PurgeRow).where(PurgeRow.sha256 == sha256))
        return False
    session.execute(
        update(PurgeRow).where(PurgeRow.sha256 == sha256).values(marked_at=database.now(), purged_at=None)
    )
    return True


def refuse_leaving_bytes(session: Session, upload: Upload) -> None:
    """Refuse an upload whose bytes were removed after it began to store them.

    Raises:
        BlobLeaving: the bytes have to be stored again.
    """
    purge = session.get(PurgeRow, upload.sha256, with_for_update=True)
    if purge is not None and (purge.purged_at is None or purge.purged_at >= upload.stored_at):
        raise BlobLeaving(retry_after_s=1.0)
