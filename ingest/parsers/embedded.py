"""Files embedded in Office documents, handed over as attachments."""

from __future__ import annotations

import io
import mimetypes
import posixpath
import struct
from collections.abc import Iterator
from typing import NamedTuple

import olefile

from ingest.context import ParseContext
from ingest.errors import IngestError
from ingest.parsers.ole_writer import compound_file
from ingest.parsers.opc import Package

# The stream that tells which program an embedded OLE object belongs to.
_PROGRAMS = (
    ("WordDocument", ".doc"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),
    ("PowerPoint Document", ".ppt"),
)
# What tells the type of a wrapped file: its first bytes, or a name in an archive.
_MARKS = (
    (b"%PDF", ".pdf"), (b"word/document", ".docx"), (b"xl/workbook", ".xlsx"), (b"ppt/presentation", ".pptx"),
    (b"PK\x03\x04", ".zip"),
)  # fmt: skip
_ENDS = 65_536
_MEDIA_TYPES = {
    ".doc": "application/msword",
    ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


class EmbeddedFile(NamedTuple):
    """A file found inside another."""

    name: str
    data: bytes


def media_type_of(name: str) -> str:
    """Return the likely media type of a file name; detection decides later."""
    suffix = posixpath.splitext(name)[1].lower()
    return _MEDIA_TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def attach_embedded(context: ParseContext, package: Package, *parts: str) -> None:
    """Attach the files the given parts embed, each once.

    Charts are left alone: the workbook behind a chart repeats the values the chart shows.
    """
    done: set[str] = set()
    for part in parts:
        for kind in ("package", "oleObject"):
            for target in package.related(part, kind):
                if target not in done:
                    done.add(target)
                    _attach(context, package, target)


def _attach(context: ParseContext, package: Package, target: str) -> None:
    try:
        data = package.read(target)
    except IngestError as error:
        context.warn("attachment_unreadable", f"{posixpath.basename(target)}: {error.detail}")
        return
    for file in unpack_object(posixpath.basename(target), data):
        context.attach(file.name, media_type_of(file.name), file.data, target)


def unpack_object(name: str, data: bytes) -> Iterator[EmbeddedFile]:
    """Yield the file inside an embedded object: the object itself, or what its OLE wrapper holds."""
    if not data.startswith(olefile.MAGIC):
        yield EmbeddedFile(name, data)
        return
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            yield from _unpack_ole(posixpath.splitext(name)[0], data, ole)
    except (OSError, struct.error, IndexError):
        return


def _unpack_ole(stem: str, data: bytes, ole: olefile.OleFileIO) -> Iterator[EmbeddedFile]:
    for stream, suffix in _PROGRAMS:
        if ole.exists(stream):
            yield EmbeddedFile(stem + suffix, data)
            return
    yield from _wrapped(ole, [], stem)


def _wrapped(ole: olefile.OleFileIO, storage: list[str], stem: str) -> Iterator[EmbeddedFile]:
    """Yield the file that a storage wraps in a stream; pictures and formulas are no files."""
    if ole.exists([*storage, "\x01Ole10Native"]):
        native = read_native(ole.openstream([*storage, "\x01Ole10Native"]).read())
        if native:
            yield native
        return
    for stream in ("Package", "CONTENTS"):
        if ole.exists([*storage, stream]):
            content = ole.openstream([*storage, stream]).read()
            ends = content[:_ENDS] + content[-_ENDS:]
            suffix = next((suffix for mark, suffix in _MARKS if mark in ends), None)
            if suffix:
                yield EmbeddedFile(stem + suffix, content)


def attach_storages(context: ParseContext, ole: olefile.OleFileIO) -> None:
    """Attach the files embedded in a binary Office document, which stand in storages of their own."""
    for storage in ole.listdir(streams=False, storages=True):
        try:
            for file in _stored(ole, storage):
                context.attach(file.name, media_type_of(file.name), file.data, "/".join(storage))
        except (OSError, struct.error, IndexError, ValueError) as error:
            context.warn("attachment_unreadable", f"The embedded file {storage[-1]} is damaged: {error}")


def _stored(ole: olefile.OleFileIO, storage: list[str]) -> Iterator[EmbeddedFile]:
    for stream, suffix in _PROGRAMS:
        if ole.exists([*storage, stream]):
            entries = [path for path in ole.listdir() if path[:-1] == storage]
            streams = {path[-1]: ole.openstream(path).read() for path in entries}
            yield EmbeddedFile(storage[-1] + suffix, compound_file(streams))
            return
    yield from _wrapped(ole, storage, storage[-1])


def read_native(stream: bytes) -> EmbeddedFile | None:
    """Return the file in an OLE "native" stream ([MS-OLEDS] 2.3.6), None where it holds none."""
    try:
        label_end = stream.index(b"\0", 6)
        path_end = stream.index(b"\0", label_end + 1)
        (skipped,) = struct.unpack_from("<I", stream, path_end + 5)
        at = path_end + 9 + skipped
        (size,) = struct.unpack_from("<I", stream, at)
    except (ValueError, struct.error):
        return None
    label = stream[6:label_end].decode("cp1252", "replace")
    name = label.replace("\\", "/").rpartition("/")[2] or "object.bin"
    return EmbeddedFile(name, stream[at + 4 : at + 4 + size])
