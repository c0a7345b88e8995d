"""The shapes on one slide or notes page of a PowerPoint 97 to 2003 file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ingest.parsers.drawing import TextLine
from ingest.parsers.ppt_records import (
    CHILD_ANCHOR,
    DRAWING,
    GROUP,
    MORE_PROPERTIES,
    OUTLINE_REFERENCE,
    PLACEHOLDER,
    PROPERTIES,
    SHAPE,
    SHAPE_DATA,
    SHAPE_TEXT,
    PptRecord,
    child,
    children,
    content,
    descend,
    number,
)
from ingest.parsers.ppt_text import TITLE_KINDS, TextBlock, text_blocks

_TABLE_PROPERTY, _DESCRIPTION = 0x039F, 0x0381
_COMPLEX = 0x8000
_TITLES = frozenset({0x0D, 0x0F, 0x11})
_MARGINS = frozenset({0x07, 0x08, 0x09, 0x0A})
_MAX_DEPTH = 32


class PptShape(NamedTuple):
    """A shape with text: its lines, what it is, and its place in a group (left, top) for table cells."""

    lines: tuple[TextLine, ...] = ()
    is_title: bool = False
    is_placeholder: bool = False
    description: str = ""
    corner: tuple[int, int] = (0, 0)


class PptTable(NamedTuple):
    """A table: its cells by row, then by column."""

    rows: list[dict[int, str]]


def read_shapes(
    stream: bytes, page: PptRecord, outline: tuple[TextBlock, ...]
) -> Iterator[PptShape | PptTable]:
    """Yield the shapes of a page in drawing order; groups are opened, tables put together."""
    drawing = child(stream, page, DRAWING)
    if drawing is not None:
        for group in descend(stream, drawing, GROUP):
            yield from _group(stream, group, outline, 0)


def _group(
    stream: bytes, group: PptRecord, outline: tuple[TextBlock, ...], depth: int
) -> Iterator[PptShape | PptTable]:
    for at, record in enumerate(children(stream, group)):
        if record.kind == GROUP and depth < _MAX_DEPTH:
            if _is_table(stream, record):
                yield _table(stream, record, outline)
            else:
                yield from _group(stream, record, outline, depth + 1)
        elif record.kind == SHAPE:
            # The first shape of a group describes the group; on the page itself it has no text.
            shape = _shape(stream, record, outline)
            if shape.lines or shape.description or at:
                yield shape


def _is_table(stream: bytes, group: PptRecord) -> bool:
    first = child(stream, group, SHAPE)
    more = child(stream, first, MORE_PROPERTIES) if first else None
    return more is not None and bool(_properties(stream, more).get(_TABLE_PROPERTY, (0, b""))[0] & 1)


def _properties(stream: bytes, record: PptRecord) -> dict[int, tuple[int, bytes]]:
    """Return drawing properties by id: a number, and bytes for those that do not fit into one."""
    data, count = content(stream, record), record.instance
    found: dict[int, tuple[int, bytes]] = {}
    after = 6 * count
    for at in range(0, min(after, len(data) - 5), 6):
        key, value = struct.unpack_from("<HI", data, at)
        extra = data[after : after + value] if key & _COMPLEX else b""
        after += len(extra)
        found[key & 0x3FFF] = (value, extra)
    return found


def _shape(stream: bytes, record: PptRecord, outline: tuple[TextBlock, ...]) -> PptShape:
    data, text = child(stream, record, SHAPE_DATA), child(stream, record, SHAPE_TEXT)
    mark = child(stream, data, PLACEHOLDER) if data and data.is_container else None
    place = content(stream, mark)[4:5] if mark else b""
    blocks = _texts(stream, text, outline) if text else []
    lines = tuple(line for block in blocks for line in block.lines)
    if place and place[0] in _MARGINS:
        lines = ()
    return PptShape(
        lines,
        bool(place and place[0] in _TITLES) or any(block.kind in TITLE_KINDS for block in blocks),
        bool(place),
        _description(stream, record),
        _corner(stream, record),
    )


def _texts(stream: bytes, text: PptRecord, outline: tuple[TextBlock, ...]) -> list[TextBlock]:
    inside = list(children(stream, text))
    for record in inside:
        if record.kind == OUTLINE_REFERENCE:
            index = number(stream, record)
            return [outline[index]] if index < len(outline) else []
    return list(text_blocks(stream, inside))


def _description(stream: bytes, record: PptRecord) -> str:
    properties = child(stream, record, PROPERTIES)
    if properties is None:
        return ""
    _, data = _properties(stream, properties).get(_DESCRIPTION, (0, b""))
    return data.decode("utf-16-le", "replace").strip("\0 ")


def _corner(stream: bytes, record: PptRecord) -> tuple[int, int]:
    anchor = child(stream, record, CHILD_ANCHOR)
    data = content(stream, anchor) if anchor else b""
    return struct.unpack_from("<ii", data) if len(data) >= 8 else (0, 0)


def _table(stream: bytes, group: PptRecord, outline: tuple[TextBlock, ...]) -> PptTable:
    """Put a table together from its cells: shapes whose upper edges agree form a row."""
    cells = [shape for shape in _group(stream, group, outline, _MAX_DEPTH) if isinstance(shape, PptShape)]
    filled = [cell for cell in cells if cell.lines]
    columns = {left: at for at, left in enumerate(sorted({cell.corner[0] for cell in filled}))}
    rows: dict[int, dict[int, str]] = {}
    for cell in sorted(filled, key=lambda cell: (cell.corner[1], cell.corner[0])):
        text = "\n".join(line.text for line in cell.lines)
        rows.setdefault(cell.corner[1], {})[columns[cell.corner[0]]] = text
    return PptTable(list(rows.values()))
