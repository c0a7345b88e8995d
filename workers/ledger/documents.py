"""Documents as their owners see them: accept, find, list, cancel, run again, delete."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select, union
from sqlalchemy.orm import Session

from ingest.ids import document_id
from workers.errors import NotFound, StageStopped, StateConflict
from workers.ledger import outbox
from workers.ledger.batches import add_item
from workers.ledger.database import Database
from workers.ledger.lifecycle import descendants, new_document, restart, retry_times, start_deleting
from workers.ledger.message_tables import StretchRow
from workers.ledger.purges import refuse_leaving_bytes
from workers.ledger.records import document_record
from workers.ledger.returns import handed_in_again
from workers.ledger.tables import DocumentRow
from workers.model import ENDED, Accepted, DocumentRecord, Kind, Stage, State, Upload

# Every search asks this; putting the question together took longer than the answer.
_HIDDEN = union(
    select(DocumentRow.id).where(
        DocumentRow.tenant == bindparam("tenant"), DocumentRow.state == State.DELETING
    ),
    select(DocumentRow.id).where(DocumentRow.tenant == bindparam("tenant"), DocumentRow.hidden.is_(True)),
    select(StretchRow.document_id).where(
        StretchRow.tenant == bindparam("tenant"), StretchRow.pending, StretchRow.withdrawn
    ),
)


class Documents:
    """The documents of all tenants; every call sees one tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def accept(
        self, upload: Upload, *, batch_id: str | None = None, parent: tuple[str, str] | None = None
    ) -> Accepted:
        """Record stored bytes as a document to be read, with its first message, in one transaction.

        The same owner and bytes are the same document: one that is ready or under way is left as it is,
        one that failed or was cancelled runs again, one that is being deleted comes back afterwards.

        Args:
            upload: the bytes and their owner.
            batch_id: the batch to list it in.
            parent: (document id, part) when the bytes were found inside another document.

        Raises:
            BlobLeaving: equal bytes were removed since ``stored_at``; store them and accept again.
            NotFound: the batch or the parent is not there.
            StageStopped: the parent is cancelled or being deleted.
        """
        with self._database.write() as session:
            refuse_leaving_bytes(session, upload)
            ancestor = self._ancestor(session, upload.owner.tenant, parent)
            row, created = self._find_or_insert(session, upload, ancestor, parent)
            if created:
                outbox.put(self._database, session, row.id, Stage.PARSE, self._database.now())
            again = not created and handed_in_again(self._database, session, row, upload, ancestor)
            duplicate_of = None if created or again else row.id
            if batch_id is not None:
                add_item(session, batch_id, upload.owner.tenant, upload.name, row.id, duplicate_of)
            return Accepted(document=self._record(session, row), duplicate_of=duplicate_of, requeued=again)

    def get(self, tenant: str, identity: str) -> DocumentRecord:
        """Return a document.

        Raises:
            NotFound: the tenant has no such document.
        """
        with self._database.read() as session:
            return self._record(session, self._owned(session, tenant, identity, lock=False))

    def children(self, tenant: str, identity: str) -> list[DocumentRecord]:
        """Return the documents found directly inside a document, in the order of their parts."""
        query = (
            select(DocumentRow)
            .where(DocumentRow.tenant == tenant, DocumentRow.parent_id == identity)
            .order_by(DocumentRow.parent_part, DocumentRow.id)
        )
        with self._database.read() as session:
            return [self._record(session, row) for row in session.scalars(query)]

    def family_size(self, tenant: str, root: str) -> int:
        """Return how many documents came of a handed-in file, that file included."""
        query = select(func.count()).where(DocumentRow.tenant == tenant, DocumentRow.root_id == root)
        with self._database.read() as session:
            return session.scalar(query) or 0

    def hidden_ids(self, tenant: str) -> list[str]:
        """Return the ids of documents whose memories must not be shown any more.

        They are being deleted, hold messages that were taken out since they were indexed, or a newer version
        is taking, or has just taken, the place of an older one.
        """
        with self._database.read() as session:
            return list(session.scalars(_HIDDEN, {"tenant": tenant}))

    def cancel(self, tenant: str, identity: str) -> DocumentRecord:
        """Stop work on a document and on what was found inside it.

        A worker that is on it notices within seconds. Ended documents stay as they are.

        Raises:
            NotFound: the tenant has no such document.
            StateConflict: it has ended, or is being deleted.
        """
        with self._database.write() as session:
            row = self._owned(session, tenant, identity)
            family = [row, *descendants(session, row)]
            open_rows = [one for one in family if State(one.state) not in ENDED | {State.DELETING}]
            if not open_rows:
                raise StateConflict(f"The document is {row.state}; there is nothing to cancel.")
            for one in open_rows:
                one.state = State.CANCELLED
                one.finished_at = one.updated_at = self._database.now()
                outbox.clear(session, one.id)
            return self._record(session, row)

    def requeue(self, tenant: str, identity: str, *, from_start: bool = False) -> DocumentRecord:
        """Run a failed or cancelled document again, from the stage at which it ended.

        What was already extracted is kept and not paid for twice; the old diagnosis stays until a stage
        succeeds.

        Args:
            tenant: the tenant.
            identity: the document.
            from_start: read the file anew; allowed for a ready document too.

        Raises:
            NotFound: the tenant has no such document.
            StateConflict: it is under way, being deleted, or ready.
        """
        allowed = {State.FAILED, State.CANCELLED} | ({State.READY} if from_start else set())
        with self._database.write() as session:
            row = self._owned(session, tenant, identity)
            if row.state not in allowed:
                raise StateConflict(f"The document is {row.state} and cannot be run again now.")
            if from_start:
                row.stage = Stage.PARSE
            restart(self._database, session, row)
            return self._record(session, row)

    def mark_deleting(self, tenant: str, identity: str) -> list[str]:
        """Hide a document and all that was found inside it at once, and ask for its removal.

        Allowed in every state.

        Returns:
            The ids of the documents that are going, the asked one first.

        Raises:
            NotFound: the tenant has no such document.
        """
        with self._database.write() as session:
            row = self._owned(session, tenant, identity)
            family = [row, *descendants(session, row)]
            for one in family:
                start_deleting(self._database, session, one)
            return [one.id for one in family]

    def mark_all_deleting(
        self, tenant: str, *, user_id: str | None = None, group_id: str | None = None,
        session_id: str | None = None, kind: Kind | None = None,
    ) -> list[str]:  # fmt: skip
        """Mark every document of an owner as going; what is not named is not narrowed by.

        Returns:
            The ids of the documents that are going.
        """
        wanted = {"user_id": user_id, "group_id": group_id, "session_id": session_id, "kind": kind}
        query = (
            select(DocumentRow)
            .where(DocumentRow.tenant == tenant)
            .where(
                *(getattr(DocumentRow, key) == value for key, value in wanted.items() if value is not None)
            )
            .order_by(DocumentRow.id)
            .with_for_update()
        )
        with self._database.write() as session:
            rows = list(session.scalars(query))
            for row in rows:
                start_deleting(self._database, session, row)
            return [row.id for row in rows]

    def _ancestor(self, session: Session, tenant: str, parent: tuple[str, str] | None) -> DocumentRow | None:
        ancestor = self._owned(session, tenant, parent[0]) if parent else None
        if ancestor is not None and ancestor.state in (State.CANCELLED, State.DELETING):
            raise StageStopped(f"The document around it is {ancestor.state}.")
        return ancestor

    def _find_or_insert(
        self, session: Session, upload: Upload, ancestor: DocumentRow | None, parent: tuple[str, str] | None
    ) -> tuple[DocumentRow, bool]:
        identity = document_id(upload.owner, upload.sha256, parent=parent)
        values = new_document(identity, upload, self._database.now(), ancestor, parent[1] if parent else None)
        while True:
            created = self._database.insert_new(session, DocumentRow, values)
            row = session.get(DocumentRow, identity, with_for_update=True)
            # None: it was there and its removal was completed in between.
            if row is not None:
                return row, created

    def _owned(self, session: Session, tenant: str, identity: str, *, lock: bool = True) -> DocumentRow:
        query = select(DocumentRow).where(DocumentRow.id == identity, DocumentRow.tenant == tenant)
        row = session.scalar(query.with_for_update() if lock else query)
        if row is None:
            raise NotFound("There is no such document.")
        return row

    def _record(self, session: Session, row: DocumentRow) -> DocumentRecord:
        session.flush()
        now = self._database.now()
        return document_record(row, now, retry_times(session, [row.id], now).get(row.id))
