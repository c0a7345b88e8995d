"""The shapes of one slide, in the order they are drawn: titles, bodies, tables, pictures, charts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from ingest.anchors import SlideAnchor
from ingest.context import Piece
from ingest.model import Cell, ElementKind
from ingest.parsers.drawing import TextLine, alt_text, graphic_texts, text_lines, visible_branch
from ingest.parsers.graphic_pictures import graphic_pictures
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.opc import Package
from ingest.parsers.tables import header_names, is_header

# What LibreOffice writes into the empty footer of a master.
_PROMPT = re.compile(r"<[^<>]*>$|(?:header|footer)$", re.IGNORECASE)
_TITLES = ("title", "ctrTitle")
_MARGINS = {"ftr": ElementKind.FOOTER, "dt": ElementKind.FOOTER, "hdr": ElementKind.HEADER}
_PROPERTIES = frozenset({"nvSpPr", "nvPicPr", "nvGraphicFramePr", "nvGrpSpPr", "nvCxnSpPr"})
Part = Literal["title", "body", "table", "notes", "comment", "figure"]


@dataclass(frozen=True)
class SlideReader:
    """Reads one slide; ``metadata`` marks all its pieces."""

    package: Package
    part: str
    number: int
    metadata: dict[str, JsonValue]
    pictures: InnerPictures | None = None

    def _anchor(self, part: Part) -> SlideAnchor:
        return SlideAnchor(slide=self.number, part=part)

    def shapes(self, root: Node) -> Iterator[Piece]:
        """Yield the pieces of a slide: titles first, then the other shapes as drawn."""
        shapes = list(_leaves(root))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        for shape in titles:
            text = " ".join(" ".join(line.text.split()) for line in _lines(shape))
            if text:
                yield Piece(ElementKind.TITLE, text, self._anchor("title"), metadata=self.metadata)
        for shape in shapes:
            if shape not in titles:
                yield from self._shape(shape)

    def _shape(self, shape: Node) -> Iterator[Piece]:
        name = local(shape)
        if name == "graphicFrame":
            yield from self._frame(shape)
        elif name == "sp":
            yield from self._text(shape)
        text = alt_text(_properties(shape))
        if text:
            yield Piece(ElementKind.FIGURE, text, self._anchor("figure"), metadata=self.metadata)
        if name == "pic" and self.pictures:
            where = self._anchor("figure")
            yield from graphic_pictures(self.package, self.pictures, self.part, shape, where, self.metadata)

    def _text(self, shape: Node) -> Iterator[Piece]:
        kind = _placeholder(shape)
        if kind == "sldNum":
            return
        for line in _lines(shape):
            element, level = self._role(shape, kind, line)
            yield Piece(element, line.text, self._anchor("body"), level, metadata=self.metadata)

    def _role(self, shape: Node, placeholder: str | None, line: TextLine) -> tuple[ElementKind, int]:
        if placeholder in _MARGINS:
            return _MARGINS[placeholder], 0
        if placeholder == "subTitle":
            return ElementKind.PARAGRAPH, 0
        if placeholder is None:
            return ElementKind.TEXT_BOX, line.level
        return ElementKind.LIST_ITEM, line.level + 1

    def background(self, root: Node) -> Iterator[Piece]:
        """Yield what a layout or master draws on the slide itself: no placeholder but a filled footer."""
        for shape in _leaves(root):
            if _placeholder(shape) in (None, "ftr", "hdr"):
                yield from (piece for piece in self._shape(shape) if not _PROMPT.match(piece.text))

    def _frame(self, frame: Node) -> Iterator[Piece]:
        table = next(frame.iter(tag("a:tbl")), None)
        if table is not None:
            yield from self._table(table)
        for text in graphic_texts(self.package, self.part, frame):
            yield Piece(ElementKind.FIGURE, text, self._anchor("figure"), metadata=self.metadata)

    def _table(self, table: Node) -> Iterator[Piece]:
        marked = attribute(table.find(tag("a:tblPr")), "firstRow") in ("1", "true")
        shown = [_row_values(row) for row in table.iter(tag("a:tr"))]
        named = bool(shown) and is_header(shown[0], shown[1:], emphasised=marked)
        names = header_names(shown[0]) if named else {}
        above: dict[int, str] = {}
        for at, (row, node) in enumerate(zip(shown, table.iter(tag("a:tr")), strict=True)):
            carried = {column: above[column] for column in _continued(node) if column in above}
            above |= row
            if not row:
                continue
            header: dict[str, JsonValue] = {"header": True} if named and not at else {}
            yield Piece(
                ElementKind.TABLE_ROW,
                " | ".join(row.values()),
                self._anchor("table"),
                cells=_cells(carried | row, names if at else {}),
                metadata={**self.metadata, "row": at + 1, **header},
            )

    def notes(self, root: Node) -> Iterator[Piece]:
        """Yield the speaker notes and what stands in the margins of the notes page."""
        for shape in _leaves(root):
            kind = _placeholder(shape)
            if kind in ("sldNum", "sldImg") or local(shape) not in ("sp", "graphicFrame"):
                continue
            element = _MARGINS.get(kind or "", ElementKind.NOTE)
            for line in _lines(shape):
                yield Piece(element, line.text, self._anchor("notes"), line.level, metadata=self.metadata)


def _leaves(root: Node) -> Iterator[Node]:
    """Yield the shapes of a tree, groups opened, alternatives read once."""
    for node in root:
        name = local(node)
        if name == "AlternateContent":
            yield from _leaves(visible_branch(node))
        elif name in ("sp", "pic", "graphicFrame", "cxnSp", "contentPart"):
            yield node
        elif name in ("cSld", "spTree", "grpSp", "Choice", "Fallback"):
            yield from _leaves(node)


def _properties(shape: Node) -> Node | None:
    holder = next((node for node in shape if local(node) in _PROPERTIES), None)
    return None if holder is None else next((node for node in holder if local(node) == "cNvPr"), None)


def _placeholder(shape: Node) -> str | None:
    """Return the type of a placeholder ("body" where it names none), None for other shapes."""
    found = next(shape.iter(tag("p:ph")), None) if local(shape) in ("sp", "graphicFrame", "pic") else None
    return None if found is None else attribute(found, "type", "body")


def _lines(shape: Node) -> list[TextLine]:
    return list(text_lines(shape))


def _row_values(row: Node) -> dict[int, str]:
    """Return the filled values of a table row by column; the covered cells of a merged one are empty."""
    values = ("\n".join(line.text for line in text_lines(cell)) for cell in row.iter(tag("a:tc")))
    return {column: value for column, value in enumerate(values) if value}


def _continued(row: Node) -> Iterator[int]:
    """Yield the columns in which a merged cell reaches down from the row above."""
    for column, cell in enumerate(row.iter(tag("a:tc"))):
        if attribute(cell, "vMerge") in ("1", "true"):
            yield column


def _cells(values: dict[int, str], names: dict[int, str]) -> tuple[Cell, ...]:
    return tuple(
        Cell(name=names.get(column, str(column + 1)), value=value) for column, value in sorted(values.items())
    )
