"""Paragraph and character properties of a Word 97 to 2003 document: headings, lists, table marks, deletions.

[MS-DOC] keeps them in pages of 512 bytes that hold runs of stream offsets, each with a list of property
changes (SPRMs) against its style.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.parsers.doc_text import DocText
from ingest.parsers.ole import DAMAGE

_STYLES, _CHARACTER_PAGES, _PARAGRAPH_PAGES = 1, 12, 13
_PAGE = 512
_DELETED = 0x0800
_IN_TABLE, _ROW_END, _INNER_CELL, _INNER_ROW_END = 0x2416, 0x2417, 0x244B, 0x244C
_LIST, _LIST_LEVEL, _OUTLINE = 0x460B, 0x260A, 0x2640
_TABLE_DEFINITION, _TAB_CHANGE = 0xD608, 0xC615
_OPERAND_SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
_TITLE, _CAPTION = 62, 34
_LIST_STYLES = frozenset({48, 49, *range(54, 62)})
_MAX_BASE_STYLES = 32
_NO_STYLE = 0xFFF


class Look(NamedTuple):
    """What a paragraph is."""

    heading: int = 0  # 1 to 9, 0 for none
    list_level: int = 0  # from 1, 0 for none
    is_title: bool = False
    is_caption: bool = False
    in_table: bool = False
    ends_row: bool = False
    ends_inner_cell: bool = False


PLAIN = Look()


def changes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the property changes of a list: code and operand."""
    at = 0
    while at + 2 <= len(data):
        (code,) = struct.unpack_from("<H", data, at)
        at += 2
        size = _OPERAND_SIZES.get(code >> 13)
        if code == _TABLE_DEFINITION and at + 2 <= len(data):
            size = 1 + struct.unpack_from("<H", data, at)[0]
        elif code == _TAB_CHANGE and data[at : at + 1] == b"\xff":
            return
        elif size is None:
            size = 1 + data[at] if at < len(data) else 1
        yield code, data[at : at + size]
        at += size


class _Style(NamedTuple):
    identity: int
    base: int


@dataclass
class Formats:
    """Answers what a paragraph is and what was deleted."""

    document: DocText
    _styles: list[_Style | None] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _looks: list[tuple[int, Look]] = field(default_factory=list)  # end offset and look of each run

    @property
    def is_known(self) -> bool:
        """Whether paragraph properties were found at all."""
        return bool(self._looks)

    def look(self, position: int) -> Look:
        """Return what the paragraph is whose end mark stands at a position."""
        offset = self.document.offset_of(position)
        at = bisect_right(self._starts, offset) - 1
        if offset < 0 or at < 0 or offset >= self._looks[at][0]:
            return PLAIN
        return self._looks[at][1]

    def read_look(self, data: bytes) -> Look:
        """Return what a paragraph property list (style and changes) says."""
        if len(data) < 2:
            return PLAIN
        (style,) = struct.unpack_from("<H", data)
        look = self._style_look(style)
        listed = look.list_level
        level = 0
        for code, operand in changes(data[2:]):
            value = int.from_bytes(operand[:2], "little", signed=True)
            if code == _IN_TABLE:
                look = look._replace(in_table=bool(value))
            elif code == _ROW_END:
                look = look._replace(ends_row=bool(value))
            elif code in (_INNER_CELL, _INNER_ROW_END):
                look = look._replace(ends_inner_cell=bool(value))
            elif code == _LIST:
                listed = 1 if value > 0 else 0
            elif code == _LIST_LEVEL:
                level = operand[0]
            elif code == _OUTLINE:
                look = look._replace(heading=operand[0] + 1 if operand[0] < 9 else 0)
        return look._replace(list_level=listed + level if listed else 0)

    def _style_look(self, style: int) -> Look:
        for _ in range(_MAX_BASE_STYLES):
            found = self._styles[style] if style < len(self._styles) else None
            if found is None:
                return PLAIN
            if 1 <= found.identity <= 9:
                return Look(heading=found.identity)
            if found.identity in _LIST_STYLES:
                return Look(list_level=1)
            if found.identity in (_TITLE, _CAPTION):
                return Look(is_title=found.identity == _TITLE, is_caption=found.identity == _CAPTION)
            style = found.base
        return PLAIN

    def deletions(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of positions that tracked changes have deleted."""
        ranges = sorted(
            (start, end)
            for start, end, data in _runs(self.document, _CHARACTER_PAGES, is_paragraph=False)
            if any(code == _DELETED and operand == b"\x01" for code, operand in changes(data))
        )
        for piece in self.document.pieces if ranges else ():
            last = piece.offset + (piece.end - piece.start) * piece.width
            for start, end in ranges:
                first, stop = max(start, piece.offset), min(end, last)
                if first < stop:
                    yield (
                        piece.start + (first - piece.offset) // piece.width,
                        piece.start + (stop - piece.offset) // piece.width,
                    )


def read_formats(document: DocText) -> Formats:
    """Return the properties of a document; empty before Word 97 and where they are damaged."""
    formats = Formats(document)
    if not document.is_97:
        return formats
    try:
        formats._styles = _read_styles(document.section(_STYLES))
        runs = sorted(_runs(document, _PARAGRAPH_PAGES, is_paragraph=True))
    except DAMAGE:
        return formats
    for start, end, data in runs:
        formats._starts.append(start)
        formats._looks.append((end, formats.read_look(data)))
    return formats


def _runs(document: DocText, index: int, *, is_paragraph: bool) -> Iterator[tuple[int, int, bytes]]:
    """Yield first and last offset and property list of all runs of one kind."""
    _, pages = document.positions(index, 4)
    for number in dict.fromkeys(pages):
        at = (int.from_bytes(number, "little") & 0x3FFFFF) * _PAGE
        page = document.stream[at : at + _PAGE]
        if len(page) < _PAGE:
            continue
        count = page[-1]
        if 4 * (count + 1) + count * (13 if is_paragraph else 1) > _PAGE:
            continue
        offsets = struct.unpack_from(f"<{count + 1}I", page)
        for run in range(count):
            start = 4 * (count + 1) + run * (13 if is_paragraph else 1)
            yield (
                offsets[run],
                offsets[run + 1],
                _property_list(page, 2 * page[start], is_paragraph=is_paragraph),
            )


def _property_list(page: bytes, at: int, *, is_paragraph: bool) -> bytes:
    if not at:
        return b""
    size = page[at]
    if not is_paragraph:
        return page[at + 1 : at + 1 + size]
    if size:
        return page[at + 1 : at + 2 * size]
    return page[at + 2 : at + 2 + 2 * page[at + 1]] if at + 1 < len(page) else b""


def _read_styles(data: bytes) -> list[_Style | None]:
    found: list[_Style | None] = []
    if len(data) < 4:
        return found
    header, count = struct.unpack_from("<HH", data)
    at = 2 + header
    while len(found) < count and at + 2 <= len(data):
        (size,) = struct.unpack_from("<H", data, at)
        if size >= 4 and at + 6 <= len(data):
            first, second = struct.unpack_from("<HH", data, at + 2)
            base = second >> 4
            found.append(_Style(first & 0xFFF, base if base != _NO_STYLE else len(data)))
        else:
            found.append(None)
        at += 2 + size
    return found
