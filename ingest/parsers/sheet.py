"""Excel workbooks (XLSX, XLSM): every sheet, row by row, with what floats above the cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from pydantic import JsonValue

from ingest.anchors import SheetAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers.embedded import attach_embedded
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.opc import Package
from ingest.parsers.properties import describe_package
from ingest.parsers.sheet_extras import header_footer, sheet_comments, sheet_drawings
from ingest.parsers.sheet_names import Area, ColumnNames
from ingest.parsers.sheet_rows import (
    STREAM_DAMAGE,
    SheetRow,
    Workbook,
    read_row,
    read_strings,
    split_reference,
    stream_parts,
)
from ingest.parsers.sheet_styles import read_cell_styles

_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z0-9:]+)[\"']")
_CHUNK = 1 << 20
_OVERLAP = 256


class _Sheet(NamedTuple):
    name: str
    part: str
    metadata: dict[str, JsonValue]


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a workbook.

    Formulas count with their last computed value. Hidden sheets and rows are read and marked ``hidden``.

    Raises:
        CorruptFile: the file is no complete workbook.
        EncryptedFile: it is protected by a password.
        FileTooLarge: it holds more rows or columns than the limits allow.
        MaliciousFile: it is built to harm its reader.
    """
    with Package(context.path, context.limits) as package:
        part = package.main_part("xl/workbook.xml")
        describe_package(context, package)
        root = package.tree(part)
        sheets = list(_sheets(package, part, root))
        if not sheets:
            raise CorruptFile("The workbook has no sheets.")
        context.describe(extra={"sheets": [sheet.name for sheet in sheets]})
        workbook = _shared(context, package, part, root)
        rows_left = context.limits.max_rows
        damage: CorruptFile | None = None
        is_empty = True
        pictures = InnerPictures(context)
        for sheet in sheets:
            reader = _SheetReader(context, package, sheet, workbook, rows_left, pictures)
            for piece in reader.pieces():
                is_empty = False
                yield piece
            rows_left, damage = reader.rows_left, damage or reader.damage
        pictures.report()
        if damage and is_empty:
            raise damage
        attach_embedded(context, package, *(sheet.part for sheet in sheets))


def _sheets(package: Package, part: str, root: Node) -> Iterator[_Sheet]:
    relations = package.relations(part)
    for node in root.iter(tag("s:sheet")):
        link = relations.get(str(node.get(tag("r:id"), "")))
        if link is not None and package.has(link.target):
            state = attribute(node, "state", "visible")
            yield _Sheet(attribute(node, "name"), link.target, {} if state == "visible" else {"hidden": True})


def _shared(context: ParseContext, package: Package, part: str, root: Node) -> Workbook:
    strings: list[str] = []
    for target in package.related(part, "sharedStrings"):
        try:
            with package.open(target) as stream:
                strings.extend(read_strings(stream))
        except CorruptFile as error:
            context.warn("texts_damaged", f"Some texts of the workbook are missing. {error.detail}")
    styles = next(iter(package.related(part, "styles")), "")
    properties = root.find(tag("s:workbookPr"))
    return Workbook(
        strings,
        read_cell_styles(package.optional(styles)),
        attribute(properties, "date1904") in ("1", "true"),
    )


class _SheetReader:
    """Reads one sheet; its name is announced before its first piece."""

    def __init__(
        self,
        context: ParseContext,
        package: Package,
        sheet: _Sheet,
        workbook: Workbook,
        rows_left: int,
        pictures: InnerPictures,
    ) -> None:
        self._context, self._package, self._sheet, self._workbook = context, package, sheet, workbook
        self._pictures = pictures
        self.rows_left = rows_left
        self.damage: CorruptFile | None = None

    def pieces(self) -> Iterator[Piece]:
        """Yield the sheet's name, rows, comments, drawings and print margins; nothing for an empty sheet."""
        announced = False
        for piece in self._content():
            if not announced:
                announced = True
                anchor = SheetAnchor(sheet=self._sheet.name, cells="A1")
                yield Piece(ElementKind.HEADING, self._sheet.name, anchor, 1, (), self._sheet.metadata)
            yield piece

    def _content(self) -> Iterator[Piece]:
        sheet, package = self._sheet, self._package
        margins: list[Piece] = []
        names = ColumnNames(self._tables(), list(_merges(package, sheet.part)))
        for named in names.follow(self._rows(margins)):
            hidden: dict[str, JsonValue] = {"hidden": True} if named.row.is_hidden else {}
            header: dict[str, JsonValue] = {"header": True} if named.is_header else {}
            yield Piece(
                ElementKind.TABLE_ROW,
                named.text(),
                SheetAnchor(sheet=sheet.name, cells=named.reference()),
                cells=named.cells(),
                metadata={**sheet.metadata, **hidden, **header},
            )
        yield from sheet_comments(package, sheet.part, sheet.name, sheet.metadata)
        yield from sheet_drawings(package, sheet.part, sheet.name, sheet.metadata, self._pictures)
        yield from margins

    def _tables(self) -> list[Area]:
        """Return the areas of the tables defined on the sheet."""
        found = []
        for target in self._package.related(self._sheet.part, "table"):
            root = self._package.optional(target)
            area = None if root is None else _area(attribute(root, "ref"))
            if area and attribute(root, "headerRowCount", "1") != "0":
                found.append(area)
        return found

    def _rows(self, margins: list[Piece]) -> Iterator[SheetRow]:
        """Yield the filled rows as far as the sheet can be read."""
        try:
            yield from self._intact_rows(margins)
        except CorruptFile as error:
            self.damage = error
            self._context.warn(
                "sheet_damaged", f"Sheet {self._sheet.name} is damaged and not complete. {error.detail}"
            )

    def _intact_rows(self, margins: list[Piece]) -> Iterator[SheetRow]:
        limits: ParseLimits = self._context.limits
        number = 0
        with self._package.open(self._sheet.part) as stream:
            for node in stream_parts(stream, "row", "headerFooter"):
                if local(node) == "headerFooter":
                    margins.extend(header_footer(node, self._sheet.name, self._sheet.metadata))
                    continue
                row = read_row(node, number, self._workbook, limits)
                number = row.number
                if not row.cells:
                    continue
                self.rows_left -= 1
                if self.rows_left < 0:
                    raise FileTooLarge(f"The workbook has more than {limits.max_rows} rows (PARSE_MAX_ROWS).")
                yield row


def _area(reference: str) -> Area | None:
    first, _, last = reference.partition(":")
    start, end = split_reference(first), split_reference(last or first)
    return Area(start[0], start[1], end[0], end[1]) if start and end else None


def _merges(package: Package, part: str) -> Iterator[Area]:
    """Yield the merged areas. They stand behind the rows they concern, so they are looked for first."""
    rest = b""
    with package.open(part) as stream, suppress(*STREAM_DAMAGE):
        while chunk := stream.read(_CHUNK):
            chunk = rest + chunk
            at = 0
            for found in _MERGE.finditer(chunk):
                at = found.end()
                area = _area(found[1].decode("ascii"))
                if area:
                    yield area
            rest = chunk[max(at, len(chunk) - _OVERLAP) :]
