"""Bytes that are handed in once more: what becomes of the document they are already."""

from __future__ import annotations

from sqlalchemy.orm import Session

from workers.ledger.database import Database
from workers.ledger.lifecycle import restart
from workers.ledger.tables import DocumentRow
from workers.ledger.versions import ENDED_BADLY, index_again, older_of, waits_to_replace
from workers.model import Stage, State, Upload
from workers.texts import storable


def handed_in_again(
    database: Database, session: Session, row: DocumentRow, upload: Upload, ancestor: DocumentRow | None
) -> bool:
    """Run a document again if that has a reason; tell whether it will.

    The reasons: its life did not end well, it was replaced meanwhile, or it is to replace others of its name
    now. Whoever was handed in last is the newest of a name, so a document that waits for nothing new may
    still get a new time: one that is on its way to replace it then leaves it be.

    Args:
        database: the clock and the queue.
        session: the transaction.
        row: the document, locked.
        upload: what was handed in.
        ancestor: the document the bytes were found in; when that was replaced, so is what it holds.
    """
    shade = (None, None) if ancestor is None else (ancestor.superseded_by, ancestor.superseded_at)
    moved = row.superseded_by != shade[0]
    row.superseded_by, row.superseded_at = shade
    if row.state == State.READY:
        return _ready(database, session, row, upload, moved)
    if row.state in (*ENDED_BADLY, State.DELETING):
        _begin_anew(database, row, upload)
        if row.state == State.DELETING:
            row.restore = True
        else:
            restart(database, session, row)
        return True
    if moved or upload.replace_same_name or waits_to_replace(session, row):
        row.received_at = database.now()
    row.replace_same_name = row.replace_same_name or upload.replace_same_name
    if not moved:
        return False
    row.hidden = row.replace_same_name or row.superseded_by is not None
    # Points that are in the store may be marked as replaced there.
    if row.state == State.INDEXING:
        index_again(database, session, row)
    return True


def _ready(database: Database, session: Session, row: DocumentRow, upload: Upload, moved: bool) -> bool:
    if moved:
        _begin_anew(database, row, upload)
    else:
        before, name = row.received_at, row.name
        row.received_at, row.name = database.now(), storable(upload.name, 1024)
        replaces = upload.replace_same_name and next(older_of(session, row), None) is not None
        if not replaces:
            # It keeps the name under which its facts are found; another one would need it to be read again.
            row.name = name
            row.received_at = row.received_at if waits_to_replace(session, row) else before
            return False
        row.replace_same_name, row.uploader = True, upload.metadata
    row.stage = Stage.PARSE
    restart(database, session, row)
    return True


def _begin_anew(database: Database, row: DocumentRow, upload: Upload) -> None:
    row.name, row.uploader, row.received_at = storable(upload.name, 1024), upload.metadata, database.now()
    row.replace_same_name = upload.replace_same_name
    row.hidden = upload.replace_same_name or row.superseded_by is not None
