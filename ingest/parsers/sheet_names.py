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
        if row.number > self._last + 1 and not self._fits(row):
            self._names = {}
        self._last = row.number
        names = self._header(row, waiting)
        if names:
            self._names = {**self._names, **names} if self._is_table_top(row) else names
        return NamedRow(row, {} if names else self._names, bool(names), self._carry(row))

    def _fits(self, row: SheetRow) -> bool:
        return len(row.cells) > 1 and set(row.cells) <= set(self._names)

    def _is_table_top(self, row: SheetRow) -> bool:
        return any(area.top == row.number for area in self.tables)

    def _header(self, row: SheetRow, following: Iterable[SheetRow]) -> dict[int, str]:
        """Return the names a row gives, {} where it is no header."""
        for area in self.tables:
            if area.top == row.number:
                inside = {
                    column: cell.value
                    for column, cell in row.cells.items()
                    if area.left <= column <= area.right
                }
                return header_names(inside)
        spread = self._spread(row)
        block = _block(row, following)
        strong = all(cell.is_strong for cell in row.cells.values()) and not all(
            cell.is_strong for below in block[:1] for cell in below.cells.values()
        )
        if self._names and not strong:
            return {}
        first = {column: cell.value for column, cell in row.cells.items()}
        under = [{column: cell.value for column, cell in below.cells.items()} for below in block]
        return header_names(spread) if is_header(first, under, emphasised=strong) else {}

    def _spread(self, row: SheetRow) -> dict[int, str]:
        found: dict[int, str] = {}
        for column, cell in row.cells.items():
            last = min(self._spans.get((row.number, column), column), column + 1000)
            found |= dict.fromkeys(range(column, last + 1), cell.value)
        return found

    def _carry(self, row: SheetRow) -> dict[int, tuple[str, str]]:
        carried = {
            column: (value, where)
            for column, (bottom, value, where) in self._open_merges.items()
            if bottom >= row.number and column not in row.cells
        }
        for column, cell in row.cells.items():
            bottom = self._tall.get((row.number, column))
            if bottom is not None:
                self._open_merges[column] = (bottom, cell.value, f"{column_letters(column)}{row.number}")
        return carried


def _block(row: SheetRow, following: Iterable[SheetRow]) -> list[SheetRow]:
    """Return the rows that follow without a gap."""
    found: list[SheetRow] = []
    last = row.number
    for below in following:
        if below.number != last + 1:
            break
        found.append(below)
        last = below.number
    return found
