"""Rows of the ledger as frozen values."""

from __future__ import annotations

from datetime import datetime

from ingest.model import Owner, ParseWarning
from workers.ledger.tables import BatchItemRow, DocumentRow, OutboxRow
from workers.model import (
    ENDED,
    Counts,
    DocumentRecord,
    ErrorRecord,
    Kind,
    OutboxEntry,
    Stage,
    State,
)
from workers.texts import storable


def diagnosis(row: DocumentRow | BatchItemRow) -> ErrorRecord | None:
    """Return the error a row holds."""
    if row.error_code is None:
        return None
    return ErrorRecord(
        code=row.error_code, detail=row.error_detail or "", next_step=row.error_next_step or ""
    )


def set_diagnosis(row: DocumentRow | BatchItemRow, error: ErrorRecord | None) -> None:
    """Put an error into a row, or take it out."""
    row.error_code = error.code if error else None
    row.error_detail = storable(error.detail, 4000) if error else None
    row.error_next_step = storable(error.next_step, 4000) if error else None


def document_record(row: DocumentRow, now: datetime, retry_at: datetime | None = None) -> DocumentRecord:
    """Return a document's row as it is shown at a moment."""
    leased = is_leased(row, now)
    return DocumentRecord(
        id=row.id,
        kind=Kind(row.kind),
        owner=Owner(tenant=row.tenant, user_id=row.user_id, group_id=row.group_id, session_id=row.session_id),
        name=row.name,
        media_type=row.media_type,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        metadata=row.uploader,
        state=State(row.state),
        running=leased,
        waits_for=None if leased or State(row.state) in ENDED else row.waits_for,
        done=row.done,
        total=row.total,
        attempts=row.attempts,
        retry_at=retry_at,
        error=diagnosis(row),
        warnings=tuple(ParseWarning.model_validate(warning) for warning in row.warnings),
        counts=Counts(
            elements=row.elements, episodes=row.episodes, facts=row.facts, ungrounded=row.ungrounded
        ),
        parent_id=row.parent_id,
        parent_part=row.parent_part,
        root_id=row.root_id,
        depth=row.depth,
        received_at=row.received_at,
        updated_at=row.updated_at,
        finished_at=row.finished_at,
        superseded_by=row.superseded_by,
        superseded_at=row.superseded_at,
        pipeline_version=row.pipeline_version,
    )


def is_leased(row: DocumentRow, now: datetime) -> bool:
    """Tell whether a worker holds the document at this moment."""
    return row.lease_token is not None and row.lease_until is not None and row.lease_until > now


def outbox_entry(row: OutboxRow) -> OutboxEntry:
    """Return an outbox row as a value."""
    return OutboxEntry(
        id=row.id,
        document_id=row.document_id,
        stage=Stage(row.stage),
        available_at=row.available_at,
        sent_at=row.sent_at,
    )
