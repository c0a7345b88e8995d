"""Rows of HTML tables: which are data, which only lay out a page, and what their columns are called."""

from __future__ import annotations

from pydantic import JsonValue

from ingest.model import Cell, ElementKind
from ingest.parsers.html_text import Block

_LAYOUT_ROLES = frozenset({"presentation", "none"})
# Kinds of blocks that do not stand in a cell of data.
_STRUCTURE = frozenset({ElementKind.HEADING, ElementKind.TABLE_ROW, ElementKind.CODE})
_MAX_CELL_TEXT = 2000
_MAX_SPAN = 1000  # as the HTML standard
_MAX_CARRIED = 64


class _Cell:
    def __init__(self, column: int, width: int, height: int, is_header: bool) -> None:
        self.column, self.width, self.height, self.is_header = column, width, height, is_header
        self.blocks: list[Block] = []

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)


class Table:
    """A table being read row by row; a finished row is given away at once.

    Attributes:
        depth: how many tables are open with it.
        cell: blocks of the cell that is open, None between cells.
        caption: set when it has one.
    """

    def __init__(self, depth: int, attributes: dict[str, str]) -> None:
        self.depth = depth
        self.cell: list[Block] | None = None
        self.caption = ""
        self._lays_out = attributes.get("role", "").lower() in _LAYOUT_ROLES
        self._row: list[_Cell] = []
        self._number = 0
        self._names: dict[int, list[str]] = {}
        self._in_head = False
        self._has_data = False
        self._carried: dict[int, tuple[int, str]] = {}  # column -> (rows to come, value) of a cell that spans

    def enter(self, name: str, attributes: dict[str, str]) -> None:
        """Open a part of the table: "thead", "td" or "th"."""
        if name == "thead":
            self._in_head = True
        elif name in ("td", "th"):
            width = _span(attributes.get("colspan", "1"))
            height = _span(attributes.get("rowspan", "1"))
            self._row.append(_Cell(self._next_column(), width, height, name == "th"))
            self.cell = self._row[-1].blocks

    def leave(self, name: str) -> list[Block]:
        """Close a part of the table; return the blocks that are complete with it."""
        if name in ("td", "th"):
            self.cell = None
        elif name == "thead":
            self._in_head = False
        elif self._row:
            return self._finish_row()
        return []

    def _next_column(self) -> int:
        column = self._row[-1].column + self._row[-1].width if self._row else 0
        while column in self._carried:
            column += 1
        return column

    def _finish_row(self) -> list[Block]:
        row, self._row, self.cell = self._row, [], None
        inherited = self._carry(row)
        blocks = [block for cell in row for block in cell.blocks]
        if not blocks:
            return []
        self._number += 1
        is_header = not self._has_data and (self._in_head or all(cell.is_header for cell in row))
        if self._is_layout(row, is_header):
            return blocks
        if is_header:
            self._learn_names(row)
        self._has_data = self._has_data or not is_header
        return [self._as_row(row, inherited, blocks, is_header)]

    def _is_layout(self, row: list[_Cell], is_header: bool) -> bool:
        if self._lays_out or any(block.kind in _STRUCTURE for cell in row for block in cell.blocks):
            return True
        if any(len(cell.text) > _MAX_CELL_TEXT for cell in row):
            return True
        is_known = is_header or self._has_data or self._names
        return not is_known and sum(bool(cell.blocks) for cell in row) < 2

    def _as_row(
        self, row: list[_Cell], inherited: dict[int, str], blocks: list[Block], is_header: bool
    ) -> Block:
        values = inherited | {cell.column: cell.text for cell in row}
        metadata: dict[str, JsonValue] = {"row": self._number}
        if self.caption:
            metadata["table"] = self.caption
        if is_header:
            metadata["header"] = True
        cells = tuple(
            Cell(name=values[column] if is_header else self._name(column), value=values[column])
            for column in sorted(values)
        )
        return Block(
            ElementKind.TABLE_ROW,
            " | ".join(cell.text for cell in row),
            min(block.line_start for block in blocks),
            max(block.line_end for block in blocks),
            0,
            blocks[0].headings,
            cells,
            metadata,
        )

    def _learn_names(self, row: list[_Cell]) -> None:
        if len(row) == 1 and row[0].width > 1:  # one cell over all columns names the table, not a column
            self.caption = self.caption or row[0].text
            return
        for cell in row:
            text = " ".join(cell.text.split())
            for column in range(cell.column, cell.column + cell.width):
                names = self._names.setdefault(column, [])
                if text and text not in names:
                    names.append(text)

    def _name(self, column: int) -> str:
        return " ".join(self._names.get(column, ())) or str(column + 1)

    def _carry(self, row: list[_Cell]) -> dict[int, str]:
        """Note the cells that reach into later rows; return what this row inherits, by column."""
        inherited = {column: value for column, (_, value) in self._carried.items()}
        self._carried = {
            column: (left - 1, value) for column, (left, value) in self._carried.items() if left > 1
        }
        for cell in row:
            if cell.height > 1 and len(self._carried) < _MAX_CARRIED:
                self._carried[cell.column] = (cell.height - 1, cell.text)
        return inherited


def _span(text: str) -> int:
    return min(max(int(text), 1), _MAX_SPAN) if text.isdecimal() and len(text) < 6 else 1
