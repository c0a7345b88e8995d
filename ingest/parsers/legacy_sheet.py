"""Excel 2 to 2003 workbooks (XLS): every sheet, row by row, read from the records themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from ingest.anchors import SheetAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge
from ingest.model import ElementKind
from ingest.parsers.biff import BOF, records
from ingest.parsers.biff_book import Book, BoundSheet, read_book
from ingest.parsers.biff_cells import STRING, Place, read_cells, text_cell
from ingest.parsers.biff_extras import SheetExtras, sheet_records
from ingest.parsers.embedded import attach_storages
from ingest.parsers.ole import DAMAGE, open_ole, read_stream
from ingest.parsers.ole_properties import describe_ole
from ingest.parsers.sheet_names import ColumnNames
from ingest.parsers.sheet_rows import SheetCell, SheetRow

_STREAMS = ("Workbook", "WORKBOOK", "Book", "BOOK")
_OLD_HEADS = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")
# Rows are stored in blocks of 32; a row is complete when one this far below it has begun.
_WINDOW = 64
_COLUMNS = 256


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a workbook of Excel 2 to 2003.

    Formulas count with their last computed value. Hidden sheets are read and marked ``hidden``.

    Raises:
        CorruptFile: the file is no complete workbook.
        EncryptedFile: it is protected by a password.
        FileTooLarge: it holds more rows than the limits allow.
    """
    stream = _workbook_stream(context)
    if len(stream) < 4 or int.from_bytes(stream[:2], "little") not in BOF:
        raise CorruptFile("The file does not hold an Excel workbook.")
    book = read_book(stream)
    context.describe(extra={"sheets": [sheet.name for sheet in book.sheets]})
    rows_left = context.limits.max_rows
    for sheet in book.sheets:
        announced = False
        for piece in _sheet(context, stream, book, sheet):
            if piece.kind is ElementKind.TABLE_ROW:
                rows_left -= 1
                if rows_left < 0:
                    raise FileTooLarge(
                        f"The workbook has more than {context.limits.max_rows} rows (PARSE_MAX_ROWS)."
                    )
            if not announced:
                announced = True
                anchor = SheetAnchor(sheet=sheet.name, cells="A1")
                yield Piece(ElementKind.HEADING, sheet.name, anchor, 1, (), _marks(sheet))
            yield piece


def _workbook_stream(context: ParseContext) -> bytes:
    with context.path.open("rb") as file:
        head = file.read(4)
    if head[:2] in _OLD_HEADS:
        return context.path.read_bytes()
    with open_ole(context.path) as ole:
        describe_ole(context, ole)
        for name in _STREAMS:
            if ole.exists(name):
                attach_storages(context, ole)
                return read_stream(ole, name)
    raise CorruptFile("The file does not hold an Excel workbook.")


def _marks(sheet: BoundSheet) -> dict[str, JsonValue]:
    return {"hidden": True} if sheet.is_hidden else {}


def _sheet(context: ParseContext, stream: bytes, book: Book, sheet: BoundSheet) -> Iterator[Piece]:
    extras = SheetExtras(book, sheet.name, _marks(sheet))
    # Merged areas are stored behind the rows they concern, so the rest of the sheet is read first.
    for record, in_chart in sheet_records(records(stream, sheet.offset)):
        extras.take(record, in_chart=in_chart or sheet.is_chart)
    names = ColumnNames(merges=extras.merges)
    rows = () if sheet.is_chart else _rows(context, stream, book, sheet)
    for named in names.follow(rows):
        header: dict[str, JsonValue] = {"header": True} if named.is_header else {}
        hidden: dict[str, JsonValue] = {"hidden": True} if named.row.number - 1 in extras.hidden_rows else {}
        yield Piece(
            ElementKind.TABLE_ROW,
            named.text(),
            SheetAnchor(sheet=sheet.name, cells=named.reference()),
            cells=named.cells(),
            metadata={**_marks(sheet), **hidden, **header},
        )
    yield from extras.pieces()


def _rows(context: ParseContext, stream: bytes, book: Book, sheet: BoundSheet) -> Iterator[SheetRow]:
    """Yield the rows in order, holding only as many as may still be incomplete."""
    waiting: dict[int, dict[int, SheetCell]] = {}
    for place, cell in _cells(context, stream, book, sheet):
        if place.row not in waiting:
            for row in sorted(row for row in waiting if row < place.row - _WINDOW):
                yield _row(row, waiting.pop(row))
        waiting.setdefault(place.row, {})[place.column] = cell
    for row in sorted(waiting):
        yield _row(row, waiting[row])


def _row(row: int, cells: dict[int, SheetCell]) -> SheetRow:
    return SheetRow(row + 1, dict(sorted(cells.items())))


def _cells(
    context: ParseContext, stream: bytes, book: Book, sheet: BoundSheet
) -> Iterator[tuple[Place, SheetCell]]:
    pending: Place | None = None
    damaged = 0
    for record, in_chart in sheet_records(records(stream, sheet.offset)):
        if in_chart:
            continue
        try:
            if record.kind in STRING and pending is not None:
                cell = text_cell(book.long_text(record, 0))
                if cell is not None:
                    yield pending, cell
                pending = None
                continue
            for place, found in read_cells(book, record):
                if place.column >= _COLUMNS:
                    damaged += 1
                elif found is None:
                    pending = place
                else:
                    yield place, found
        except DAMAGE:
            damaged += 1
    if damaged:
        context.warn("cells_unreadable", f"{damaged} damaged records of sheet {sheet.name} were left out.")
