"""PDF, through PyMuPDF: text by pages in reading order, tables, notes, form values, attachments."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ingest.anchors import PageAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.model import ElementKind
from ingest.mupdf import PdfDocument, PdfPage
from ingest.parsers.margins import Margins, margin_rows, running
from ingest.parsers.ocr_budget import OcrBudget
from ingest.parsers.page_lines import Line, contains, fold, join_row, rounded
from ingest.parsers.pdf_extras import attach_embedded, read_annotations, read_form, read_links
from ingest.parsers.pdf_metadata import describe_pdf, outline_levels
from ingest.parsers.pdf_open import load_pages, open_pdf
from ingest.parsers.pdf_page import page_parts
from ingest.parsers.pdf_pieces import Typography, pieces_of
from ingest.parsers.pdf_scan import is_garbage, scan_pieces
from ingest.parsers.pdf_text import TextLayer, read_text_layer

# Pages read before and after the one being composed: running heads show by comparison.
_AROUND = 4
_MAX_WORDS = 200_000
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield a PDF page by page; scripts and actions in it are never run.

    Raises:
        EncryptedFile: a password is needed to open it.
        CorruptFile: no page can be read.
        FileTooLarge: more pages than ``limits.max_pages``, or larger attachments than allowed.
    """
    with open_pdf(context) as document:
        describe_pdf(context, document)
        attach_embedded(context, document)
        typography = Typography(outline=outline_levels(context, document))
        reader = _Reader(context, document, typography, OcrBudget(context.limits.ocr_s))
        found = 0
        for found, piece in enumerate(reader.read(), start=1):  # noqa: B007  counted for below
            yield piece
        reader.budget.report(context)
        if not found and document.is_repaired and not reader.budget.skipped:
            raise CorruptFile("The PDF is damaged; nothing readable was left in it.")
        if not found:
            context.warn("no_text", "No text was found in the PDF.")


@dataclass
class _Sheet:
    """A page that has been read and not composed yet."""

    number: int
    page: PdfPage
    layer: TextLayer
    margins: Margins


@dataclass
class _Reader:
    """Reads some pages ahead, so that each is composed knowing its neighbours."""

    context: ParseContext
    document: PdfDocument
    typography: Typography
    budget: OcrBudget
    words: set[str] = field(default_factory=set)
    said: set[tuple[ElementKind, str]] = field(default_factory=set)

    def read(self) -> Iterator[Piece]:
        ahead: deque[_Sheet] = deque()
        past: deque[Margins] = deque(maxlen=_AROUND)
        for sheet in self._sheets():
            ahead.append(sheet)
            if len(ahead) > _AROUND:
                yield from self._compose(ahead.popleft(), past, ahead)
        while ahead:
            yield from self._compose(ahead.popleft(), past, ahead)

    def _sheets(self) -> Iterator[_Sheet]:
        for number, page in load_pages(self.context, self.document):
            layer = read_text_layer(page)
            main = layer.lines.get(layer.main, [])
            for line in main:
                self.typography.see(line)
                if len(self.words) < _MAX_WORDS:
                    self.words.update(_WORD.findall(line.text.casefold()))
            aside = [line for turn, lines in layer.lines.items() if turn != layer.main for line in lines]
            yield _Sheet(number, page, layer, margin_rows(main, aside, layer.frame, self.typography.body))

    def _compose(self, sheet: _Sheet, past: deque[Margins], ahead: Iterable[_Sheet]) -> Iterator[Piece]:
        number = sheet.number
        extras = [
            *read_form(self.context, sheet.page, number),
            *read_annotations(self.context, sheet.page, number),
        ]
        repeated = running(sheet.margins, [*past, *(other.margins for other in ahead)])
        past.append(sheet.margins)
        heads = [(top, row) for (top, _), row in repeated if top]
        feet = [(top, row) for (top, _), row in repeated if not top]
        layer = _without(sheet.layer, (line for _, row in repeated for line in row), extras)
        scanned = list(scan_pieces(self.context, sheet.page, number, sheet.layer, self.budget))
        yield from self._margins(heads, number)
        if not (scanned and is_garbage(sheet.layer)):
            yield from self._body(layer, number)
        yield from scanned
        yield from extras
        yield from read_links(sheet.page, number, _visible(sheet.layer))
        yield from self._margins(feet, number)

    def _body(self, layer: TextLayer, number: int) -> Iterator[Piece]:
        for index, part in enumerate(page_parts(layer, self.words), start=1):
            yield from pieces_of(part, number, self.typography, f"page {number}, table {index}")

    def _margins(self, rows: Iterable[tuple[bool, tuple[Line, ...]]], number: int) -> Iterator[Piece]:
        """Yield running heads or feet, each wording once."""
        for top, row in rows:
            line = join_row(row)
            kind = ElementKind.HEADER if top else ElementKind.FOOTER
            text = line.text.strip()
            if (kind, text) not in self.said:
                self.said.add((kind, text))
                yield Piece(kind, text, PageAnchor(page=number, bbox=rounded(line.place)))


def _without(layer: TextLayer, lines: Iterable[Line], extras: Iterable[Piece]) -> TextLayer:
    """Leave out lines told already: running heads, and what notes and form fields draw on the page."""
    gone = set(map(id, lines))
    drawn = [
        (piece.anchor.bbox, fold(piece.text))
        for piece in extras
        if isinstance(piece.anchor, PageAnchor) and piece.anchor.bbox
    ]

    def stays(line: Line) -> bool:
        if id(line) in gone:
            return False
        return not any(contains(box, line.place) and fold(line.text) in text for box, text in drawn)

    return replace(layer, lines={turn: list(filter(stays, found)) for turn, found in layer.lines.items()})


def _visible(layer: TextLayer) -> str:
    return " ".join(line.text for lines in layer.lines.values() for line in lines)
