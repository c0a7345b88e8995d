"""The title, participants and date of a segment, from what stands in its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from pathlib import PurePath

from extract.boundaries import HEADINGS
from extract.fillers import has_substance
from extract.model import Segment, SegmentKind
from extract.moments import element_time
from extract.phrases import phrase, say_day, say_list
from extract.scripts import is_mostly_cjk, one_line, shorten
from ingest.anchors import (
    CueAnchor,
    MessageAnchor,
    PageAnchor,
    RowAnchor,
    SheetAnchor,
    SlideAnchor,
)
from ingest.model import Document, Element, ElementKind

_WIDTH = 110
_PROGRAM = re.compile(r"^(?:Microsoft (?:Office )?(?:Word|Excel|PowerPoint)\s*[-–]\s*)", re.IGNORECASE)
_MEANINGLESS = re.compile(
    r"^(?:untitled.*|document ?\d*|presentation ?\d*|powerpoint[- ]presentation|slide ?\d+|sheet ?\d+"
    r"|book ?\d+|workbook ?\d*|no title|title|new document|scan(?:ned)?[ _-]?\d*|\W*"
    r"|.*\.(?:docx?|dot|xlsx?|pptx?|pdf|indd|tex|dvi))$",
    re.IGNORECASE,
)
_CELL_ROW = re.compile(r"\d+")


def document_title(document: Document) -> str:
    """Return what to call a document: its own title unless that says nothing, else the file's name."""
    title = _PROGRAM.sub("", one_line(document.metadata.title or ""))
    if title and not _MEANINGLESS.match(title):
        return shorten(title, _WIDTH)
    stem = PurePath(document.source.name).stem or document.source.name
    return shorten(stem.replace("_", " "), _WIDTH)


def speaker_of(element: Element) -> str | None:
    """Return who speaks an element of a transcript or conversation."""
    if isinstance(element.anchor, CueAnchor):
        return element.anchor.speaker
    return element.anchor.sender if isinstance(element.anchor, MessageAnchor) else None


def describe(
    document: Document,
    position: int,
    kind: SegmentKind,
    path: tuple[str, ...],
    elements: tuple[Element, ...],
    part: int,
) -> Segment:
    """Return the segment these elements make, with title, participants and date."""
    sample = "".join(element.text[:80] for element in elements[:12])
    language = "zh" if is_mostly_cjk(sample) else "en"
    at = element_time(document, elements[0])
    people = _participants(document, kind, elements)
    title = _title(document, kind, path, elements, people, at, language)
    return Segment(
        position=position,
        kind=kind,
        title=title if part == 1 else f"{title} ({part})",
        heading_path=path,
        elements=elements,
        participants=people,
        occurred_at=at,
    )


def _participants(document: Document, kind: SegmentKind, elements: tuple[Element, ...]) -> tuple[str, ...]:
    if kind in (SegmentKind.TRANSCRIPT, SegmentKind.CONVERSATION):
        return tuple(dict.fromkeys(name for element in elements if (name := speaker_of(element))))
    if kind is SegmentKind.MAIL:
        return tuple(dict.fromkeys((*document.metadata.authors, *document.metadata.participants)))
    return ()


def _title(
    document: Document,
    kind: SegmentKind,
    path: tuple[str, ...],
    elements: tuple[Element, ...],
    people: tuple[str, ...],
    at: datetime | None,
    language: str,
) -> str:
    match kind:
        case SegmentKind.TABLE:
            return _table_title(document, elements, language)
        case SegmentKind.SLIDE:
            return _slide_title(document, elements, language)
        case SegmentKind.MAIL:
            return document_title(document)
        case SegmentKind.TRANSCRIPT | SegmentKind.CONVERSATION:
            return _talk_title(document, kind, elements, people, at, language)
    return _prose_title(document, path, elements, language)


def _prose_title(
    document: Document, path: tuple[str, ...], elements: tuple[Element, ...], language: str
) -> str:
    name = document_title(document)
    own = [
        one_line(element.text) for element in elements if element.kind in HEADINGS and element.text.strip()
    ]
    above = [one_line(text) for text in path if text.strip() and one_line(text) != name]
    if own or above:
        # Headings that follow each other at once are one path; later ones are further sections.
        leading = _leading(elements)
        trail = [*above, *(text for text in leading if text != name)][-3:]
        later = [text for text in own[len(leading) :] if text not in trail]
        title = " > ".join(trail) or name
        return shorten("; ".join([title, *later[:3]]), _WIDTH)
    pages = [element.anchor.page for element in elements if isinstance(element.anchor, PageAnchor)]
    if not pages or document.metadata.page_count == 1 or document.source.media_type.startswith("image/"):
        return name
    if pages[0] == pages[-1]:
        return phrase(language, "page", name, pages[0])
    return phrase(language, "pages", name, pages[0], pages[-1])


def _leading(elements: tuple[Element, ...]) -> list[str]:
    found: list[str] = []
    for element in elements:
        if element.kind not in HEADINGS:
            break
        if element.text.strip():
            found.append(one_line(element.text))
    return found


def _table_title(document: Document, elements: tuple[Element, ...], language: str) -> str:
    first = elements[0].anchor
    name = (
        phrase(language, "sheet", first.sheet) if isinstance(first, SheetAnchor) else document_title(document)
    )
    rows = [row for element in elements if (row := row_number(element)) is not None]
    return phrase(language, "rows", name, rows[0], rows[-1]) if len(rows) > 1 else name


def row_number(element: Element) -> int | None:
    """Return the row an element of a table or sheet stands in, counted from 1."""
    if isinstance(element.anchor, RowAnchor):
        return element.anchor.row
    if isinstance(element.anchor, SheetAnchor) and element.kind is ElementKind.TABLE_ROW:
        found = _CELL_ROW.search(element.anchor.cells)
        return int(found.group()) if found else None
    return None


def slide_heading(elements: tuple[Element, ...]) -> str | None:
    """Return the title of the first slide among these elements."""
    for element in elements:
        anchor = element.anchor
        if isinstance(anchor, SlideAnchor) and (anchor.part == "title" or element.kind in HEADINGS):
            return one_line(element.text) or None
    return None


def _slide_title(document: Document, elements: tuple[Element, ...], language: str) -> str:
    slides = [element.anchor.slide for element in elements if isinstance(element.anchor, SlideAnchor)]
    heading = slide_heading(elements)
    if heading is None:
        heading = next(
            (one_line(e.text) for e in elements if has_substance(e.text)), document_title(document)
        )
    number = str(slides[0]) if slides[0] == slides[-1] else f"{slides[0]}–{slides[-1]}"
    return shorten(phrase(language, "slide_title", number, heading), _WIDTH)


def _talk_title(
    document: Document,
    kind: SegmentKind,
    elements: tuple[Element, ...],
    people: tuple[str, ...],
    at: datetime | None,
    language: str,
) -> str:
    at_opening = next((at for at, element in enumerate(elements) if has_substance(element.text)), 0)
    opening = elements[at_opening]
    words = shorten(" ".join(element.text for element in _same_speaker(elements[at_opening:])), 60)
    if kind is SegmentKind.TRANSCRIPT:
        speaker = speaker_of(opening)
        spoken = f"{speaker}{phrase(language, 'colon')}{words}" if speaker else words
        clock = elements[0].anchor.label().split(" ")[0]
        return f"{document_title(document)}, {clock}{phrase(language, 'colon')}{spoken}"
    head = say_list(people, language)
    if at is not None:
        head = phrase(language, "comma").join(filter(None, (head, say_day(at, language))))
    return phrase(language, "colon").join(filter(None, (head, words)))


def _same_speaker(elements: tuple[Element, ...]) -> Iterator[Element]:
    if elements[0].kind is ElementKind.MESSAGE:
        return iter(elements[:1])
    return takewhile(lambda element: speaker_of(element) == speaker_of(elements[0]), elements)
