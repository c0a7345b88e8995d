"""A document that takes the place of older ones of its name, in one switch.

Until the switch the new one is hidden and the old ones answer. The switch is one transaction of the ledger,
made when every point of the new one stands in the store. Then the points of the old ones are marked as
holding until that moment only; once that is done the marks hide them, and the ledger need not any more. Each
step may be done again, so a worker that dies in between is followed by one that goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from ingest.anchors import Frozen
from workers.errors import StageStopped
from workers.ledger.database import Database
from workers.ledger.lifecycle import descendants, start_deleting
from workers.ledger.tables import DocumentRow
from workers.model import Lease, State, Upload
from workers.texts import storable


class Switch(Frozen):
    """What a document takes the place of.

    Attributes:
        at: the moment from which it holds, and the others no more.
        older: ids of the documents it replaces; empty when there are none.
    """

    at: datetime
    older: tuple[str, ...]


class Versions:
    """Makes the switches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def switch(self, lease: Lease) -> Switch:
        """Let a document that is in the store take the place of the older ones it is to replace.

        What is not in memory of the older ones yet is removed; it was never seen.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            row = session.get(DocumentRow, lease.document.id, with_for_update=True)
            if row is None or row.lease_token != lease.token:
                raise StageStopped("Another worker has this stage now.")
            if row.replace_same_name:
                for one in _older(session, row):
                    self._replace(session, one, row)
                row.replace_same_name = row.hidden = False
            older = select(DocumentRow.id).where(DocumentRow.superseded_by == row.id)
            return Switch(at=row.received_at, older=tuple(session.scalars(older.order_by(DocumentRow.id))))

    def _replace(self, session: Session, older: DocumentRow, newer: DocumentRow) -> None:
        for one in (older, *descendants(session, older)):
            if one.state != State.READY:
                start_deleting(self._database, session, one)
            else:
                one.superseded_by, one.superseded_at, one.hidden = newer.id, newer.received_at, True


def _older(session: Session, row: DocumentRow) -> Iterator[DocumentRow]:
    same = (DocumentRow.tenant, DocumentRow.user_id, DocumentRow.group_id, DocumentRow.session_id)
    owner = (row.tenant, row.user_id, row.group_id, row.session_id)
    older = select(DocumentRow).where(
        DocumentRow.name == row.name, DocumentRow.kind == row.kind, DocumentRow.id != row.id,
        DocumentRow.parent_id.is_(None), DocumentRow.superseded_by.is_(None),
        DocumentRow.state != State.DELETING, DocumentRow.received_at <= row.received_at,
        *(column.is_not_distinct_from(value) for column, value in zip(same, owner, strict=True)),
    )  # fmt: skip
    yield from session.scalars(older.order_by(DocumentRow.id).with_for_update()).all()


def end_switch(database: Database, session: Session, row: DocumentRow) -> None:
    """Note that the store knows who replaces whom, inside the transaction that makes a document ready.

    One that turned out to hold nothing of its own never came to a switch; what it was to replace is removed.
    """
    if row.replace_same_name:
        for older in _older(session, row):
            for one in (older, *descendants(session, older)):
                start_deleting(database, session, one)
    row.replace_same_name = row.hidden = False
    session.execute(update(DocumentRow).where(DocumentRow.superseded_by == row.id).values(hidden=False))


def comes_back(session: Session, row: DocumentRow, upload: Upload, now: datetime) -> bool:
    """Prepare a ready document that was handed in again to be read anew, if that has a reason.

    It has when the document was replaced meanwhile, or is to replace others of its name now.
    """
    row.name = storable(upload.name, 1024)
    before, row.received_at = row.received_at, now
    if row.superseded_by is not None:
        row.superseded_by = row.superseded_at = None
        row.replace_same_name = row.hidden = upload.replace_same_name
        return True
    if upload.replace_same_name and next(_older(session, row), None) is not None:
        row.replace_same_name = True
        return True
    row.received_at = before
    return False
