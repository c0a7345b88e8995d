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
_PARAGRAPH_STYLE = 1
_LAST_LEVEL = 8


class Look(NamedTuple):
    """What a paragraph is."""

    heading: int = 0  # 1 to 9, 0 for none
    list_number: int = 0  # from 1, 0 for none
    list_level: int = 0  # from 0
    is_listed: bool = False  # by a style without numbers
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
    changes: bytes


def _changed(look: Look, data: bytes) -> Look:
    """Return a look after property changes."""
    for code, operand in changes(data):
        value = int.from_bytes(operand[:2], "little", signed=True)
        if code == _IN_TABLE:
            look = look._replace(in_table=bool(value))
        elif code == _ROW_END:
            look = look._replace(ends_row=bool(value))
        elif code in (_INNER_CELL, _INNER_ROW_END):
            look = look._replace(ends_inner_cell=bool(value))
        elif code == _LIST:
            look = look._replace(list_number=max(value, 0))
        elif code == _LIST_LEVEL:
            look = look._replace(list_level=min(max(value, 0), _LAST_LEVEL))
        elif code == _OUTLINE:
            look = look._replace(heading=value + 1 if 0 <= value <= _LAST_LEVEL else 0)
    return look


@dataclass
class Formats:
    """Answers what a paragraph is and what was deleted."""

    document: DocText
    _styles: list[_Style | None] = field(default_factory=list)
    _style_looks: dict[int, Look] = field(default_factory=dict)
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
        return _changed(self._style_look(struct.unpack_from("<H", data)[0]), data[2:])

    def _style_look(self, style: int, depth: int = 0) -> Look:
        """Return what a style says, after the style it is based on."""
        if style in self._style_looks:
            return self._style_looks[style]
        found = self._styles[style] if style < len(self._styles) else None
        if found is None or depth > _MAX_BASE_STYLES:
            return PLAIN
        look = _changed(self._style_look(found.base, depth + 1), found.changes)
        if 1 <= found.identity <= 9:
            look = look._replace(heading=found.identity)
        elif found.identity in _LIST_STYLES:
            look = look._replace(is_listed=True)
        elif found.identity in (_TITLE, _CAPTION):
            look = look._replace(is_title=found.identity == _TITLE, is_caption=found.identity == _CAPTION)
        self._style_looks[style] = look
        return look

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
    if len(data) < 6:
        return found
    header, count, base_size = struct.unpack_from("<HHH", data)
    at = 2 + header
    while len(found) < count and at + 2 <= len(data):
        (size,) = struct.unpack_from("<H", data, at)
        found.append(_read_style(data[at + 2 : at + 2 + size], base_size))
        at += 2 + size
    return found


def _read_style(data: bytes, base_size: int) -> _Style | None:
    if len(data) < 4:
        return None
    first, second = struct.unpack_from("<HH", data)
    base = second >> 4
    own = b""
    if second & 0x0F == _PARAGRAPH_STYLE and base_size + 2 <= len(data):
        # Behind the name stand the paragraph changes: their size, the style once more, and the list.
        (name_size,) = struct.unpack_from("<H", data, base_size)
        at = base_size + 2 + 2 * (name_size + 1)
        at += at % 2
        if at + 2 <= len(data):
            (size,) = struct.unpack_from("<H", data, at)
            own = data[at + 4 : at + 2 + size]
    return _Style(first & 0xFFF, base, own)
