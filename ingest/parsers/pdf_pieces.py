"""From the parts of a page to pieces: what is a heading, a list item, a row, a paragraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from ingest.anchors import PageAnchor
from ingest.context import Piece
from ingest.model import Cell as RowCell
from ingest.model import ElementKind
from ingest.parsers.page_lines import Line, fold, hull, rounded, split_marker
from ingest.parsers.paragraphs import Block
from ingest.parsers.pdf_page import Part, Table
from ingest.parsers.tables import column_letters, is_header

_NUMBERED = re.compile(
    r"(?:(?:chapter|section|part|appendix)\s+)?(\d{1,2}(?:\.\d{1,2})*|[A-Z]|[IVX]{1,5})\.?\s+\S", re.I
)
_CAPTION = re.compile(r"(?:fig(?:ure|\.)?|table|tabelle|abb(?:ildung|\.)|tableau|图|表|圖)\s*\d", re.I)
_FOOTNOTE = re.compile(r"(?:\d{1,3}|[*∗†‡§]{1,3})\)?\s*[^\W\d_]")
_SENTENCE_END = (".", "。", "!", "！", "?", "？", ";", "；", ",", "，")


@dataclass
class Typography:
    """What sizes of type a document uses, learned while it is read.

    Attributes:
        sizes: characters seen by font size, rounded to half points.
        outline: bookmark titles (folded, blanks removed) and their level from 1.
    """

    sizes: Counter[float] = field(default_factory=Counter)
    outline: dict[str, int] = field(default_factory=dict)

    def see(self, line: Line) -> None:
        """Count the type of a line."""
        self.sizes[_half_points(line.size)] += len(line.text)

    @property
    def body(self) -> float:
        """Size of most characters, 0 while nothing was seen."""
        return self.sizes.most_common(1)[0][0] if self.sizes else 0.0

    def heading_level(self, block: Block) -> int:
        """Return the level of a heading (1 is the top), 0 for anything else.

        A bookmark of that title settles it. Else a heading is short, does not end like a sentence, and is
        set larger than the body or in bold; its level comes from its number ("2.1" is 2) or its size.
        """
        level = self.outline.get(fold(block.text), 0)
        if level:
            return level
        if (
            block.aside
            or len(block.text) > 200
            or len(block.lines) > 4
            or not any(char.isalpha() for char in block.text)
        ):
            return 0
        ratio = _half_points(block.size) / self.body if self.body else 1.0
        large = ratio >= 1.15
        if not large and not (block.bold and ratio >= 0.95 and len(block.lines) <= 2):
            return 0
        if block.text.endswith(_SENTENCE_END) and not (ratio >= 1.4):
            return 0
        return _level(block.text, ratio)


def _half_points(size: float) -> float:
    return round(size * 2) / 2


def _level(text: str, ratio: float) -> int:
    number = _NUMBERED.match(text)
    if number and number.group(1)[0].isdigit():
        return min(number.group(1).count(".") + 1, 6)
    for level, least in enumerate((1.7, 1.35, 1.15), start=1):
        if ratio >= least:
            return level
    return 4


def pieces_of(part: Part, page: int, typography: Typography, table: str) -> Iterator[Piece]:
    """Yield the pieces of a part of a page.

    Args:
        part: a paragraph or a table.
        page: 1-based.
        typography: of the document so far.
        table: name for the part, should it be a table.
    """
    if isinstance(part, Table):
        yield from _rows(part, page, table)
        return
    anchor = PageAnchor(page=page, bbox=rounded(part.place))
    level = typography.heading_level(part)
    if level:
        yield Piece(ElementKind.HEADING, part.text, anchor, level)
    else:
        kind = _kind(part, typography)
        yield Piece(kind, part.text, anchor, 1 if kind is ElementKind.LIST_ITEM else 0)


def _kind(block: Block, typography: Typography) -> ElementKind:
    if _CAPTION.match(block.text) and len(block.text) < 300:
        return ElementKind.CAPTION
    if block.size < 0.93 * typography.body and _FOOTNOTE.match(block.text):
        return ElementKind.FOOTNOTE
    return ElementKind.LIST_ITEM if split_marker(block.text)[0] else ElementKind.PARAGRAPH


def _rows(table: Table, page: int, name: str) -> Iterator[Piece]:
    names = header_names(table)
    for number, row in enumerate(table.rows):
        filled = [(names[column] or column_letters(column), cell) for column, cell in enumerate(row) if cell]
        if not filled:
            continue
        anchor = PageAnchor(page=page, bbox=rounded(hull(cell.place for _, cell in filled)))
        if len(filled) == 1 and len(row) > 1 and not number:
            yield Piece(ElementKind.CAPTION, filled[0][1].text, anchor)  # a title over all columns
            continue
        metadata: dict[str, JsonValue] = {"table": name, "row": number + 1}
        if number == 0 and any(names):
            metadata["header"] = True
        yield Piece(
            ElementKind.TABLE_ROW,
            " | ".join(cell.text for _, cell in filled),
            anchor,
            cells=tuple(RowCell(name=column, value=cell.text) for column, cell in filled),
            metadata=metadata,
        )


def header_names(table: Table) -> list[str]:
    """Return the names of the columns as the first row tells them, empty strings where it tells none."""
    first, *rest = [{column: cell.text for column, cell in enumerate(row) if cell} for row in table.rows]
    top = [cell for cell in table.rows[0] if cell]
    bold = all(cell.bold for cell in top) and not all(
        cell.bold for row in table.rows[1:] for cell in row if cell
    )
    if not is_header(first, rest, emphasised=bold):
        return [""] * len(table.rows[0])
    return [first.get(column, "") for column in range(len(table.rows[0]))]
