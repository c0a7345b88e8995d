"""The order in which the lines of a page are read: columns, tables without rules, running text.

After the recursive XY-cut (Nagy, Seth, Viswanathan 1992), with two changes: neighbouring rows are gathered
as long as a gutter (a white strip from top to bottom) runs through all of them, so a heading across two
columns ends the columns; and whether such a stretch is read down or across is decided from what stands in
it and from the order in which its source draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from ingest.parsers.gutters import Cover, Strip, gutters_of
from ingest.parsers.page_lines import Line, hull, is_marker, is_rtl, join_row, rows_of, stack

_MAX_DEPTH = 6
_NUMBER_SHARE = 0.5

_Row: TypeAlias = list[Line]


@dataclass(frozen=True, slots=True)
class Flow:
    """Lines read one after the other."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows read across; a cell is a line or None where the row has nothing in that column."""

    rows: tuple[tuple[Line | None, ...], ...]


Region: TypeAlias = Flow | Grid


def read_order(lines: Sequence[Line], depth: int = 0) -> Iterator[Region]:
    """Yield the regions of a page in reading order. Every line appears in exactly one of them."""
    rows = [_attach_markers(row) for row in rows_of(lines)]
    pending: list[Line] = []
    for group, gutters in _stretches(rows):
        if not gutters or len(group) == 1 or depth >= _MAX_DEPTH:
            pending += [join_row(row) for row in group]
            continue
        if pending:
            yield Flow(tuple(pending))
            pending = []
        yield from _columns_or_grid(group, gutters, depth)
    if pending:
        yield Flow(tuple(pending))


def _attach_markers(row: list[Line]) -> list[Line]:
    """Join the label of a list item with the text beside it, which a tab stop keeps apart."""
    joined: list[Line] = []
    for line in row:
        last = joined[-1] if joined else None
        if last and is_marker(last.text) and 0 <= line.box[0] - last.box[2] < 6 * line.size:
            joined[-1] = join_row([last, line])
        else:
            joined.append(line)
    return joined


def _stretches(rows: list[_Row]) -> Iterator[tuple[list[_Row], list[Strip]]]:
    """Split rows into runs that share a gutter, and the runs between them, which share none."""
    flow: list[_Row] = []
    index = 0
    while index < len(rows):
        start = gutters_of([rows[index]])
        if not start and not (flow and _beside(flow[-1], rows[index])):
            flow.append(rows[index])
            index += 1
            continue
        taken = _rows_above(flow, rows[index]) or (0 if start else 1)
        group = [*flow[len(flow) - taken :], rows[index]]
        del flow[len(flow) - taken :]
        if flow:
            yield flow, []
        flow = []
        index, gutters = _extend(group, rows, index + 1)
        yield group, gutters
    if flow:
        yield flow, []


def _extend(group: list[_Row], rows: list[_Row], index: int) -> tuple[int, list[Strip]]:
    """Add rows to ``group`` as long as a gutter is left; return the next row's index and the gutters."""
    cover = Cover()
    for row in group:
        cover.add(row)
    gutters = cover.gutters()
    while index < len(rows):
        cover.add(rows[index])
        narrower = cover.gutters()
        if not narrower or (len(rows[index]) == 1 and _starts_anew(group, rows[index][0])):
            break
        group.append(rows[index])
        gutters = narrower
        index += 1
    return index, gutters


def _beside(upper: _Row, lower: _Row) -> bool:
    """Tell whether two rows overlap in height and stand side by side: columns with unequal leading."""
    if len(upper) != 1 or len(lower) != 1:
        return False
    return lower[0].box[1] < upper[0].box[3] - 0.2 * upper[0].size and bool(gutters_of([upper, lower]))


def _rows_above(flow: list[_Row], first: _Row) -> int:
    """Count the rows above the first row of some columns that belong to one of the columns already."""
    count = 0
    below = first
    for row in reversed(flow):
        tight = min(line.box[1] for line in below) - max(line.box[3] for line in row) < 0.5 * row[0].size
        if not tight:
            return count
        if len(row) > 1 or not gutters_of([row, *flow[len(flow) - count :], first]):
            return 0  # the last lines of a paragraph that runs across the columns
        count += 1
        below = row
    return count


def _starts_anew(group: list[_Row], line: Line) -> bool:
    """Tell whether a line alone in its row ends the columns above it: a heading, a part after a gap."""
    gap = line.box[1] - max(item.box[3] for row in group for item in row)
    normal = median(item.size for row in group for item in row)
    stands_out = line.size > 1.1 * normal or (line.bold and not all(item.bold for item in group[-1]))
    return gap > (0.6 if stands_out else 2.5) * normal


def _columns_or_grid(rows: list[_Row], gutters: list[Strip], depth: int) -> Iterator[Region]:
    columns: list[_Row] = [[] for _ in range(len(gutters) + 1)]
    for row in rows:
        for line in row:
            columns[_column(line, gutters)].append(line)
    if _reads_down(rows, columns):
        if is_rtl("".join(line.text for column in columns for line in column)):
            columns.reverse()
        for column in columns:
            yield from read_order(column, depth + 1)
    else:
        yield _grid(rows, gutters)


def _reads_down(rows: list[_Row], columns: list[_Row]) -> bool:
    full = [column for column in columns if len(column) >= 3]
    if len(full) >= 2 and all(_is_prose(column) for column in full):
        return True
    if _is_numeric(columns):
        return False
    across = sum(len(row) > 1 for row in rows)
    if across * 3 < len(rows):
        return True
    return _drawn_down(rows)


def _is_prose(column: list[Line]) -> bool:
    left, _, right, _ = hull(line.box for line in column)
    fill = median(line.box[2] - line.box[0] for line in column) / max(right - left, 1)
    return fill > 0.7 and median(len(line.text) for line in column) >= 20


def _is_numeric(columns: list[_Row]) -> bool:
    texts = [line.text for column in columns[1:] for line in column]
    numeric = sum(sum(char.isdigit() for char in text) * 2 > len(text.strip()) for text in texts)
    return numeric > _NUMBER_SHARE * len(texts)


def _drawn_down(rows: list[_Row]) -> bool:
    """Tell whether the source draws column by column: then its author meant columns, else a table."""
    where = {id(line): number for number, row in enumerate(rows) for line in row}
    lines = [line for row in rows for line in row if line.order >= 0]
    drawn = sorted(lines, key=lambda line: line.order)
    steps = list(pairwise(drawn))
    same_row = sum(where[id(one)] == where[id(other)] for one, other in steps)
    possible = sum(len(row) - 1 for row in rows)
    return bool(steps) and same_row * 2 < possible


def _grid(rows: list[_Row], gutters: list[Strip]) -> Grid:
    cells: list[list[list[Line]]] = []
    bottom = float("-inf")
    for row in rows:
        split: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
        for line in row:
            split[_column(line, gutters)].append(line)
        top = min(line.box[1] for line in row)
        if cells and not split[0] and top - bottom < 0.15 * row[0].size:
            for cell, more in zip(cells[-1], split, strict=True):
                cell.extend(more)
        else:
            cells.append(split)
        bottom = max(line.box[3] for line in row)
    if is_rtl("".join(line.text for row in rows for line in row)):
        cells = [split[::-1] for split in cells]
    return Grid(tuple(tuple(_cell(lines) for lines in row) for row in cells))


def _column(line: Line, gutters: Sequence[Strip]) -> int:
    return sum(line.box[0] >= right - 0.01 for _, right in gutters)


def _cell(lines: list[Line]) -> Line | None:
    if not lines:
        return None
    return stack([join_row(row) for row in rows_of(lines)])
