"""A document that takes the place of older ones of its name, in one switch.

Until the switch the new one is hidden and the old ones answer. The switch is one transaction of the ledger,
made when every point of the new one stands in the store. Then the points of the old ones are marked as
holding until that moment only; once that is done the marks hide them, and the ledger need not any more. Each
step may be done again, so a worker that dies in between is followed by one that goes on.

Several of one name may be under way at once and end in any order. The one handed in last wins; whoever was
handed in before it stays, as the version of its own time, although it may be read after the switch. So an
older one that is still under way is only marked in the ledger: it tells the store itself when it gets there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from ingest.anchors import Frozen
from workers.errors import StageStopped
from workers.ledger.database import Database
from workers.ledger.leases import let_go
from workers.ledger.lifecycle import descendants, restart, start_deleting
from workers.ledger.tables import DocumentRow
from workers.model import Lease, Stage, State

ENDED_BADLY = (State.FAILED, State.CANCELLED)


class Replaced(Frozen):
    """A document that holds no more: which one took its place, and since when."""

    id: str
    successor: str
    at: datetime


class Switch(Frozen):
    """What the store has to know after a switch.

    Attributes:
        holds_from: the moment from which the document holds; None when it takes nobody's place.
        older: the documents in the store that it replaces.
        replaced: how it has been replaced itself meanwhile, or None.
    """

    holds_from: datetime | None
    older: tuple[Replaced, ...]
    replaced: Replaced | None = None


class Versions:
    """Makes the switches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def switch(self, lease: Lease) -> Switch:
        """Let a document that is in the store take the place of the older ones it is to replace.

        What had failed or was cancelled before it was handed in is removed; it was never seen.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            row = session.get(DocumentRow, lease.document.id, with_for_update=True)
            if row is None or row.lease_token != lease.token:
                raise StageStopped("Another worker has this stage now.")
            if row.replace_same_name:
                for one in older_of(session, row):
                    self._replace(session, one, row)
                row.replace_same_name = False
                row.hidden = row.superseded_by is not None
            older = select(DocumentRow).where(DocumentRow.superseded_by == row.id).order_by(DocumentRow.id)
            rows = session.scalars(older).all()
            ready = [mark for one in rows if one.state == State.READY and (mark := replaced(one))]
            return Switch(
                holds_from=row.received_at if rows else None, older=tuple(ready), replaced=replaced(row)
            )

    def _replace(self, session: Session, older: DocumentRow, newer: DocumentRow) -> None:
        for one in (older, *descendants(session, older)):
            if one.state in ENDED_BADLY and one.finished_at and one.finished_at <= newer.received_at:
                start_deleting(self._database, session, one)
                continue
            marked = one.superseded_by is not None
            one.superseded_by, one.superseded_at, one.hidden = newer.id, newer.received_at, True
            # The store knows a later end of its time and moves no mark: written anew, it gets this one.
            if marked and one.state == State.READY:
                index_again(self._database, session, one)


def replaced(row: DocumentRow) -> Replaced | None:
    """Return how a document was replaced, or None."""
    if row.superseded_by is None or row.superseded_at is None:
        return None
    return Replaced(id=row.id, successor=row.superseded_by, at=row.superseded_at)


def index_again(database: Database, session: Session, row: DocumentRow) -> None:
    """Have a document's points written anew; whoever writes them now is fenced out."""
    let_go(row)
    row.stage = Stage.INDEX.value
    restart(database, session, row)


def _same_name(row: DocumentRow) -> list[ColumnElement[bool]]:
    same = (DocumentRow.tenant, DocumentRow.user_id, DocumentRow.group_id, DocumentRow.session_id)
    owner = (row.tenant, row.user_id, row.group_id, row.session_id)
    return [
        DocumentRow.name == row.name, DocumentRow.kind == row.kind, DocumentRow.id != row.id,
        DocumentRow.parent_id.is_(None),
        *(column.is_not_distinct_from(value) for column, value in zip(same, owner, strict=True)),
    ]  # fmt: skip


def older_of(session: Session, row: DocumentRow) -> Iterator[DocumentRow]:
    """Yield what a document takes the place of: of two of the same moment one is the older all the same."""
    handed_in = DocumentRow.received_at
    earlier = or_(handed_in < row.received_at, and_(handed_in == row.received_at, DocumentRow.id < row.id))
    free = or_(DocumentRow.superseded_by.is_(None), DocumentRow.superseded_at > row.received_at)
    staying = or_(DocumentRow.state != State.DELETING, DocumentRow.restore)
    older = select(DocumentRow).where(*_same_name(row), earlier, free, staying)
    yield from session.scalars(older.order_by(DocumentRow.id).with_for_update()).all()


def waits_to_replace(session: Session, row: DocumentRow) -> bool:
    """Tell whether another document is on its way to take the place of all of this name."""
    query = select(DocumentRow.id).where(
        *_same_name(row), DocumentRow.replace_same_name, DocumentRow.state != State.DELETING
    )
    return session.scalar(query.limit(1)) is not None


def end_switch(session: Session, row: DocumentRow) -> None:
    """Note that the store knows who replaces whom, inside the transaction that makes a document ready."""
    row.hidden = False
    told = update(DocumentRow).where(DocumentRow.superseded_by == row.id, DocumentRow.state == State.READY)
    session.execute(told.values(hidden=False))


def without_successor(database: Database, session: Session, gone: str) -> None:
    """Let those whose successor went before it had told the store tell it themselves."""
    left = select(DocumentRow).where(
        DocumentRow.superseded_by == gone, DocumentRow.hidden, DocumentRow.state == State.READY
    )
    for row in session.scalars(left.order_by(DocumentRow.id).with_for_update()).all():
        index_again(database, session, row)
