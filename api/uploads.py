"""From the parts of a multipart request to documents: stored, recorded, told to the queue."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import IO, BinaryIO, NamedTuple, cast

from pydantic import JsonValue
from werkzeug.datastructures import FileStorage

from api.schemas.documents import AcceptedDocument
from ingest.errors import CorruptFile, EmptyFile, EncryptedFile, FileTooLarge, StrataError
from ingest.limits import ParseLimits
from ingest.model import Owner
from ingest.names import is_litter, safe_name
from workers.errors import BlobLeaving
from workers.model import Accepted, ErrorRecord, Upload
from workers.services import Services

_STORE_TRIES = 5


class Incoming(NamedTuple):
    """One file of a request: its name and its bytes, or why it cannot be taken."""

    name: str
    media_type: str
    stream: IO[bytes] | None
    refused: StrataError | None = None


class Intake(NamedTuple):
    """Where the files of a request go."""

    services: Services
    owner: Owner
    batch_id: str
    metadata: dict[str, JsonValue]
    max_bytes: int
    replace: bool = False


def incoming(files: list[FileStorage], limits: ParseLimits) -> Iterator[Incoming]:
    """Yield every file of a request; a file named ``.zip`` is opened and its members take its place."""
    for file in files:
        name = safe_name(file.filename)
        if name.lower().endswith(".zip"):
            yield from _members(name, file.stream, limits)
        else:
            yield Incoming(name, file.mimetype or "application/octet-stream", file.stream)


def _members(name: str, stream: IO[bytes], limits: ParseLimits) -> Iterator[Incoming]:
    try:
        archive = zipfile.ZipFile(stream)
    except zipfile.BadZipFile:
        yield Incoming(name, "application/zip", None, CorruptFile(f"{name} is not a readable zip archive."))
        return
    with closing(archive):
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        total = sum(entry.file_size for entry in entries)
        packed = max(1, sum(entry.compress_size for entry in entries))
        if len(entries) > limits.max_members or total > limits.max_unpacked_bytes:
            bound = f"{limits.max_members} files or {limits.max_unpacked_bytes} bytes"
            yield Incoming(name, "application/zip", None, FileTooLarge(f"{name} holds more than {bound}."))
            return
        if total / packed > limits.max_unpack_ratio:
            grows = FileTooLarge(f"{name} unpacks to far more than its size.")
            yield Incoming(name, "application/zip", None, grows)
            return
        if not entries:
            yield Incoming(name, "application/zip", None, EmptyFile(f"{name} holds no files."))
        for entry in entries:
            yield from _member(archive, entry)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[Incoming]:
    name = safe_name(entry.filename)
    if is_litter(name):
        return
    if entry.flag_bits & 0x1:
        locked = EncryptedFile(f"{name} is protected by a password.")
        yield Incoming(name, "application/octet-stream", None, locked)
        return
    try:
        with archive.open(entry) as stream:
            yield Incoming(name, "application/octet-stream", stream)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        # NotImplementedError: unknown compression.
        refused = CorruptFile(f"{name} cannot be unpacked: {error}.")
        yield Incoming(name, "application/octet-stream", None, refused)


def _store(intake: Intake, one: Incoming) -> Accepted:
    assert one.stream is not None
    stream = cast(BinaryIO, one.stream)
    for last in (False,) * (_STORE_TRIES - 1) + (True,):
        stored_at = datetime.now(UTC)
        blob = intake.services.blobs.put(stream, intake.max_bytes)
        upload = Upload(
            owner=intake.owner, name=one.name, media_type=one.media_type, sha256=blob.sha256,
            size_bytes=blob.size_bytes, metadata=intake.metadata, stored_at=stored_at,
            replace_same_name=intake.replace,
        )  # fmt: skip
        try:
            return intake.services.ledger.documents.accept(upload, batch_id=intake.batch_id)
        except BlobLeaving:
            # Equal bytes are being removed at this moment: store them anew.
            if last or not stream.seekable():
                raise
            stream.seek(0)
    raise AssertionError("unreachable")


def take(intake: Intake, one: Incoming) -> AcceptedDocument:
    """Make a document of one file; a file that cannot be taken is listed with its reason."""
    if one.refused is not None:
        return _refuse(intake, one.name, one.refused)
    try:
        accepted = _store(intake, one)
    except (FileTooLarge, EmptyFile, CorruptFile) as error:
        return _refuse(intake, one.name, error)
    except (zipfile.BadZipFile, EOFError) as error:
        return _refuse(intake, one.name, CorruptFile(f"{one.name} cannot be unpacked: {error}."))
    document = accepted.document
    return AcceptedDocument(
        document_id=document.id,
        filename=one.name,
        status=document.state,
        duplicate_of=accepted.duplicate_of,
    )


def _refuse(intake: Intake, name: str, error: StrataError) -> AcceptedDocument:
    record = ErrorRecord.of(error)
    intake.services.ledger.batches.refuse(intake.owner.tenant, intake.batch_id, name, record)
    return AcceptedDocument(
        document_id=None, filename=name, status="refused",
        code=record.code, detail=record.detail, next_step=record.next_step,
    )  # fmt: skip
