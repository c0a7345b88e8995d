"""Files found inside a file become documents of their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from ingest.errors import IngestError
from ingest.model import ChildFile, Document, ParseWarning
from workers.errors import BlobLeaving
from workers.model import DocumentRecord, Upload
from workers.services import Services

_STORE_TRIES = 10


def accept_children(
    services: Services, record: DocumentRecord, document: Document, folder: Path
) -> list[ParseWarning]:
    """Store and record the files found inside a document; return what has to be said of those left out.

    They belong to the same owner, carry the sender's metadata, and count towards the same batches.

    Args:
        services: the parts.
        record: the document they were found in.
        document: what was read of it, with the list of files.
        folder: where the files lie.

    Raises:
        StageStopped: the document is being cancelled or deleted.
    """
    if not document.children:
        return []
    limits = services.settings.parse
    if record.depth >= limits.max_depth:
        detail = (
            f"{len(document.children)} files inside were not read: PARSE_MAX_DEPTH is {limits.max_depth}."
        )
        return [ParseWarning(code="too_deep", detail=detail)]
    # Archives in archives multiply: what one file may become is bounded as a whole.
    room = limits.max_family - services.ledger.documents.family_size(record.owner.tenant, record.root_id)
    left_out: list[ParseWarning] = []
    for number, child in enumerate(document.children):
        if number >= room:
            left = len(document.children) - number
            detail = f"{left} files inside were not read: PARSE_MAX_FAMILY is {limits.max_family}."
            return [*left_out, ParseWarning(code="too_many", detail=detail)]
        try:
            _accept(services, record, child, folder / child.stored_as)
        except IngestError as error:
            left_out.append(ParseWarning(code=error.code, detail=f"{child.name}: {error.detail}"))
    return left_out


def _accept(services: Services, record: DocumentRecord, child: ChildFile, path: Path) -> None:
    for _ in range(_STORE_TRIES):
        stored_at = datetime.now(UTC)
        with path.open("rb") as stream:
            blob = services.blobs.put(stream, services.settings.parse.max_file_bytes)
        upload = Upload(
            owner=record.owner,
            name=child.name[:1024] or f"part {child.part}",
            media_type=child.media_type,
            sha256=blob.sha256,
            size_bytes=blob.size_bytes,
            metadata={key: value for key, value in record.metadata.items() if key != "title"},
            stored_at=stored_at,
        )
        try:
            services.ledger.documents.accept(upload, parent=(record.id, child.part))
            return
        except BlobLeaving as error:
            time.sleep(error.retry_after_s or 1.0)
    raise BlobLeaving(retry_after_s=30)
