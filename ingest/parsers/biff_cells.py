"""Cells of an Excel 97 sheet: every way the format stores a value, as shown to a reader."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ingest.parsers.biff import Record, rk_number
from ingest.parsers.biff_book import Book
from ingest.parsers.number_format import show_number
from ingest.parsers.sheet_rows import SheetCell
from ingest.parsers.sheet_styles import CellStyle

_ERRORS = {0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!",
           0x2A: "#N/A", 0x2B: "#GETTING_DATA"}  # fmt: skip
STRING = frozenset({0x0007, 0x0207})
_NO_NUMBER = 0xFFFF


class Place(NamedTuple):
    """Row and column of a cell, both from 0."""

    row: int
    column: int


class Found(NamedTuple):
    """A cell that has been read; ``cell`` is None when its text follows in the next STRING record."""

    place: Place
    cell: SheetCell | None


def read_cells(book: Book, record: Record) -> Iterator[Found]:
    """Yield the filled cells of a record; none for records of another kind."""
    reader = _READERS.get(record.kind)
    if reader is not None:
        yield from reader(book, record)


def text_cell(text: str, *, is_strong: bool = False) -> SheetCell | None:
    """Return a cell of text, None for blanks."""
    stripped = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return SheetCell(stripped, None, True, is_strong) if stripped else None


def _head(book: Book, data: bytes) -> tuple[Place, CellStyle, int]:
    """Return place, style and the offset of the value."""
    row, column = struct.unpack_from("<HH", data)
    if book.version == 2:
        return Place(row, column), CellStyle(book.format_code(data[5] & 0x3F)), 7
    return Place(row, column), book.style(struct.unpack_from("<H", data, 4)[0]), 6


def _number_cell(book: Book, value: float, style: CellStyle) -> SheetCell:
    shown = show_number(value, style.code, date_1904=book.date_1904)
    return SheetCell(shown.value, shown.stored, False, style.is_strong)


def _flag_cell(code: int, is_error: int, style: CellStyle) -> SheetCell:
    if is_error:
        return SheetCell(_ERRORS.get(code, "#N/A"), None, True, style.is_strong)
    return SheetCell("TRUE" if code else "FALSE", None, False, style.is_strong)


def _filled(place: Place, cell: SheetCell | None) -> Iterator[Found]:
    if cell is not None:
        yield Found(place, cell)


def _integer(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    yield Found(place, _number_cell(book, struct.unpack_from("<H", record.data, at)[0], style))


def _number(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    yield Found(place, _number_cell(book, struct.unpack_from("<d", record.data, at)[0], style))


def _rk(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    value = rk_number(struct.unpack_from("<I", record.data, at)[0])
    yield Found(place, _number_cell(book, value, style))


def _many_rk(book: Book, record: Record) -> Iterator[Found]:
    row, first = struct.unpack_from("<HH", record.data)
    for index in range((len(record.data) - 6) // 6):
        style, value = struct.unpack_from("<HI", record.data, 4 + 6 * index)
        yield Found(Place(row, first + index), _number_cell(book, rk_number(value), book.style(style)))


def _label(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    yield from _filled(place, text_cell(book.long_text(record, at), is_strong=style.is_strong))


def _shared_label(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    (index,) = struct.unpack_from("<I", record.data, at)
    if index < len(book.strings):
        yield from _filled(place, text_cell(book.strings[index], is_strong=style.is_strong))


def _flag(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    yield Found(place, _flag_cell(record.data[at], record.data[at + 1], style))


def _formula(book: Book, record: Record) -> Iterator[Found]:
    place, style, at = _head(book, record.data)
    result = record.data[at : at + 8]
    if struct.unpack_from("<H", result, 6)[0] != _NO_NUMBER:
        yield Found(place, _number_cell(book, struct.unpack("<d", result)[0], style))
    elif result[0] == 0:
        yield Found(place, None)
    elif result[0] in (1, 2):
        yield Found(place, _flag_cell(result[2], result[0] == 2, style))


_READERS: dict[int, Callable[[Book, Record], Iterator[Found]]] = {
    0x0002: _integer,
    0x0003: _number, 0x0203: _number,
    0x0004: _label, 0x0204: _label, 0x00D6: _label,
    0x0005: _flag, 0x0205: _flag,
    0x0006: _formula, 0x0206: _formula, 0x0406: _formula,
    0x027E: _rk,
    0x00BD: _many_rk,
    0x00FD: _shared_label,
}  # fmt: skip
