"""What all sheets of an Excel 97 workbook share: strings, styles, code page, and the list of sheets."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from ingest.errors import CorruptFile, EncryptedFile
from ingest.parsers.biff import (
    BOF,
    EOF,
    FILEPASS,
    Chunks,
    Record,
    byte_string,
    records,
    shared_strings,
    unicode_string,
    version_of,
)
from ingest.parsers.number_format import BUILT_IN
from ingest.parsers.ole import DAMAGE, code_page
from ingest.parsers.sheet_styles import CellStyle

_DATE_MODE, _CODE_PAGE, _BOUND_SHEET, _SST = 0x0022, 0x0042, 0x0085, 0x00FC
_FONTS = frozenset({0x0031, 0x0231})
_FORMATS = frozenset({0x001E, 0x041E})
_STYLES = frozenset({0x0043, 0x0243, 0x0443, 0x00E0})
_BOLD = 0x02BC
_GLOBALS = b"\x05\x00"
_SHEET_KINDS = {0: "worksheet", 2: "chart"}
_PLAIN = CellStyle()


@dataclass(frozen=True)
class BoundSheet:
    """A sheet: its name, where its records begin, and whether it is hidden."""

    name: str
    offset: int
    is_hidden: bool = False
    is_chart: bool = False


@dataclass
class Book:
    """The globals of a workbook.

    Attributes:
        version: of the format, 2 to 8.
        encoding: of strings before version 8.
    """

    version: int = 8
    encoding: str = "cp1252"
    date_1904: bool = False
    strings: list[str] = field(default_factory=list)
    sheets: list[BoundSheet] = field(default_factory=list)
    _formats: dict[int, str] = field(default_factory=lambda: dict(BUILT_IN))
    _bold: list[bool] = field(default_factory=list)
    _styles: list[CellStyle] = field(default_factory=list)
    _format_count: int = 0

    def style(self, index: int) -> CellStyle:
        """Return the style of a cell by its index."""
        return self._styles[index] if index < len(self._styles) else _PLAIN

    def format_code(self, index: int) -> str:
        """Return a number format by its index."""
        return self._formats.get(index, "General")

    def text(self, data: bytes, at: int, count_size: int = 2) -> str:
        """Return a string of a record in the way of this version."""
        if self.version >= 8:
            return unicode_string(data, at, count_size)
        return byte_string(data, at, count_size, self.encoding)

    def long_text(self, record: Record, at: int) -> str:
        """Return the string that ends a record, over its continuations."""
        size = 1 if self.version == 2 else 2
        if self.version >= 8:
            return Chunks([record.data[at:], *record.more]).unicode_string(size)
        return byte_string(record.whole(), at, size, self.encoding)

    def take(self, record: Record) -> None:
        """Take in a record of the globals; others pass by."""
        kind, data = record.kind, record.data
        if kind == FILEPASS:
            raise EncryptedFile
        if kind == _CODE_PAGE:
            self.encoding = code_page(struct.unpack_from("<H", data)[0])
        elif kind == _DATE_MODE:
            self.date_1904 = data[:1] == b"\x01"
        elif kind == _SST:
            self.strings = shared_strings(record)
        elif kind in _FONTS:
            self._bold.append(self._is_bold(data))
        elif kind in _FORMATS:
            self._take_format(kind, data)
        elif kind in _STYLES:
            self._styles.append(self._read_style(kind, data))
        elif kind == _BOUND_SHEET:
            self._take_sheet(data)

    def _is_bold(self, data: bytes) -> bool:
        if self.version >= 5:
            return bool(struct.unpack_from("<H", data, 6)[0] >= _BOLD)
        return bool(data[2] & 0x01)

    def _take_format(self, kind: int, data: bytes) -> None:
        if self.version >= 5:
            self._formats[struct.unpack_from("<H", data)[0]] = self.text(data, 2)
            return
        # Before version 5 formats are counted, not numbered.
        at = 2 if kind == 0x041E else 0
        self._formats[self._format_count] = byte_string(data, at, 1, self.encoding)
        self._format_count += 1

    def _read_style(self, kind: int, data: bytes) -> CellStyle:
        if kind == 0x0043:
            font, number = data[0], data[2] & 0x3F
        elif kind == 0x00E0:
            font, number = struct.unpack_from("<HH", data)
        else:
            font, number = data[0], data[1]
        # Font 4 does not exist: the fifth font in the file has the index 5.
        font -= font > 4
        bold = font < len(self._bold) and self._bold[font]
        return CellStyle(self.format_code(number), bold)

    def _take_sheet(self, data: bytes) -> None:
        (offset,) = struct.unpack_from("<I", data)
        state, kind = data[4] & 0x03, data[5]
        if kind in _SHEET_KINDS:
            self.sheets.append(BoundSheet(self.text(data, 6, 1), offset, state > 0, kind == 2))


def read_book(stream: bytes) -> Book:
    """Return the globals of a workbook stream.

    A record that cannot be read is passed over: a broken font must not hide the numbers.

    Raises:
        CorruptFile: the list of sheets is missing.
        EncryptedFile: the workbook is protected by a password.
    """
    book = Book()
    depth = 0
    has_list = False
    for record in records(stream):
        if record.kind in BOF:
            depth += 1
            if depth == 1:
                book.version = version_of(record)
                has_list = record.data[2:4] == _GLOBALS
        elif record.kind == EOF:
            break
        else:
            try:
                book.take(record)
            except DAMAGE:
                continue
    if has_list and not book.sheets:
        raise CorruptFile("The workbook is cut off before its first sheet.")
    if not book.sheets:
        # Up to version 4 a file is one sheet without a list of sheets.
        book.sheets.append(BoundSheet("Sheet 1", 0))
    return book
