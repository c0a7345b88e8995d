"""One PDF page: its lines and ruled tables in reading order."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ingest.parsers.page_lines import Box, Line, contains, hull, join_row, rows_of
from ingest.parsers.paragraphs import SENTENCE_ENDS, Block, join_lines, paragraphs
from ingest.parsers.pdf_text import TextLayer
from ingest.parsers.reading_order import Flow, Grid, read_order
from ingest.parsers.ruled_tables import RuledTable, cell_of, ruled_tables, separators


@dataclass(frozen=True, slots=True)
class Cell:
    """Text of a table cell and where it stands on the page as shown."""

    text: str
    place: Box
    bold: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table; rows have equal length, None where a cell is empty or covered by its neighbour."""

    rows: tuple[tuple[Cell | None, ...], ...]


Part: TypeAlias = Block | Table

_MAX_CELL_TEXT = 700
_LEAST_PROSE = 40


def page_parts(layer: TextLayer, words: Container[str] = frozenset()) -> Iterator[Part]:
    """Yield the paragraphs and tables of a page in reading order.

    Text that runs in another direction than most (margin notes, stamps) follows after the rest.

    Args:
        layer: the page's text.
        words: lower-case words of the document, see ``paragraphs``.
    """
    lifted, rest = _lift_tables(layer, layer.lines.get(layer.main, []), words)
    yield from joined_columns(_ordered(rest, words, lifted), words)
    for turn in sorted(layer.lines):
        if turn != layer.main:
            for part in _ordered(layer.lines[turn], words):
                yield replace(part, aside=True) if isinstance(part, Block) else part


def joined_columns(parts: Iterable[Part], words: Container[str]) -> Iterator[Part]:
    """Join a paragraph with its rest at the top of the next column.

    The upper part ends without a full stop at the foot, the lower one starts with a small letter further up.
    """
    held: Part | None = None
    for part in parts:
        if isinstance(held, Block) and isinstance(part, Block) and _goes_on(held, part):
            held = Block((*held.lines, *part.lines), join_lines(held.text, part.text, words))
            continue
        if held is not None:
            yield held
        held = part
    if held is not None:
        yield held


def _goes_on(upper: Block, lower: Block) -> bool:
    above, below = upper.lines[-1], lower.lines[0]
    in_next_column = below.box[1] < above.box[1] - above.size and below.box[0] > above.box[0]
    same_type = abs(above.size - below.size) < 0.1 * above.size and above.bold == below.bold
    return (
        in_next_column
        and same_type
        and upper.text[-1:] not in SENTENCE_ENDS
        and lower.text[:1].islower()
        and len(upper.text) > _LEAST_PROSE
    )


def _ordered(lines: list[Line], words: Container[str], lifted: Sequence[list[Part]] = ()) -> Iterator[Part]:
    for region in read_order(lines):
        if isinstance(region, Grid):
            yield _grid_table(region)
        else:
            yield from _flow_parts(region, words, lifted)


def _flow_parts(flow: Flow, words: Container[str], lifted: Sequence[list[Part]]) -> Iterator[Part]:
    run: list[Line] = []
    for line in flow.lines:
        if line.table is None:
            run.append(line)
            continue
        yield from paragraphs(run, words)
        run = []
        yield from lifted[line.table]
    yield from paragraphs(run, words)


def _grid_table(grid: Grid) -> Table:
    rows = [
        [Cell(line.text.strip(), line.place, line.bold) if line else None for line in row]
        for row in grid.rows
    ]
    return Table(tuple(map(tuple, rows)))


def _lift_tables(
    layer: TextLayer, lines: list[Line], words: Container[str]
) -> tuple[list[list[Part]], list[Line]]:
    """Lift ruled tables out of the lines, leaving one line in the place of each."""
    lifted: list[list[Part]] = []
    for found in ruled_tables(layer.shapes) if len(lines) > 3 else []:
        inside = [line for line in lines if line.table is None and contains(found.box, line.box)]
        cells = _fill(found, inside, layer)
        if cells is None:
            continue
        taken = set(map(id, inside))
        lines = [line for line in lines if id(line) not in taken]
        lines.append(replace(inside[0], text="", box=found.box, place=found.box, table=len(lifted)))
        lifted.append(_table_parts(cells, words))
    return lifted, lines


_Cells: TypeAlias = dict[tuple[int, int], list[Line]]


def _fill(found: RuledTable, lines: list[Line], layer: TextLayer) -> _Cells | None:
    """Put lines into the cells; None when the rules are a frame around text and no table."""
    cells: _Cells = {}
    crossed = {id(line): edges for line in lines if (edges := separators(found, line.box))}
    words = layer.words() if crossed else []
    for line in lines:
        for part in _split(line, crossed.get(id(line), []), words):
            middle = ((part.box[0] + part.box[2]) / 2, (part.box[1] + part.box[3]) / 2)
            where = cell_of(found, *middle)
            if where is None:
                return None
            cells.setdefault(where, []).append(part)
    if len({row for row, _ in cells}) < 2 or len({column for _, column in cells}) < 2:
        return None
    return cells


def _split(line: Line, edges: list[float], words: list[Line]) -> list[Line]:
    """Split a line where a cell border runs between two of its words."""
    if not edges:
        return [line]
    groups: dict[int, list[Line]] = {}
    for word in words:
        if contains(line.box, word.box, 0):
            side = sum((word.box[0] + word.box[2]) / 2 > edge for edge in edges)
            groups.setdefault(side, []).append(word)
    if len(groups) < 2:
        return [line]
    return [
        replace(
            line,
            text=" ".join(word.text for word in group),
            box=hull(word.box for word in group),
            place=hull(word.place for word in group),
        )
        for group in groups.values()
    ]


def _table_parts(cells: _Cells, words: Container[str]) -> list[Part]:
    """Return tables, and between them the text of rows whose cells only arrange the page."""
    columns = sorted({column for _, column in cells})
    parts: list[Part] = []
    rows: list[tuple[Cell | None, ...]] = []
    for number in sorted({row for row, _ in cells}):
        row = [cells.get((number, column), []) for column in columns]
        if not _is_page_like(row):
            rows += [tuple(_cell(lines, words) for lines in record) for record in _records(row)]
            continue
        parts += [Table(tuple(rows))] if rows else []
        rows = []
        parts += [part for lines in row for part in _ordered(lines, words)]
    return [*parts, Table(tuple(rows))] if rows else parts


def _is_page_like(row: list[list[Line]]) -> bool:
    """Tell whether a row holds stretches of a page (long text, a table of its own) and not values."""
    filled = [lines for lines in row if lines]
    if len(filled) > 2:
        return False
    return any(
        sum(len(line.text) for line in lines) > _MAX_CELL_TEXT
        or (len(lines) > 8 and any(isinstance(region, Grid) for region in read_order(lines)))
        for lines in filled
    )


def _records(row: list[list[Line]]) -> list[list[list[Line]]]:
    """Split a ruled row that holds several records, told by baselines that most of its cells share."""
    baselines = rows_of(line for lines in row for line in lines)
    filled = [lines for lines in row if lines]
    if len(baselines) < 2 or len(filled) < 3:
        return [row]
    where = {id(line): number for number, baseline in enumerate(baselines) for line in baseline}
    complete = sum(len({where[id(line)] for line in lines}) == len(baselines) for lines in filled)
    if complete < 0.7 * len(filled):
        return [row]
    return [
        [[line for line in lines if where[id(line)] == number] for lines in row]
        for number in range(len(baselines))
    ]


def _cell(lines: list[Line], words: Container[str]) -> Cell | None:
    if not lines:
        return None
    text = ""
    for row in rows_of(lines):
        text = join_lines(text, join_row(row).text, words)
    return Cell(text.strip(), hull(line.place for line in lines), all(line.bold for line in lines))
