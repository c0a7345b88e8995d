"""Batches: what one upload became, file by file."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from workers.errors import NotFound
from workers.ledger.database import Database
from workers.ledger.lifecycle import retry_times
from workers.ledger.records import diagnosis, document_record, set_diagnosis
from workers.ledger.tables import BatchItemRow, BatchRow, DocumentRow
from workers.model import ENDED, BatchFile, BatchStatus, DocumentRecord, ErrorRecord
from workers.texts import storable
from workers.usage import MICRO, Budget


class Batches:
    """The batches of all tenants; every call sees one tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, tenant: str, budget: Budget | None = None) -> str:
        """Open a batch, with a budget of its own if it has one, and return its id."""
        identity = str(uuid.uuid4())
        bound = {} if budget is None else budget_columns(budget)
        with self._database.write() as session:
            session.add(BatchRow(id=identity, tenant=tenant, created_at=self._database.now(), **bound))
        return identity

    def of_documents(self, tenant: str, ids: Sequence[str]) -> str:
        """Open a batch of documents that are there already, and return its id."""
        identity = str(uuid.uuid4())
        query = select(DocumentRow).where(DocumentRow.tenant == tenant, DocumentRow.id.in_(ids))
        with self._database.write() as session:
            session.add(BatchRow(id=identity, tenant=tenant, created_at=self._database.now()))
            session.flush()
            for row in session.scalars(query.order_by(DocumentRow.received_at, DocumentRow.id)):
                add_item(session, identity, tenant, row.name, row.id, None)
        return identity

    def refuse(self, tenant: str, batch_id: str, filename: str, error: ErrorRecord) -> None:
        """List a file that was not accepted, with the reason.

        Raises:
            NotFound: the tenant has no such batch.
        """
        with self._database.write() as session:
            add_item(session, batch_id, tenant, filename, None, None, error)

    def status(self, tenant: str, batch_id: str) -> BatchStatus:
        """Return how far a batch is, with the documents found inside its files.

        Raises:
            NotFound: the tenant has no such batch.
        """
        with self._database.read() as session:
            batch = _owned_batch(session, batch_id, tenant)
            items = list(
                session.scalars(
                    select(BatchItemRow)
                    .where(BatchItemRow.batch_id == batch_id)
                    .order_by(BatchItemRow.position)
                )
            )
            documents = self._family(session, batch_id)
        files = [_file(item, documents.get(item.document_id or "")) for item in items]
        listed = {item.document_id for item in items}
        files += [_inner_file(one) for one in documents.values() if one.id not in listed]
        return _status(batch, tuple(files))

    def wait(
        self, tenant: str, batch_id: str, timeout_s: float, *, poll_s: float = 0.25,
        sleep: Callable[[float], None] = time.sleep,
    ) -> BatchStatus:  # fmt: skip
        """Return the status as soon as the batch is done, or after ``timeout_s`` seconds as it is then.

        Raises:
            NotFound: the tenant has no such batch.
        """
        waited = 0.0
        while not (status := self.status(tenant, batch_id)).done and waited < timeout_s:
            sleep(poll_s)
            waited += poll_s
        return status

    def _family(self, session: Session, batch_id: str) -> dict[str, DocumentRecord]:
        """Return the documents of a batch and all found inside them, oldest first."""
        listed = select(BatchItemRow.document_id).where(BatchItemRow.batch_id == batch_id)
        roots = select(DocumentRow.root_id).where(DocumentRow.id.in_(listed))
        query = (
            select(DocumentRow)
            .where(DocumentRow.root_id.in_(roots))
            .order_by(DocumentRow.received_at, DocumentRow.id)
        )
        now = self._database.now()
        rows = list(session.scalars(query))
        retries = retry_times(session, (row.id for row in rows), now)
        return {row.id: document_record(row, now, retries.get(row.id)) for row in rows}


def budget_columns(budget: Budget) -> dict[str, int]:
    """Return a budget as it is kept."""
    return {"budget_micro": round(budget.price * MICRO), "budget_tokens": budget.tokens}


def add_item(
    session: Session, batch_id: str, tenant: str, filename: str, document_id: str | None,
    duplicate_of: str | None, error: ErrorRecord | None = None,
) -> None:  # fmt: skip
    """List a file in a batch inside a transaction.

    Raises:
        NotFound: the tenant has no such batch.
    """
    _owned_batch(session, batch_id, tenant, lock=True)
    last = session.scalar(select(func.max(BatchItemRow.position)).where(BatchItemRow.batch_id == batch_id))
    item = BatchItemRow(
        batch_id=batch_id,
        position=0 if last is None else last + 1,
        filename=storable(filename, 1024),
        document_id=document_id,
        duplicate_of=duplicate_of,
    )
    set_diagnosis(item, error)
    session.add(item)


def _owned_batch(session: Session, batch_id: str, tenant: str, *, lock: bool = False) -> BatchRow:
    query = select(BatchRow).where(BatchRow.id == batch_id, BatchRow.tenant == tenant)
    batch = session.scalar(query.with_for_update() if lock else query)
    if batch is None:
        raise NotFound("There is no such batch.")
    return batch


def _file(item: BatchItemRow, document: DocumentRecord | None) -> BatchFile:
    return BatchFile(
        filename=item.filename,
        document_id=item.document_id,
        document=document,
        duplicate_of=item.duplicate_of,
        error=diagnosis(item),
    )


def _inner_file(document: DocumentRecord) -> BatchFile:
    return BatchFile(filename=document.name, document_id=document.id, document=document)


def _state(file: BatchFile) -> str:
    if file.document is not None:
        return file.document.state.value
    return "deleted" if file.document_id else "refused"


def _status(batch: BatchRow, files: tuple[BatchFile, ...]) -> BatchStatus:
    documents = {one.document.id: one.document for one in files if one.document}
    unfinished = [one for one in documents.values() if one.state not in ENDED]
    running = sum(one.running for one in unfinished)
    return BatchStatus(
        id=batch.id,
        tenant=batch.tenant,
        created_at=batch.created_at,
        files=files,
        counts=dict(Counter(map(_state, files))),
        waiting=len(unfinished) - running,
        running=running,
        waits_for=dict(Counter(one.waits_for for one in unfinished if one.waits_for)),
        done=not unfinished,
    )
