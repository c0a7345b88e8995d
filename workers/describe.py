"""From what a file and its sender say to the ``Document`` the later stages work with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from ingest.model import Document, DocumentMeta, ParseWarning, Source
from ingest.outcome import ParseOutcome
from workers.model import DocumentRecord

# What a sender may say of a file in its metadata; it counts more than what the file says of itself.
_TOLD = ("title", "authors", "participants", "occurred_at", "language")


def describe(record: DocumentRecord, outcome: ParseOutcome, parent: Document | None = None) -> Document:
    """Put a document together.

    The sender's metadata is kept whole under ``extra["uploader"]``. A file that has no date of its own and
    was found inside another one speaks from the date of that one.
    """
    meta, warnings = _told(outcome.metadata, record)
    if meta.occurred_at is None and parent is not None:
        meta = meta.model_copy(update={"occurred_at": parent.metadata.occurred_at})
    return Document(
        id=record.id,
        owner=record.owner,
        source=Source(
            name=record.name,
            media_type=outcome.media_type,
            sha256=record.sha256,
            size_bytes=record.size_bytes,
        ),
        received_at=record.received_at,
        metadata=meta,
        element_count=outcome.element_count,
        children=outcome.children,
        parent_id=record.parent_id,
        warnings=(*outcome.warnings, *warnings),
    )


def merge_warnings(known: Sequence[ParseWarning], new: Sequence[ParseWarning]) -> list[ParseWarning]:
    """Return the warnings of a document after a stage that gave new ones; a run again replaces its own."""
    codes = {warning.code for warning in new}
    return [*(warning for warning in known if warning.code not in codes), *new]


def _told(meta: DocumentMeta, record: DocumentRecord) -> tuple[DocumentMeta, list[ParseWarning]]:
    warnings = []
    for name in _TOLD:
        if name not in record.metadata:
            continue
        try:
            meta = DocumentMeta.model_validate({**meta.model_dump(), name: record.metadata[name]})
        except ValidationError:
            warnings.append(
                ParseWarning(code="metadata_ignored", detail=f"The given {name} could not be understood.")
            )
    if record.metadata:
        meta = meta.model_copy(update={"extra": {**meta.extra, "uploader": record.metadata}})
    return meta.model_copy(update={"occurred_at": _aware(meta.occurred_at)}), warnings


def _aware(moment: datetime | None) -> datetime | None:
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=UTC)
