"""What belongs to PowerPoint 97 slides beside their shapes: comments, footers, embedded files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from datetime import datetime

from pydantic import JsonValue

from ingest.context import ParseContext
from ingest.model import ElementKind
from ingest.parsers.embedded import media_type_of, unpack_object
from ingest.parsers.ppt_records import (
    COMMENT,
    COMMENT_ATOM,
    MARGIN_FLAGS,
    MARGINS,
    OLE_OBJECT,
    PROGRAM_DATA,
    PROGRAM_TAG,
    SLIDE_SHOW_INFO,
    PptRecord,
    child,
    children,
    content,
    descend,
    string_of,
)
from ingest.parsers.ppt_show import Show

_USER_DATE, _HEADER, _FOOTER = 0, 1, 2
# The flag that shows each of them; the text may be there although it is switched off.
_SHOWN = {_USER_DATE: 0x04, _HEADER: 0x10, _FOOTER: 0x20}
_HIDDEN = 0x04


def is_hidden(stream: bytes, slide: PptRecord) -> bool:
    """Return whether the show skips a slide."""
    info = child(stream, slide, SLIDE_SHOW_INFO)
    data = content(stream, info) if info else b""
    return len(data) >= 12 and bool(struct.unpack_from("<H", data, 10)[0] & _HIDDEN)


def read_comments(stream: bytes, slide: PptRecord) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Yield the comments of a slide: text, and author and date as metadata."""
    for program in descend(stream, slide, PROGRAM_TAG):
        data = child(stream, program, PROGRAM_DATA)
        for record in children(stream, data) if data else ():
            text = string_of(stream, record, 1) if record.kind == COMMENT else ""
            if text:
                yield text.replace("\r", "\n"), _comment_marks(stream, record)


def _comment_marks(stream: bytes, record: PptRecord) -> dict[str, JsonValue]:
    marks: dict[str, JsonValue] = {}
    author = string_of(stream, record, 0)
    if author:
        marks["author"] = author
    atom = child(stream, record, COMMENT_ATOM)
    data = content(stream, atom) if atom else b""
    if len(data) >= 20:
        year, month, _, day, hour, minute, second, _ = struct.unpack_from("<8H", data, 4)
        try:
            marks["date"] = datetime(year, month, day, hour, minute, second).isoformat()
        except ValueError:
            return marks
    return marks


def read_margins(stream: bytes, holder: PptRecord) -> Iterator[tuple[ElementKind, str]]:
    """Yield the headers, footers and fixed dates that are switched on."""
    for record in children(stream, holder):
        if record.kind != MARGINS:
            continue
        flags = child(stream, record, MARGIN_FLAGS)
        data = content(stream, flags)[2:4] if flags else b""
        for which, flag in _SHOWN.items():
            text = string_of(stream, record, which)
            if text and int.from_bytes(data, "little") & flag:
                yield ElementKind.HEADER if which == _HEADER else ElementKind.FOOTER, text


def attach_objects(context: ParseContext, show: Show) -> None:
    """Attach the files embedded in a presentation."""
    stream = show.stream
    found = [
        record
        for record in children(stream, PptRecord(0, 0, 0, len(stream), True))
        if record.kind == OLE_OBJECT
    ]
    for at, record in enumerate(found, start=1):
        data = content(stream, record)
        if record.instance == 1:
            data = _inflate(data, context)
        for file in unpack_object(f"object{at}.bin", data):
            context.attach(file.name, media_type_of(file.name), file.data, f"object {at}")


def _inflate(data: bytes, context: ParseContext) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        return unpacker.decompress(data[4:], context.limits.max_unpacked_bytes)
    except zlib.error:
        context.warn("attachment_unreadable", "An embedded file is damaged and was left out.")
        return b""
