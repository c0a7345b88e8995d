"""Tables drawn with rules: a grid of cells from the lines and boxes on a page.

The "lattice" way of Camelot and pdfplumber: horizontal and vertical rules that touch make a component, its
coordinates make a grid, and neighbouring grid fields without a rule between them are one cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingest.parsers.page_lines import Box, hull

_THIN = 3.0
_SNAP = 2.5
# A page with more rules than this is a drawing or a map; no table is worth the quadratic search.
_MAX_RULES = 4000
_MAX_FIELDS = 20_000


class _Rule(NamedTuple):
    """A horizontal (at y) or vertical (at x) rule from ``start`` to ``end``."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A grid; ``cells[row][column]`` is the box of the cell that starts there, None inside a wider one."""

    box: Box
    cells: tuple[tuple[Box | None, ...], ...]


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
    for h, rule in enumerate(across):
        for v, other in enumerate(down):
            if _cross(rule, other):
                _union(parent, h, len(across) + v)
    groups: dict[int, tuple[list[_Rule], list[_Rule]]] = {}
    for index, rule in enumerate([*across, *down]):
        group = groups.setdefault(_root(parent, index), ([], []))
        group[index >= len(across)].append(rule)
    return [group for group in groups.values() if len(group[0]) >= 2 and len(group[1]) >= 2]


def _cross(across: _Rule, down: _Rule) -> bool:
    return (
        across.start - _THIN <= down.at <= across.end + _THIN
        and down.start - _THIN <= across.at <= down.end + _THIN
    )


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
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            middle_y, middle_x = (ys[row] + ys[row + 1]) / 2, (xs[column] + xs[column + 1]) / 2
            if column + 1 < columns and not _ruled(down, xs[column + 1], middle_y):
                _union(parent, here + 1, here)
            if row + 1 < rows and not _ruled(across, ys[row + 1], middle_x):
                _union(parent, here + columns, here)
    return _trimmed(xs, ys, [_root(parent, index) for index in range(rows * columns)])


def _stops(at: list[float], ends: list[float]) -> list[float]:
    """Return the grid's coordinates: those of the rules, and the outermost ends of the crossing ones."""
    stops: list[float] = []
    for value in sorted([*at, min(ends), max(ends)]):
        if not stops or value - stops[-1] > 2 * _SNAP:
            stops.append(value)
    return stops


def _ruled(rules: Sequence[_Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= 2 * _SNAP and rule.start <= middle <= rule.end for rule in rules)


def _trimmed(xs: list[float], ys: list[float], roots: list[int]) -> RuledTable | None:
    columns = len(xs) - 1
    fields: dict[int, list[Box]] = {}
    for index, root in enumerate(roots):
        row, column = divmod(index, columns)
        fields.setdefault(root, []).append((xs[column], ys[row], xs[column + 1], ys[row + 1]))
    boxes = {root: hull(parts) for root, parts in fields.items()}
    first = {root: roots.index(root) for root in boxes}
    rows = [
        tuple(boxes[root] if first[root] == index else None for index, root in row)
        for row in (
            list(enumerate(roots))[start : start + columns] for start in range(0, len(roots), columns)
        )
    ]
    if len(boxes) < 4 or all(sum(cell is not None for cell in row) < 2 for row in rows):
        return None
    return RuledTable((xs[0], ys[0], xs[-1], ys[-1]), tuple(rows))


def cell_of(table: RuledTable, x: float, y: float) -> tuple[int, int] | None:
    """Return (row, column) of the cell that holds a point, None outside the table."""
    for row, cells in enumerate(table.cells):
        for column, box in enumerate(cells):
            if box and box[0] <= x <= box[2] and box[1] <= y <= box[3]:
                return row, column
    return None


def separators(table: RuledTable, box: Box) -> list[float]:
    """Return the x of the cell borders that cross a line of text, from left to right."""
    middle = (box[1] + box[3]) / 2
    level = [cell for cells in table.cells for cell in cells if cell and cell[1] <= middle <= cell[3]]
    return sorted({cell[0] for cell in level if box[0] + 1 < cell[0] < box[2] - 1})
