"""Records of the PowerPoint 97 to 2003 format ([MS-PPT] 2.3.1): a tree of containers and atoms."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = 8
_MAX_DEPTH = 40

DOCUMENT, SLIDE, SLIDE_ATOM, NOTES, MASTER = 0x03E8, 0x03EE, 0x03EF, 0x03F0, 0x03F8
SLIDE_SHOW_INFO, SLIDE_PLACE, SLIDE_LIST, DRAWING = 0x03F9, 0x03F3, 0x0FF0, 0x040C
TEXT_HEADER, TEXT_WIDE, TEXT_NARROW, TEXT_STYLE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FA1
OUTLINE_REFERENCE, STRING, PLACEHOLDER, MARGINS, MARGIN_FLAGS = 0x0F9E, 0x0FBA, 0x0BC3, 0x0FD9, 0x0FDA
USER_EDIT, DIRECTORY, ENCRYPTION, OLE_OBJECT = 0x0FF5, 0x1772, 0x2F14, 0x1011
PROGRAM_TAG, PROGRAM_DATA, COMMENT, COMMENT_ATOM = 0x138A, 0x138B, 0x2EE0, 0x2EE1
GROUP, SHAPE, SHAPE_TEXT, SHAPE_DATA, CHILD_ANCHOR = 0xF003, 0xF004, 0xF00D, 0xF011, 0xF00F
PROPERTIES, MORE_PROPERTIES = 0xF00B, 0xF122


class PptRecord(NamedTuple):
    """A record: its kind, its instance number, and where its content lies in the stream."""

    kind: int
    instance: int
    start: int
    end: int
    is_container: bool


def record_at(stream: bytes, at: int, end: int | None = None) -> PptRecord | None:
    """Return the record at an offset, None where there is no room for one; content is cut at ``end``."""
    end = len(stream) if end is None else end
    if at < 0 or at + _HEADER > end:
        return None
    first, kind, size = struct.unpack_from("<HHI", stream, at)
    start = at + _HEADER
    return PptRecord(kind, first >> 4, start, min(start + size, end), first & 0xF == 0xF)


def children(stream: bytes, parent: PptRecord) -> Iterator[PptRecord]:
    """Yield the records inside a container."""
    at = parent.start
    while (record := record_at(stream, at, parent.end)) is not None:
        yield record
        at = record.end


def descend(stream: bytes, parent: PptRecord, *kinds: int, depth: int = 0) -> Iterator[PptRecord]:
    """Yield the records of some kinds anywhere below a container, in order, without looking inside them."""
    for record in children(stream, parent):
        if record.kind in kinds:
            yield record
        elif record.is_container and depth < _MAX_DEPTH:
            yield from descend(stream, record, *kinds, depth=depth + 1)


def child(stream: bytes, parent: PptRecord, kind: int, instance: int | None = None) -> PptRecord | None:
    """Return the first direct child of a kind."""
    found = (one for one in children(stream, parent) if one.kind == kind)
    return next((one for one in found if instance is None or one.instance == instance), None)


def content(stream: bytes, record: PptRecord) -> bytes:
    """Return the content of an atom."""
    return stream[record.start : record.end]


def number(stream: bytes, record: PptRecord | None, offset: int = 0) -> int:
    """Return a 32-bit number in an atom, 0 where it is missing or too short."""
    if record is None or record.start + offset + 4 > record.end:
        return 0
    return int(struct.unpack_from("<I", stream, record.start + offset)[0])


def string_of(stream: bytes, parent: PptRecord, instance: int) -> str:
    """Return the string child with an instance number, "" for none."""
    found = child(stream, parent, STRING, instance)
    return "" if found is None else content(stream, found).decode("utf-16-le", "replace").strip("\0 ")
