"""What happens to a document's row when its life takes a turn; used inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ingest.ids import PIPELINE_VERSION
from workers.ledger import outbox
from workers.ledger.database import Database
from workers.ledger.message_tables import MessageRow
from workers.ledger.tables import DocumentRow, OutboxRow
from workers.model import WORKING, Kind, Stage, State, Upload
from workers.texts import storable

# Above this, reading all waiting messages is cheaper than naming the documents in the query.
_MANY_IDS = 500


def new_document(
    identity: str, upload: Upload, now: datetime, ancestor: DocumentRow | None, part: str | None
) -> dict[str, object]:
    """Return the column values of a document that waits to be parsed."""
    return {
        "id": identity,
        **upload.owner.model_dump(),
        "name": storable(upload.name, 1024),
        "media_type": storable(upload.media_type, 255),
        "sha256": upload.sha256,
        "size_bytes": upload.size_bytes,
        "uploader": upload.metadata,
        "replace_same_name": upload.replace_same_name,
        # What is found inside a file that was replaced while it was being read is replaced with it.
        "superseded_by": ancestor.superseded_by if ancestor else None,
        "superseded_at": ancestor.superseded_at if ancestor else None,
        "hidden": upload.replace_same_name or bool(ancestor and ancestor.superseded_by),
        "pipeline_version": PIPELINE_VERSION,
        "state": State.QUEUED.value,
        "stage": Stage.PARSE.value,
        "warnings": [],
        "parent_id": ancestor.id if ancestor else None,
        "parent_part": None if part is None else storable(part, 255),
        "root_id": ancestor.root_id if ancestor else identity,
        "depth": ancestor.depth + 1 if ancestor else 0,
        "received_at": now,
        "updated_at": now,
    }


def waiting_state(stage: Stage) -> State:
    """Return the state of a document that waits for a stage."""
    return State.QUEUED if stage is Stage.PARSE else WORKING[stage]


def restart(database: Database, session: Session, row: DocumentRow) -> None:
    """Let a document wait for its stage again, with all its attempts. The diagnosis stays."""
    row.state, row.waits_for = waiting_state(Stage(row.stage)).value, None
    # While a replaced document is read anew, the store does not know everywhere that it is replaced.
    row.hidden = row.hidden or row.superseded_by is not None
    row.attempts = row.deaths = row.done = row.total = 0
    row.finished_at, row.updated_at = None, database.now()
    outbox.put(database, session, row.id, Stage(row.stage), database.now())


def start_deleting(database: Database, session: Session, row: DocumentRow) -> None:
    """Hide a document and ask for its removal.

    The lease of a running stage is left to its holder: the removal begins only when nobody writes any more.
    Messages go at once: what is sent again afterwards is new.
    """
    row.restore = False
    if row.state == State.DELETING:
        return
    if row.kind == Kind.CONVERSATION:
        session.execute(delete(MessageRow).where(MessageRow.document_id == row.id))
    row.state, row.stage, row.waits_for = State.DELETING.value, Stage.DELETE.value, None
    row.attempts = row.deaths = row.done = row.total = 0
    row.finished_at, row.updated_at = None, database.now()
    outbox.clear(session, row.id)
    outbox.put(database, session, row.id, Stage.DELETE, database.now())


def descendants(session: Session, row: DocumentRow) -> Sequence[DocumentRow]:
    """Return what was found inside a document, at any depth, locked in the order of ids."""
    query = select(DocumentRow).where(DocumentRow.root_id == row.root_id, DocumentRow.depth > row.depth)
    rows = list(session.scalars(query.order_by(DocumentRow.id).with_for_update()))
    inside, grown = {row.id}, True
    while grown:
        more = {one.id for one in rows if one.parent_id in inside} - inside
        inside |= more
        grown = bool(more)
    return [one for one in rows if one.id in inside]


def retry_times(session: Session, ids: Iterable[str], now: datetime) -> dict[str, datetime]:
    """Return when those of the documents that are put off are tried again."""
    query = select(OutboxRow.document_id, OutboxRow.available_at).where(OutboxRow.available_at > now)
    wanted = set(ids)
    if len(wanted) <= _MANY_IDS:
        query = query.where(OutboxRow.document_id.in_(wanted))
    return {document: at for document, at in session.execute(query) if document in wanted}
