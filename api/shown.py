"""Documents of the ledger as callers see them."""

from __future__ import annotations

from api.schemas.documents import DocumentOut, WaitingOut
from workers.model import ENDED, DocumentRecord, State


def document_out(record: DocumentRecord) -> DocumentOut:
    """Return the public form of a document."""
    return DocumentOut(
        id=record.id,
        kind=record.kind,
        name=record.name,
        media_type=record.media_type,
        size_bytes=record.size_bytes,
        sha256=record.sha256,
        user_id=record.owner.user_id,
        group_id=record.owner.group_id,
        session_id=record.owner.session_id,
        metadata=record.metadata,
        status=record.state,
        running=record.running,
        stage_done=record.done,
        stage_total=record.total or None,
        elements=record.counts.elements,
        episodes=record.counts.episodes,
        facts=record.counts.facts,
        ungrounded_facts=record.counts.ungrounded,
        parent_id=record.parent_id,
        warnings=[warning.model_dump(mode="json") for warning in record.warnings],
        error=error_out(record),
        waiting=waiting_out(record),
        received_at=record.received_at,
        updated_at=record.updated_at,
        finished_at=record.finished_at,
        superseded_by=record.superseded_by,
    )


def error_out(record: DocumentRecord) -> dict[str, str] | None:
    """Return what went wrong; waiting for a limit or a budget is no error."""
    if record.error is None or record.state is State.READY or record.waits_for:
        return None
    return record.error.model_dump()


def waiting_out(record: DocumentRecord) -> WaitingOut | None:
    """Return why a document is put off, or None when it is not."""
    put_off = record.waits_for or (record.retry_at and record.state not in ENDED)
    if not put_off or record.running or record.error is None:
        return None
    return WaitingOut(**record.error.model_dump(), until=record.retry_at)
