"""Tables drawn with rules: a grid of cells from the lines and boxes on a page.

The "lattice" way of Camelot and pdfplumber: horizontal and vertical rules that touch make a component, its
coordinates make a grid, and neighbouring grid fields without a rule between them are one cell.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import NamedTuple, TypeAlias

from ingest.parsers.page_lines import Box

_THIN = 3.0
_SNAP = 2.5
# A page with more rules than this is a drawing or a map; no table is worth the quadratic search.
_MAX_RULES = 4000
_MAX_FIELDS = 20_000


_Field: TypeAlias = tuple[int, int]  # row, column


class _Rule(NamedTuple):
    """A horizontal (at y) or vertical (at x) rule from ``start`` to ``end``."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A grid of fields, some of which are one cell together.

    Attributes:
        xs: the vertical edges of the fields, from left to right.
        ys: the horizontal edges, from top to bottom.
        cells: for each field, by row and column, the (row, column) in which its cell starts.
        lefts: for each cell the x of its left edge.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[tuple[_Field, ...], ...]
    lefts: Mapping[_Field, float]

    @property
    def box(self) -> Box:
        """Bounds of the whole table."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]


def ruled_tables(shapes: Iterable[Box]) -> list[RuledTable]:
    """Find the tables that the drawn shapes of a page make, from top to bottom.

    Args:
        shapes: bounds of drawn lines and boxes; a shape thinner than 3 points is a rule, any other
            gives its four edges. Outlined and filled boxes count alike (tables made of shaded cells).
    """
    across, down = _rules(shapes)
    if not across or not down or len(across) + len(down) > _MAX_RULES:
        return []
    tables = [_table(*component) for component in _components(across, down)]
    return sorted((table for table in tables if table), key=lambda table: table.box[1])


def _rules(shapes: Iterable[Box]) -> tuple[list[_Rule], list[_Rule]]:
    across: list[_Rule] = []
    down: list[_Rule] = []
    for x0, y0, x1, y1 in shapes:
        wide, high = x1 - x0, y1 - y0
        if high <= _THIN < wide:
            across.append(_Rule((y0 + y1) / 2, x0, x1))
        elif wide <= _THIN < high:
            down.append(_Rule((x0 + x1) / 2, y0, y1))
        elif wide > _THIN:
            across += [_Rule(y0, x0, x1), _Rule(y1, x0, x1)]
            down += [_Rule(x0, y0, y1), _Rule(x1, y0, y1)]
    return _merge(across), _merge(down)


def _merge(rules: list[_Rule]) -> list[_Rule]:
    """Snap rules to common coordinates and join those that touch."""
    merged: list[_Rule] = []
    for line in _clusters(rules):
        at = sum(rule.at for rule in line) / len(line)
        for rule in sorted(line, key=lambda rule: rule.start):
            if merged and merged[-1].at == at and rule.start <= merged[-1].end + _SNAP:
                merged[-1] = merged[-1]._replace(end=max(merged[-1].end, rule.end))
            else:
                merged.append(_Rule(at, rule.start, rule.end))
    return merged


def _clusters(rules: list[_Rule]) -> list[list[_Rule]]:
    clusters: list[list[_Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if clusters and rule.at - clusters[-1][-1].at <= _SNAP and rule.at - clusters[-1][0].at <= 2 * _SNAP:
            clusters[-1].append(rule)
        else:
            clusters.append([rule])
    return clusters


def _components(across: list[_Rule], down: list[_Rule]) -> list[tuple[list[_Rule], list[_Rule]]]:
    """Group rules that touch each other, directly or through others."""
    parent = list(range(len(across) + len(down)))
    places = [rule.at for rule in down]  # in order, as merging leaves them
    for h, rule in enumerate(across):
        first, last = bisect_left(places, rule.start - _THIN), bisect_right(places, rule.end + _THIN)
        for v in range(first, last):
            if down[v].start - _THIN <= rule.at <= down[v].end + _THIN:
                _union(parent, h, len(across) + v)
    groups: dict[int, tuple[list[_Rule], list[_Rule]]] = {}
    for index, rule in enumerate([*across, *down]):
        group = groups.setdefault(_root(parent, index), ([], []))
        group[index >= len(across)].append(rule)
    return [group for group in groups.values() if len(group[0]) >= 2 and len(group[1]) >= 2]


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _union(parent: list[int], one: int, other: int) -> None:
    parent[_root(parent, one)] = _root(parent, other)


def _table(across: list[_Rule], down: list[_Rule]) -> RuledTable | None:
    xs = _stops([rule.at for rule in down], [end for rule in across for end in (rule.start, rule.end)])
    ys = _stops([rule.at for rule in across], [end for rule in down for end in (rule.start, rule.end)])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 2 or columns < 2 or rows * columns > _MAX_FIELDS:
        return None
    parent = list(range(rows * columns))
    middles = [(left + right) / 2 for left, right in pairwise(xs)]
    for row in range(1, rows):
        for column, ruled in enumerate(_ruled(across, ys[row], middles)):
            if not ruled:
                _union(parent, row * columns + column, (row - 1) * columns + column)
    middles = [(top + bottom) / 2 for top, bottom in pairwise(ys)]
    for column in range(1, columns):
        for row, ruled in enumerate(_ruled(down, xs[column], middles)):
            if not ruled:
                _union(parent, row * columns + column, row * columns + column - 1)
    return _trimmed(xs, ys, [_root(parent, index) for index in range(rows * columns)])


def _stops(at: list[float], ends: list[float]) -> list[float]:
    """Return the grid's coordinates: those of the rules, and the outermost ends of the crossing ones."""
    stops: list[float] = []
    for value in sorted([*at, min(ends), max(ends)]):
        if not stops or value - stops[-1] > 2 * _SNAP:
            stops.append(value)
    return stops


def _ruled(rules: Sequence[_Rule], at: float, middles: Sequence[float]) -> list[bool]:
    """Tell for each of some points on the line ``at`` whether a rule runs there."""
    ruled = [False] * len(middles)
    first = bisect_left(rules, (at - 2 * _SNAP,))
    for rule in rules[first : bisect_right(rules, (at + 2 * _SNAP, inf))]:
        start, end = bisect_left(middles, rule.start), bisect_right(middles, rule.end)
        ruled[start:end] = [True] * (end - start)
    return ruled


def _trimmed(xs: list[float], ys: list[float], roots: list[int]) -> RuledTable | None:
    columns = len(xs) - 1
    fields: dict[int, list[_Field]] = {}
    for index, root in enumerate(roots):
        fields.setdefault(root, []).append(divmod(index, columns))
    in_row = Counter(parts[0][0] for parts in fields.values())
    if len(fields) < 4 or max(in_row.values()) < 2:
        return None
    cells = _filled(list(fields.values()), len(ys) - 1, columns)
    lefts = {parts[0]: xs[min(column for _, column in parts)] for parts in fields.values()}
    return RuledTable(tuple(xs), tuple(ys), cells, lefts) if cells else None


def _filled(groups: list[list[_Field]], rows: int, columns: int) -> tuple[tuple[_Field, ...], ...]:
    """Give every field the start of its cell; empty when the shapes tangle too much to be a table.

    Fields that make no rectangle are the work of stray rules: the first such cell takes all it surrounds.
    """
    cells: list[list[_Field | None]] = [[None] * columns for _ in range(rows)]
    work = 0
    for parts in groups:
        (top, first), (bottom, last) = parts[0], parts[-1]
        if len(parts) > 1:
            first, last = min(column for _, column in parts), max(column for _, column in parts)
        work += (bottom - top + 1) * (last - first + 1)
        if work > _MAX_FIELDS:
            return ()
        for row in cells[top : bottom + 1]:
            for column in range(first, last + 1):
                row[column] = row[column] or parts[0]
    return tuple(tuple(cell for cell in row if cell) for row in cells)


def cell_of(table: RuledTable, x: float, y: float) -> _Field | None:
    """Return (row, column) of the cell that holds a point, None outside the table."""
    row, column = _between(table.ys, y), _between(table.xs, x)
    return None if row is None or column is None else table.cells[row][column]


def separators(table: RuledTable, box: Box) -> list[float]:
    """Return the x of the cell borders that cross a line of text, from left to right."""
    row = _between(table.ys, (box[1] + box[3]) / 2)
    if row is None:
        return []
    first, last = bisect_right(table.xs, box[0]), bisect_left(table.xs, box[2])
    crossed = {table.lefts[cell] for cell in table.cells[row][max(first - 1, 0) : last]}
    return sorted(x for x in crossed if box[0] + 1 < x < box[2] - 1)


def _between(edges: Sequence[float], at: float) -> int | None:
    """Return the index of the field between two edges that holds a value, None outside of them."""
    if not edges[0] <= at <= edges[-1]:
        return None
    return max(bisect_left(edges, at) - 1, 0)
