"""PowerPoint 95 to 2003 presentations (PPT): slides in show order with notes and comments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from ingest.anchors import SlideAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge
from ingest.model import Cell, ElementKind
from ingest.parsers import slides
from ingest.parsers.office_program import SLIDES, with_fallback
from ingest.parsers.ole import DAMAGE, open_ole, read_stream
from ingest.parsers.ole_properties import describe_ole
from ingest.parsers.ppt_95 import is_ppt_95, read_ppt_95
from ingest.parsers.ppt_extras import attach_objects, is_hidden, read_comments, read_margins
from ingest.parsers.ppt_records import PptRecord
from ingest.parsers.ppt_shapes import PptShape, PptTable, read_shapes
from ingest.parsers.ppt_show import Show, ShowSlide, open_show
from ingest.parsers.tables import header_names, is_header

_STREAM, _USER, _DUAL = "PowerPoint Document", "Current User", "PP97_DUALSTORAGE/"
Part = Literal["title", "body", "table", "notes", "comment", "figure"]


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a presentation of the binary format.

    Hidden slides are read and marked ``hidden``. Footers and what a master draws on every slide come once;
    the prompts of empty placeholders are left out.

    Raises:
        CorruptFile: no slide can be found.
        EncryptedFile: the presentation is protected by a password.
        FileTooLarge: it has more slides than the limits allow.
    """
    with open_ole(context.path) as ole:
        if not ole.exists(_STREAM):
            raise CorruptFile("The file does not hold a PowerPoint presentation.")
    yield from with_fallback(context, _read, SLIDES, slides.parse)


def _read(context: ParseContext) -> Iterator[Piece]:
    with open_ole(context.path) as ole:
        describe_ole(context, ole)
        # A file saved for PowerPoint 95 and 97 at once holds the newer copy in a storage of its own.
        folder = _DUAL if ole.exists(_DUAL + _STREAM) else ""
        stream = read_stream(ole, folder + _STREAM)
        user = read_stream(ole, folder + _USER) if ole.exists(folder + _USER) else b""
    if is_ppt_95(stream):
        yield from read_ppt_95(context, stream)
        return
    try:
        show = open_show(stream, user)
    except DAMAGE as error:
        raise CorruptFile("The presentation holds no slide that can be read.") from error
    if show.is_repaired:
        context.warn("directory_damaged", "The list of slides is damaged; slides are in stored order.")
    if len(show.slides) > context.limits.max_pages:
        raise FileTooLarge(f"The presentation has more than {context.limits.max_pages} slides.")
    context.describe(page_count=len(show.slides))
    reader = _Reader(context, show)
    for number, slide in enumerate(show.slides, start=1):
        yield from reader.slide(slide, number)
    yield from reader.masters()
    attach_objects(context, show)


class _Reader:
    """Reads the slides of a show one by one, margins that repeat only once."""

    def __init__(self, context: ParseContext, show: Show) -> None:
        self._context, self._show = context, show
        self._margins: set[tuple[ElementKind, str]] = set()

    def slide(self, slide: ShowSlide, number: int) -> Iterator[Piece]:
        """Yield the pieces of a slide; a damaged shape ends it with a warning."""
        stream, marks = self._show.stream, self._marks(slide)
        try:
            shapes = list(read_shapes(stream, slide.record, slide.outline))
            notes = list(read_shapes(stream, slide.notes, ())) if slide.notes else []
        except DAMAGE:
            self._context.warn("slide_unreadable", f"Slide {number} is damaged and was left out.")
            return
        if not any(isinstance(shape, PptShape) and shape.lines for shape in shapes):
            shapes.extend(PptShape(block.lines, block.kind in (0, 6), True) for block in slide.outline)
        shapes.sort(key=lambda shape: not (isinstance(shape, PptShape) and shape.is_title))
        for shape in shapes:
            yield from self._shape(shape, number, marks)
        for note in notes:
            if isinstance(note, PptShape):
                for line in note.lines:
                    yield _piece(ElementKind.NOTE, line.text, number, "notes", marks, line.level)
        for text, metadata in read_comments(stream, slide.record):
            yield _piece(ElementKind.COMMENT, text, number, "comment", {**marks, **metadata})
        yield from self._margin_pieces([slide.record, self._show.document], number, marks)
        yield from self._margin_pieces([slide.notes], number, marks, "notes")

    def masters(self) -> Iterator[Piece]:
        """Yield what masters draw on the slides themselves: no placeholders, whose texts are prompts."""
        stream, marks = self._show.stream, {"master": True}
        for master in self._show.masters:
            try:
                shapes = list(read_shapes(stream, master, ()))
            except DAMAGE:
                self._context.warn("master_unreadable", "A slide master is damaged and was left out.")
                continue
            for shape in shapes:
                if isinstance(shape, PptTable) or not shape.is_placeholder:
                    yield from self._shape(shape, 1, dict(marks))
            yield from self._margin_pieces([master], 1, dict(marks))

    def _marks(self, slide: ShowSlide) -> dict[str, JsonValue]:
        return {"hidden": True} if is_hidden(self._show.stream, slide.record) else {}

    def _shape(self, shape: PptShape | PptTable, number: int, marks: dict[str, JsonValue]) -> Iterator[Piece]:
        if isinstance(shape, PptTable):
            yield from _table(shape, number, marks)
            return
        if shape.is_title and shape.lines:
            title = " ".join(" ".join(line.text.split()) for line in shape.lines)
            yield _piece(ElementKind.TITLE, title, number, "title", marks)
        for line in () if shape.is_title else shape.lines:
            kind = ElementKind.LIST_ITEM if shape.is_placeholder else ElementKind.TEXT_BOX
            yield _piece(kind, line.text, number, "body", marks, line.level + shape.is_placeholder)
        if shape.description:
            yield _piece(ElementKind.FIGURE, shape.description, number, "figure", marks)

    def _margin_pieces(
        self, holders: list[PptRecord | None], number: int, marks: dict[str, JsonValue], part: Part = "body"
    ) -> Iterator[Piece]:
        for holder in holders:
            for kind, text in read_margins(self._show.stream, holder) if holder else ():
                if (kind, text) not in self._margins:
                    self._margins.add((kind, text))
                    yield _piece(kind, text, number, part, marks)


def _piece(
    kind: ElementKind, text: str, number: int, part: Part, metadata: dict[str, JsonValue], level: int = 0
) -> Piece:
    return Piece(kind, text, SlideAnchor(slide=number, part=part), level, metadata=metadata)


def _table(table: PptTable, number: int, marks: dict[str, JsonValue]) -> Iterator[Piece]:
    named = bool(table.rows) and is_header(table.rows[0], table.rows[1:])
    names = header_names(table.rows[0]) if named else {}
    for at, row in enumerate(table.rows):
        called = names if at else {}
        cells = tuple(
            Cell(name=called.get(column, str(column + 1)), value=value) for column, value in row.items()
        )
        metadata: dict[str, JsonValue] = {**marks, "row": at + 1}
        if named and not at:
            metadata["header"] = True
        piece = _piece(ElementKind.TABLE_ROW, " | ".join(row.values()), number, "table", metadata)
        yield piece._replace(cells=cells)
