"""What belongs to an Excel 97 sheet beside its cells: notes, text boxes, charts, print margins, merges."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from ingest.anchors import SheetAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.biff import BOF, EOF, Chunks, Record
from ingest.parsers.biff_book import Book
from ingest.parsers.ole import DAMAGE
from ingest.parsers.sheet_extras import margin_text
from ingest.parsers.sheet_names import Area
from ingest.parsers.tables import column_letters

_HEADER, _FOOTER, _NOTE, _OBJECT, _TEXT_OBJECT = 0x0014, 0x0015, 0x001C, 0x005D, 0x01B6
_MERGED, _DRAWING, _SERIES_TEXT, _ROW, _MORE_MARGINS = 0x00E5, 0x00EC, 0x100D, 0x0208, 0x089C
_ROW_IS_HIDDEN = 0x20
_CLIENT_ANCHOR = b"\x10\xf0\x12\x00\x00\x00"
_MORE_NOTE = 0xFFFF
_MAX_TEXT_CHUNKS = 64


@dataclass
class SheetExtras:
    """Collects what a sheet holds beside its cells, record by record."""

    book: Book
    sheet: str
    metadata: dict[str, JsonValue]
    merges: list[Area] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)  # from 0
    _margins: list[tuple[ElementKind, str]] = field(default_factory=list)
    _notes: list[tuple[str, int, str, str]] = field(default_factory=list)  # cell, object, author, text
    _texts: dict[int, tuple[str, str]] = field(default_factory=dict)  # object → (cell, text)
    _charts: list[str] = field(default_factory=list)
    _object: int = 0
    _cell: str = "A1"

    def take(self, record: Record, *, in_chart: bool) -> None:
        """Take in a record; one that cannot be read is passed over."""
        try:
            self._take(record, in_chart=in_chart)
        except DAMAGE:
            return

    def _take(self, record: Record, *, in_chart: bool) -> None:
        kind, data = record.kind, record.data
        if kind in (_HEADER, _FOOTER) and not in_chart and data:
            text = margin_text(self.book.text(data, 0, 2 if self.book.version >= 8 else 1))
            self._margins.append((ElementKind.HEADER if kind == _HEADER else ElementKind.FOOTER, text))
        elif kind == _SERIES_TEXT:
            self._charts.append(self.book.text(data, 2, 1).strip())
        elif kind == _MERGED:
            self._take_merges(data)
        elif kind == _DRAWING:
            self._take_anchor(data)
        elif kind == _OBJECT and data[:2] == b"\x15\x00":
            (self._object,) = struct.unpack_from("<H", data, 6)
        elif kind == _TEXT_OBJECT:
            self._take_text(record)
        elif kind == _NOTE:
            self._take_note(data)
        elif kind == _ROW and data[12] & _ROW_IS_HIDDEN:
            self.hidden_rows.add(struct.unpack_from("<H", data)[0])
        elif kind == _MORE_MARGINS:
            self._take_more_margins(data)

    def _take_more_margins(self, data: bytes) -> None:
        """Read the headers and footers of even and first pages ([MS-XLS] 2.4.137)."""
        sizes = struct.unpack_from("<4H", data, 30)
        chunks = Chunks([data[38:]])
        for kind, size in zip((ElementKind.HEADER, ElementKind.FOOTER) * 2, sizes, strict=True):
            if size:
                self._margins.append((kind, margin_text(chunks.unicode_string())))

    def _take_merges(self, data: bytes) -> None:
        (count,) = struct.unpack_from("<H", data)
        for index in range(count):
            top, bottom, left, right = struct.unpack_from("<HHHH", data, 2 + 8 * index)
            self.merges.append(Area(top + 1, left, bottom + 1, right))

    def _take_anchor(self, data: bytes) -> None:
        at = data.rfind(_CLIENT_ANCHOR)
        if at >= 0:
            column, _, row = struct.unpack_from("<HHH", data, at + 8)
            self._cell = f"{column_letters(column)}{row + 1}"

    def _take_text(self, record: Record) -> None:
        (count,) = struct.unpack_from("<H", record.data, 10)
        if not count or not record.more:
            return
        chunks = Chunks(list(record.more[:_MAX_TEXT_CHUNKS]))
        text = chunks.characters(count, wide=bool(chunks.number(1) & 1)).replace("\r", "\n").strip()
        if text:
            self._texts[self._object or -len(self._texts) - 1] = (self._cell, text)

    def _take_note(self, data: bytes) -> None:
        row, column, size, number = struct.unpack_from("<HHHH", data)
        if self.book.version >= 8:
            author = self.book.text(data, 8)
            self._notes.append((f"{column_letters(column)}{row + 1}", number, author, ""))
            return
        text = data[6:].decode(self.book.encoding, "replace")
        if row == _MORE_NOTE and self._notes:
            cell, number, author, before = self._notes[-1]
            self._notes[-1] = (cell, number, author, before + text)
        else:
            self._notes.append((f"{column_letters(column)}{row + 1}", -1, "", text[:size]))

    def pieces(self) -> Iterator[Piece]:
        """Yield notes with their authors, then text boxes, chart texts and print margins."""
        texts = dict(self._texts)
        for cell, number, author, own in self._notes:
            text = own or texts.pop(number, ("", ""))[1]
            if text:
                more: dict[str, JsonValue] = {"author": author} if author else {}
                yield self._piece(ElementKind.COMMENT, text, cell, more)
        for cell, text in texts.values():
            yield self._piece(ElementKind.TEXT_BOX, text, cell)
        chart = "\n".join(dict.fromkeys(text for text in self._charts if text))
        if chart:
            yield self._piece(ElementKind.FIGURE, chart, "A1")
        for kind, text in dict.fromkeys(self._margins):
            if text:
                yield self._piece(kind, text, "A1")

    def _piece(
        self, kind: ElementKind, text: str, cell: str, more: dict[str, JsonValue] | None = None
    ) -> Piece:
        anchor = SheetAnchor(sheet=self.sheet, cells=cell)
        return Piece(kind, text, anchor, metadata={**self.metadata, **(more or {})})


def sheet_records(records: Iterator[Record]) -> Iterator[tuple[Record, bool]]:
    """Yield the records of one sheet, and whether each belongs to a chart drawn on it.

    A chart keeps copies of the values it shows in the same kinds of record as cells.
    """
    depth = 0
    for record in records:
        if record.kind in BOF:
            depth += 1
        elif record.kind == EOF:
            depth -= 1
            if depth <= 0:
                return
        else:
            yield record, depth > 1
