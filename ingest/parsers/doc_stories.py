"""The stories of a Word 97 to 2003 document as pieces: body with tables, notes, comments, margins, boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import Piece
from ingest.model import Cell, ElementKind
from ingest.parsers.doc_fields import visible_text
from ingest.parsers.doc_format import Formats, Look
from ingest.parsers.doc_text import DocText, clean
from ingest.parsers.tables import header_names, is_header
from ingest.parsers.word_numbering import Numbering

_ENDS = re.compile(r"[\r\x07\x0c]")
_CELL_END = "\x07"
# Pictures, automatic note numbers, separators, drawn objects, optional hyphens and field marks show no text.
_SHOWN = {
    **dict.fromkeys((0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x13, 0x14, 0x15, 0x1F)),
    0x0B: "\n", 0x0E: "\n", 0x1E: "\u2011",
}  # fmt: skip
_MARGINS = (
    (ElementKind.HEADER, "even"), (ElementKind.HEADER, "default"), (ElementKind.FOOTER, "even"),
    (ElementKind.FOOTER, "default"), (ElementKind.HEADER, "first"), (ElementKind.FOOTER, "first"),
)  # fmt: skip
_NOTE_SEPARATORS = 6
_HEADER_TABLE, _OWNERS = 11, 36


class _Paragraph(NamedTuple):
    text: str
    end: int  # position of its end mark
    mark: str


class _Note(NamedTuple):
    reference: int
    kind: ElementKind
    name: str
    start: int
    end: int
    author: str = ""


@dataclass
class StoryReader:
    """Reads a document once, from the body to the text boxes."""

    document: DocText
    formats: Formats
    numbering: Numbering
    _visible: str = ""
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _blocks: int = 0
    _tables: int = 0
    _notes: list[_Note] = field(default_factory=list)
    _counted: dict[str, int] = field(default_factory=dict)

    def pieces(self) -> Iterator[Piece]:
        """Yield everything; notes and comments follow what they hang on, margins and boxes come last."""
        self._visible = visible_text(self.document, self.formats)
        self._notes = sorted(self._find_notes())
        start, end = self.document.stories["body"]
        yield from self._body(start, end)
        yield from self._due_notes(len(self._visible))
        yield from self._boxes("boxes")
        self._headings, self._blocks = [], 0
        yield from self._margins()
        yield from self._boxes("header_boxes")

    def _paragraphs(self, start: int, end: int) -> Iterator[_Paragraph]:
        at = start
        for found in _ENDS.finditer(self._visible, start, end):
            yield _Paragraph(self._shown(at, found.start()), found.start(), found[0])
            at = found.end()
        if at < end:
            yield _Paragraph(self._shown(at, end), end - 1, "\r")

    def _shown(self, start: int, end: int) -> str:
        return clean(self._visible[start:end].translate(_SHOWN)).strip()

    def _body(self, start: int, end: int) -> Iterator[Piece]:
        rows: list[list[str]] = []
        cells: list[str] = []
        lines: list[str] = []
        before = ""
        for paragraph in self._paragraphs(start, end):
            look = self.formats.look(paragraph.end)
            is_cell = paragraph.mark == _CELL_END
            if look.in_table or is_cell or lines or cells:
                ends_row = look.ends_row if self.formats.is_known else is_cell and before == _CELL_END
                if ends_row and is_cell and not paragraph.text:
                    rows.append(cells)
                    cells, lines = [], []
                elif is_cell:
                    lines.append(self._labelled(paragraph, look)[0])
                    cells.append("\n".join(line for line in lines if line))
                    lines = []
                else:
                    lines.append(self._labelled(paragraph, look)[0])
                before = "" if ends_row else paragraph.mark
                continue
            yield from self._table(rows)
            rows = []
            yield from self._paragraph(paragraph, look)
            yield from self._due_notes(paragraph.end)
        if cells or lines:
            rows.append([*cells, "\n".join(lines)])
        yield from self._table(rows)

    def _paragraph(self, paragraph: _Paragraph, look: Look) -> Iterator[Piece]:
        self._blocks += 1
        text, label = self._labelled(paragraph, look)
        if not paragraph.text:
            return
        kind, level = ElementKind.PARAGRAPH, 0
        if look.heading:
            kind, level = ElementKind.HEADING, look.heading
            self._headings = [entry for entry in self._headings if entry[0] < level]
        elif look.list_number or look.is_listed:
            kind, level = ElementKind.LIST_ITEM, look.list_level + 1
        elif look.is_title or look.is_caption:
            kind = ElementKind.TITLE if look.is_title else ElementKind.CAPTION
        metadata: dict[str, JsonValue] = {"label": label} if label else {}
        yield Piece(kind, text, self._anchor(), level, metadata=metadata)
        if look.heading:
            self._headings.append((level, text))

    def _labelled(self, paragraph: _Paragraph, look: Look) -> tuple[str, str]:
        """Count a paragraph of a list; return its text as shown and its number."""
        if not look.list_number or not paragraph.text:
            return paragraph.text, ""
        label = self.numbering.count(str(look.list_number), look.list_level)
        return f"{label} {paragraph.text}" if label else paragraph.text, label

    def _anchor(self, part: str | None = None) -> SectionAnchor:
        path = tuple(text for _, text in self._headings)
        return SectionAnchor(heading_path=path, paragraph=self._blocks or None, part=part)

    def _table(self, rows: list[list[str]]) -> Iterator[Piece]:
        if not rows:
            return
        self._blocks += 1
        self._tables += 1
        shown = [{column: value for column, value in enumerate(row) if value} for row in rows]
        named = is_header(shown[0], shown[1:])
        names = header_names(shown[0]) if named else {}
        for at, row in enumerate(shown):
            if not row:
                continue
            called = names if at else {}
            cells = tuple(
                Cell(name=called.get(column, str(column + 1)), value=value) for column, value in row.items()
            )
            metadata: dict[str, JsonValue] = {"table": self._tables, "row": at + 1}
            if named and not at:
                metadata["header"] = True
            text = " | ".join(row.values())
            yield Piece(ElementKind.TABLE_ROW, text, self._anchor(), cells=cells, metadata=metadata)

    def _find_notes(self) -> Iterator[_Note]:
        owners = self._owners()
        for story, name, references, texts, size in (
            ("footnotes", "footnote", 2, 3, 2),
            ("endnotes", "endnote", 46, 47, 2),
            ("comments", "comment", 4, 5, 30),
        ):
            places, items = self.document.positions(references, size)
            starts, _ = self.document.positions(texts, 0)
            first, last = self.document.stories[story]
            if not starts:
                starts, places, items = [0, last - first], [last], [b""]
            for at, (start, end) in enumerate(pairwise(starts)):
                if at >= len(items):
                    break
                owner = int.from_bytes(items[at][20:22], "little") if size == 30 else len(owners)
                kind = ElementKind.COMMENT if name == "comment" else ElementKind.FOOTNOTE
                author = owners[owner] if owner < len(owners) else ""
                yield _Note(places[at], kind, name, first + start, min(first + end, last), author)

    def _owners(self) -> list[str]:
        data, found, at = self.document.section(_OWNERS), [], 0
        while at + 2 <= len(data):
            size = 2 * int.from_bytes(data[at : at + 2], "little")
            found.append(data[at + 2 : at + 2 + size].decode("utf-16-le", "replace"))
            at += 2 + size
        return found

    def _due_notes(self, position: int) -> Iterator[Piece]:
        """Yield the notes whose references stand up to a position."""
        while self._notes and self._notes[0].reference <= position:
            note = self._notes.pop(0)
            self._counted[note.name] = self._counted.get(note.name, 0) + 1
            anchor = self._anchor(f"{note.name} {self._counted[note.name]}")
            metadata: dict[str, JsonValue] = {"author": note.author} if note.author else {}
            for paragraph in self._paragraphs(note.start, note.end):
                if paragraph.text:
                    yield Piece(note.kind, paragraph.text, anchor, metadata=metadata)

    def _margins(self) -> Iterator[Piece]:
        first, last = self.document.stories["headers"]
        starts, _ = self.document.positions(_HEADER_TABLE, 0)
        seen: set[tuple[ElementKind, str]] = set()
        if not starts:
            starts = [0] * (_NOTE_SEPARATORS + 1) + [last - first]
        for at, (start, end) in enumerate(pairwise(starts)):
            if at < _NOTE_SEPARATORS:
                continue
            kind, pages = _MARGINS[(at - _NOTE_SEPARATORS) % len(_MARGINS)]
            for paragraph in self._paragraphs(first + start, min(first + end, last)):
                if paragraph.text and (kind, paragraph.text) not in seen:
                    seen.add((kind, paragraph.text))
                    yield Piece(kind, paragraph.text, self._anchor(kind.value), metadata={"pages": pages})

    def _boxes(self, story: str) -> Iterator[Piece]:
        first, last = self.document.stories[story]
        for paragraph in self._paragraphs(first, last):
            if paragraph.text:
                yield Piece(ElementKind.TEXT_BOX, paragraph.text, self._anchor("text box"))
