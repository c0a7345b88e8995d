"""Names the columns of a sheet while its rows stream by: which rows are headers, and how far they hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.model import Cell
from ingest.parsers.sheet_rows import SheetRow
from ingest.parsers.tables import column_letters, header_names, is_header

_LOOKAHEAD = 8


class Area(NamedTuple):
    """A range of cells: rows from 1, columns from 0, both ends included."""

    top: int
    left: int
    bottom: int
    right: int


class NamedRow(NamedTuple):
    """A row, the names of its columns, and whether it is a header row itself."""

    row: SheetRow
    names: dict[int, str]
    is_header: bool
    carried: dict[int, tuple[str, str]]  # column → (value, cell) of a merged cell above

    def text(self) -> str:
        """Return the row as it reads."""
        return " | ".join(cell.value for cell in self.row.cells.values())

    def reference(self) -> str:
        """Return the range of the filled cells in A1 notation."""
        columns = sorted(self.row.cells)
        first, last = (f"{column_letters(column)}{self.row.number}" for column in (columns[0], columns[-1]))
        return first if first == last else f"{first}:{last}"

    def cells(self) -> tuple[Cell, ...]:
        """Return the values; a vertically merged cell counts for each of its rows."""
        found = {
            column: Cell(name=self._name(column), value=value, ref=where)
            for column, (value, where) in self.carried.items()
        }
        for column, cell in self.row.cells.items():
            where = f"{column_letters(column)}{self.row.number}"
            found[column] = Cell(name=self._name(column), value=cell.value, stored=cell.stored, ref=where)
        return tuple(found[column] for column in sorted(found))

    def _name(self, column: int) -> str:
        return self.names.get(column) or column_letters(column)


@dataclass
class ColumnNames:
    """Follows the rows of one sheet.

    Attributes:
        tables: areas of defined tables, whose first row is a header by definition.
        merges: merged areas.
    """

    tables: Sequence[Area] = ()
    merges: Sequence[Area] = ()
    _names: dict[int, str] = field(default_factory=dict)
    _last: int = 0
    _begun: bool = False  # a row of several cells has been seen since the last gap
    _above: dict[int, str] = field(default_factory=dict)  # group names in the row just before
    _open_merges: dict[int, tuple[int, str, str]] = field(
        default_factory=dict
    )  # column → (bottom, value, cell)
    _spans: dict[tuple[int, int], int] = field(default_factory=dict)
    _tall: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for area in self.merges:
            if area.right > area.left:
                self._spans[area.top, area.left] = area.right
            elif area.bottom > area.top:
                self._tall[area.top, area.left] = area.bottom

    def follow(self, rows: Iterable[SheetRow]) -> Iterator[NamedRow]:
        """Yield the rows with their names, looking a few rows ahead."""
        waiting: deque[SheetRow] = deque()
        source = iter(rows)
        for row in source:
            waiting.append(row)
            if len(waiting) > _LOOKAHEAD:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _next(self, waiting: deque[SheetRow]) -> NamedRow:
        row = waiting.popleft()
        if row.number > self._last + 1:
            self._names = self._names if self._fits(row) else {}
            self._above, self._begun = {}, False
        self._last = row.number
        names = self._table_header(row) or self._header(row, waiting)
        is_header = bool(names) and set(row.cells) <= set(names)
        before = {} if is_header and not self._in_table(row) else self._names
        self._names = before | names
        self._begun = self._begun or len(row.cells) > 1
        self._above = self._group_names(row)
        called = {} if is_header or self._is_label(row) else before
        return NamedRow(row, called, is_header, self._carry(row))

    def _group_names(self, row: SheetRow) -> dict[int, str]:
        """Return the texts of a row that stand over several columns each, as "2024" over four quarters."""
        has_groups = any((row.number, column) in self._spans for column in row.cells)
        return self._spread(row) if has_groups and len(row.cells) > 1 else {}

    def _fits(self, row: SheetRow) -> bool:
        return len(row.cells) > 1 and set(row.cells) <= set(self._names)

    def _is_label(self, row: SheetRow) -> bool:
        """Return whether a row is a heading inside a table: one emphasised text alone in its line."""
        cell = next(iter(row.cells.values()))
        return len(row.cells) == 1 and len(self._names) > 1 and cell.is_text and cell.is_strong

    def _in_table(self, row: SheetRow) -> bool:
        return any(area.top <= row.number <= area.bottom for area in self.tables)

    def _table_header(self, row: SheetRow) -> dict[int, str]:
        names: dict[int, str] = {}
        for area in self.tables:
            if area.top == row.number:
                inside = range(area.left, area.right + 1)
                names |= header_names({at: cell.value for at, cell in row.cells.items() if at in inside})
        return names

    def _header(self, row: SheetRow, following: Iterable[SheetRow]) -> dict[int, str]:
        """Return the names a row gives: as a whole, or for tables that stand side by side."""
        if self._begun and not self._above and not any(cell.is_strong for cell in row.cells.values()):
            return {}
        block = _block(row, following)
        spread = {
            column: f"{self._above[column]} {text}" if self._above.get(column, text) != text else text
            for column, text in self._spread(row).items()
        }
        whole = self._names_of(row, block, spread, set(spread))
        if whole:
            return whole
        names: dict[int, str] = {}
        filled = {column for one in (row, *block) for column in one.cells} | set(spread)
        for columns in _segments(filled):
            names |= self._names_of(row, block, spread, columns)
        return names

    def _names_of(
        self, row: SheetRow, block: list[SheetRow], spread: dict[int, str], columns: set[int]
    ) -> dict[int, str]:
        """Return the names a row gives to some columns, {} where it is no header of theirs."""
        first = {at: cell for at, cell in row.cells.items() if at in columns}
        width = range(min(columns), max(columns) + 1)
        under = [{at: cell for at, cell in below.cells.items() if at in width} for below in block]
        strong = bool(first) and all(cell.is_strong for cell in first.values())
        strong = strong and not all(cell.is_strong for below in under[:1] for cell in below.values())
        # Within a table only looks tell a new header from data.
        is_inside = any(column in self._names for column in columns) or (self._begun and not self._above)
        if not first or (is_inside and not strong):
            return {}
        names = {column: spread[column] for column in columns if column in spread}
        shown = [{at: cell.value for at, cell in below.items()} for below in under]
        plain = {at: spread[at] for at in first}
        found = is_header(plain, shown, emphasised=strong, last=max(names, default=0))
        return header_names(names) if found else {}

    def _spread(self, row: SheetRow) -> dict[int, str]:
        found: dict[int, str] = {}
        for column, cell in row.cells.items():
            last = min(self._spans.get((row.number, column), column), column + 1000)
            found |= dict.fromkeys(range(column, last + 1), cell.value)
        return found

    def _carry(self, row: SheetRow) -> dict[int, tuple[str, str]]:
        open_here = {
            column: (value, where)
            for column, (bottom, value, where) in self._open_merges.items()
            if bottom >= row.number and column not in row.cells
        }
        # A merged cell counts for the rows it touches, not for a table further along the same line.
        carried: dict[int, tuple[str, str]] = {}
        for steps in (range(min(row.cells) - 1, -1, -1), range(max(row.cells) + 1, 1 << 20)):
            for column in steps:
                if column not in open_here:
                    break
                carried[column] = open_here[column]
        inside = range(min(row.cells), max(row.cells))
        carried |= {column: found for column, found in open_here.items() if column in inside}
        for column, cell in row.cells.items():
            bottom = self._tall.get((row.number, column))
            if bottom is not None:
                self._open_merges[column] = (bottom, cell.value, f"{column_letters(column)}{row.number}")
        return carried


def _segments(columns: set[int]) -> Iterator[set[int]]:
    """Yield the runs of neighbouring columns, where there are several."""
    ordered = sorted(columns)
    starts = [at for at, column in enumerate(ordered) if not at or column > ordered[at - 1] + 1]
    if len(starts) > 1:
        for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True):
            yield set(ordered[start:end])


def _block(row: SheetRow, following: Iterable[SheetRow]) -> list[SheetRow]:
    """Return the rows that follow without a gap; one empty row may part a header from them."""
    found: list[SheetRow] = []
    last = row.number
    for below in following:
        if below.number > last + 1 + (not found):
            break
        found.append(below)
        last = below.number
    return found
