"""Tables of a WordprocessingML document: which cell stands in which column, and what columns are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.model import Cell
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.tables import header_names, is_header

_TRANSPARENT = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
_MAX_SPAN = 1000


@dataclass
class TableRow:
    """A row that has been read: shown values by column, and those carried down from a merged cell above."""

    shown: dict[int, str] = field(default_factory=dict)
    carried: dict[int, str] = field(default_factory=dict)
    spans: dict[int, int] = field(default_factory=dict)
    is_header: bool = False  # the author marked it as one

    def text(self) -> str:
        """Return the row as it reads."""
        return " | ".join(value for value in self.shown.values() if value)

    def cells(self, names: dict[int, str]) -> tuple[Cell, ...]:
        """Return the values with their columns' names; a merged cell counts for each of its rows."""
        values = sorted((self.carried | self.shown).items())
        return tuple(
            Cell(name=names.get(column, str(column + 1)), value=value) for column, value in values if value
        )


def children(node: Node, name: str) -> Iterator[Node]:
    """Yield rows of a table or cells of a row, through content controls and insertions, without deletions."""
    for child in node:
        found = local(child)
        if found == name:
            if not _is_deleted(child):
                yield child
        elif found in _TRANSPARENT:
            yield from children(child, name)


def _is_deleted(node: Node) -> bool:
    properties = node.find(tag("w:trPr"))
    properties = node.find(tag("w:tcPr")) if properties is None else properties
    return properties is not None and any(local(child) in ("del", "cellDel") for child in properties)


def start_row(node: Node) -> TableRow:
    """Return an empty row; columns skipped at its start are counted by ``first_column``."""
    mark = node.find(f"{tag('w:trPr')}/{tag('w:tblHeader')}")
    return TableRow(is_header=mark is not None and attribute(mark, "val", "1") not in ("0", "false", "off"))


def first_column(node: Node) -> int:
    """Return how many grid columns a row leaves out at its start."""
    return _count(node.find(f"{tag('w:trPr')}/{tag('w:gridBefore')}"), 0)


def span(cell: Node) -> int:
    """Return how many columns a cell covers."""
    return _count(cell.find(f"{tag('w:tcPr')}/{tag('w:gridSpan')}"), 1)


def continues_above(cell: Node) -> bool:
    """Return whether a cell is the lower part of a vertically merged one."""
    merge = cell.find(f"{tag('w:tcPr')}/{tag('w:vMerge')}")
    return merge is not None and attribute(merge, "val", "continue") == "continue"


def _count(node: Node | None, default: int) -> int:
    text = attribute(node, "val")
    return min(int(text), _MAX_SPAN) if text.isdecimal() else default


def name_columns(rows: list[TableRow]) -> tuple[int, dict[int, str]]:
    """Return how many rows are header rows, and the names of the columns they give."""
    marked = next((at for at, row in enumerate(rows) if not row.is_header), len(rows))
    if 0 < marked < len(rows):
        names: dict[int, str] = {}
        for row in rows[:marked]:
            for column, name in _spread(row).items():
                names[column] = f"{names[column]} {name}" if names.get(column, name) != name else name
        return marked, names
    if rows and is_header(_spread(rows[0]), [row.shown for row in rows[1:]]):
        return 1, _spread(rows[0])
    return 0, {}


def _spread(row: TableRow) -> dict[int, str]:
    names = header_names(row.shown)
    return {
        column + offset: name for column, name in names.items() for offset in range(row.spans.get(column, 1))
    }
