"""Walks a WordprocessingML story (body, header, note, box) and yields its pieces in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.drawing import graphic_texts, text_lines, visible_branch
from ingest.parsers.graphic_pictures import graphic_pictures
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.opc import Package
from ingest.parsers.word_inline import Fields, Inline
from ingest.parsers.word_styles import Styles
from ingest.parsers.word_table import (
    TableRow,
    children,
    continues_above,
    first_column,
    name_columns,
    span,
    start_row,
)

_CELL_TEXT = frozenset(
    {
        ElementKind.TITLE,
        ElementKind.HEADING,
        ElementKind.PARAGRAPH,
        ElementKind.LIST_ITEM,
        ElementKind.CAPTION,
    }
)
_TRANSPARENT = frozenset((
    "body", "sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "sect", "sub-section", "docPart",
    "docPartBody", "docParts", "annotation", "content", "Choice", "Fallback", "hdr", "ftr", "footnote",
    "endnote", "comment", "txbxContent",
))  # fmt: skip


class Place(NamedTuple):
    """Where the walk is outside the body, and as what its pieces count; empty in the body itself."""

    part: str | None = None
    kind: ElementKind | None = None
    metadata: dict[str, JsonValue] = {}  # noqa: RUF012  never written


BODY = Place()


class Note(NamedTuple):
    """A footnote, endnote or comment waiting for its reference."""

    node: Node
    kind: ElementKind
    part: str  # the package part it is written in
    metadata: dict[str, JsonValue]


@dataclass
class Walker:
    """One pass over a document.

    Attributes:
        package: the opened package, None for a document that is one XML file.
        styles: roles of paragraphs.
        notes: notes by (kind, id); taken out when their reference comes by.
        embed: reads an embedded document by the part that embeds it and the relation id.
    """

    package: Package | None
    styles: Styles
    notes: dict[tuple[str, str], Note] = field(default_factory=dict)
    embed: Callable[[str, str], Iterator[Piece]] | None = None
    pictures: InnerPictures | None = None
    headings: list[tuple[int, str]] = field(default_factory=list)
    blocks: int = 0
    tables: int = 0
    counted: dict[str, int] = field(default_factory=dict)
    pending: str = ""  # text of a paragraph whose end mark was deleted: it runs on into the next one

    def story(self, node: Node, source: str, place: Place = BODY) -> Iterator[Piece]:
        """Yield the pieces below a node.

        Args:
            node: a body, header, note, cell or box.
            source: the package part it stands in, for its relations.
            place: how to mark the pieces.
        """
        fields = Fields()
        yield from self._blocks(node, source, place, fields, top=place is BODY)

    def _blocks(self, node: Node, source: str, place: Place, fields: Fields, *, top: bool) -> Iterator[Piece]:
        for child in node:
            name = local(child)
            if name in ("p", "tbl") and top:
                self.blocks += 1
            if name == "p":
                yield from self._paragraph(child, source, place, fields, top=top)
            elif name == "tbl":
                yield from self._table(child, source, place, fields)
            elif name == "altChunk":
                yield from self._chunk(child, source, place, top=top)
            elif name == "AlternateContent":
                yield from self._blocks(visible_branch(child), source, place, fields, top=top)
            elif name in _TRANSPARENT:
                yield from self._blocks(child, source, place, fields, top=top)

    def _chunk(self, node: Node, source: str, place: Place, *, top: bool) -> Iterator[Piece]:
        """Yield an embedded document as if it had been written here."""
        self.blocks += top
        for piece in self.embed(source, attribute(node, "id")) if self.embed else ():
            yield self._placed(piece, place, top=top)

    def _placed(self, piece: Piece, place: Place, *, top: bool) -> Piece:
        """Give a piece its place; a heading of the body begins a section."""
        is_heading = top and piece.kind is ElementKind.HEADING
        if is_heading:
            self.headings = [entry for entry in self.headings if entry[0] < piece.level]
        placed = piece._replace(
            kind=place.kind or piece.kind,
            anchor=self._anchor(place),
            metadata={**piece.metadata, **place.metadata},
        )
        if is_heading:
            self.headings.append((piece.level, piece.text))
        return placed

    def _anchor(self, place: Place) -> SectionAnchor:
        path = tuple(text for _, text in self.headings)
        return SectionAnchor(heading_path=path, paragraph=self.blocks or None, part=place.part)

    def _paragraph(
        self, node: Node, source: str, place: Place, fields: Fields, *, top: bool
    ) -> Iterator[Piece]:
        inline = Inline(fields)
        inline.read(node)
        role = self.styles.role(node)
        text, self.pending = self.pending + inline.text, ""
        if node.find(f"{tag('w:pPr')}/{tag('w:rPr')}/{tag('w:del')}") is not None:
            self.pending, text = text, ""
        text = text.strip()
        if text:
            metadata = self._links(inline, source)
            if role.label:
                text, metadata = f"{role.label} {text}", {**metadata, "label": role.label}
            piece = Piece(role.kind, text, self._anchor(place), role.level, (), metadata)
            yield self._placed(piece, place, top=top)
        yield from self._hangers(inline, source, place)

    def _links(self, inline: Inline, source: str) -> dict[str, JsonValue]:
        relations = self.package.relations(source) if self.package and inline.links else {}
        links: list[JsonValue] = [relations[key].target for key in inline.links if key in relations]
        return {"links": links} if links else {}

    def _hangers(self, inline: Inline, source: str, place: Place) -> Iterator[Piece]:
        """Yield what hangs on a paragraph: figures, boxes, notes."""
        figures = [text.strip() for text in inline.figures if text.strip()]
        if self.package:
            for drawing in inline.drawings:
                figures.extend(graphic_texts(self.package, source, drawing))
        for text in dict.fromkeys(figures):
            yield Piece(ElementKind.FIGURE, text, self._anchor(place), metadata=place.metadata)
        if self.package and self.pictures:
            for drawing in inline.drawings:
                yield from graphic_pictures(
                    self.package, self.pictures, source, drawing, self._anchor(place), place.metadata
                )
        box = Place(place.part or "text box", place.kind or ElementKind.TEXT_BOX, place.metadata)
        for node in inline.boxes:
            if local(node) == "txBody":
                for line in text_lines(node):
                    yield Piece(box.kind or ElementKind.TEXT_BOX, line.text, self._anchor(box), line.level)
            else:
                yield from self.story(node, source, box)
        for key in inline.notes:
            yield from self.note(key)

    def note(self, key: tuple[str, str]) -> Iterator[Piece]:
        """Yield a note once, when its reference comes by or at the end."""
        note = self.notes.pop(key, None)
        if note is None:
            return
        self.counted[key[0]] = self.counted.get(key[0], 0) + 1
        place = Place(f"{key[0]} {self.counted[key[0]]}", note.kind, note.metadata)
        yield from self.story(note.node, note.part, place)

    def _table(self, node: Node, source: str, place: Place, fields: Fields) -> Iterator[Piece]:
        rows = list(children(node, "tr"))
        if len(rows) == 1 and len(cells := list(children(rows[0], "tc"))) == 1:
            yield from self._blocks(cells[0], source, place, fields, top=False)
            return
        self.tables += 1
        metadata: dict[str, JsonValue] = {"table": self.tables, **place.metadata}
        above: dict[int, str] = {}
        read = [self._row(row, above, source, place, fields) for row in rows]
        headers, names = name_columns([row for row, _ in read])
        for at, (row, rest) in enumerate(read):
            text = row.text()
            if text:
                own: dict[str, JsonValue] = {"header": True} if at < headers else {}
                called = {} if at < headers else names
                yield Piece(
                    place.kind or ElementKind.TABLE_ROW,
                    text,
                    self._anchor(place),
                    cells=row.cells(called),
                    metadata={**metadata, "row": at + 1, **own},
                )
            yield from rest

    def _row(
        self, node: Node, above: dict[int, str], source: str, place: Place, fields: Fields
    ) -> tuple[TableRow, list[Piece]]:
        """Read a row: its values, and what does not fit into a value (nested tables, notes, boxes)."""
        row, rest, column = start_row(node), [], first_column(node)
        for cell in children(node, "tc"):
            lines = []
            for piece in self._blocks(cell, source, place._replace(kind=None), fields, top=False):
                if piece.kind in _CELL_TEXT:
                    lines.append(piece.text)
                else:
                    rest.append(piece)
            row.spans[column] = span(cell)
            if continues_above(cell) and not lines:
                row.carried[column] = above.get(column, "")
            else:
                row.shown[column] = above[column] = "\n".join(lines)
            column += row.spans[column]
        return row, rest
