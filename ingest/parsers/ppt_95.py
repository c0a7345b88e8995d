"""PowerPoint 95: a tree of records as in later versions, with headers of 16 bytes and texts of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ingest.anchors import SlideAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import find_encoding
from ingest.errors import CorruptFile
from ingest.model import ElementKind

_HEADER = 16
_CONTAINER = 0xFFFF
_ROOT, _LIST, _SLIDE, _NOTES, _TEXT_BODY, _TEXT = 0x0003, 0x07D0, 0x03EE, 0x03F0, 0x0FE0, 0x07EE
_MAX_DEPTH = 40
_MAX_TITLE = 200


class _Record(NamedTuple):
    kind: int
    start: int
    end: int
    is_container: bool


class _Text(NamedTuple):
    slide: int
    is_note: bool
    data: bytes


def is_ppt_95(stream: bytes) -> bool:
    """Return whether a stream is of the format of PowerPoint 95."""
    return stream[:8] == struct.pack("<II", _ROOT, _CONTAINER)


def read_ppt_95(context: ParseContext, stream: bytes) -> Iterator[Piece]:
    """Yield the texts of the slides and their notes.

    Raises:
        CorruptFile: there is no slide.
    """
    texts = list(_texts(stream, _Record(0, 0, len(stream), True), 0, []))
    if not texts:
        raise CorruptFile("The presentation holds no slide that can be read.")
    encoding = find_encoding(b"\n".join(text.data for text in texts))
    context.describe(page_count=max(text.slide for text in texts), encoding=encoding)
    titled: set[int] = set()
    for text in texts:
        lines = text.data.decode(encoding, "replace").replace("\x0b", "\n").split("\r")
        for line in (line.strip("\0 \t\n") for line in lines):
            if line:
                yield _piece(text, line, titled, is_only=len(lines) == 1)


def _piece(text: _Text, line: str, titled: set[int], *, is_only: bool) -> Piece:
    if text.is_note:
        return Piece(ElementKind.NOTE, line, SlideAnchor(slide=text.slide, part="notes"))
    is_title = is_only and len(line) <= _MAX_TITLE and text.slide not in titled
    titled.add(text.slide)
    kind = ElementKind.TITLE if is_title else ElementKind.TEXT_BOX
    return Piece(kind, line, SlideAnchor(slide=text.slide, part="title" if is_title else "body"))


def _children(stream: bytes, parent: _Record) -> Iterator[_Record]:
    at = parent.start
    while at + _HEADER <= parent.end:
        kind, flags, size, _ = struct.unpack_from("<IIII", stream, at)
        start = at + _HEADER
        yield _Record(kind, start, min(start + size, parent.end), flags == _CONTAINER)
        at = start + size


def _texts(stream: bytes, parent: _Record, depth: int, slides: list[int], place: int = 0) -> Iterator[_Text]:
    """Yield the texts below a record; ``slides`` counts the slides met, ``place`` is 0 outside of one."""
    own: list[_Text] = []
    for record in _children(stream, parent):
        if not record.is_container or depth > _MAX_DEPTH:
            if record.kind == _TEXT and parent.kind == _TEXT_BODY and place:
                yield _Text(abs(place), place < 0, stream[record.start : record.end])
            continue
        inside = place
        if record.kind == _SLIDE:
            slides.append(record.start)
            inside = len(slides)
        elif record.kind == _NOTES and place > 0:
            inside = -place
        found = _texts(stream, record, depth + 1, slides, inside)
        if inside < 0 <= place:
            own.extend(found)  # notes are stored before the slide they belong to is read out
        else:
            yield from found
    yield from own
