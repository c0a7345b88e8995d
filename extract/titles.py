"""The title, participants and date of a segment, from what stands in its elements."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile

from extract.boundaries import HEADINGS
from extract.fillers import has_substance
from extract.model import Segment, SegmentKind
from extract.moments import element_time
from extract.names import display_name, document_title, row_number, sheet_label, speaker_of
from extract.phrases import phrase, say_day, say_list
from extract.scripts import is_mostly_cjk, one_line, shorten
from ingest.anchors import PageAnchor, SheetAnchor, SlideAnchor
from ingest.model import Document, Element, ElementKind

_WIDTH, _OPENING_WIDTH = 110, 60

Elements = tuple[Element, ...]


def describe(
    document: Document, position: int, kind: SegmentKind, path: tuple[str, ...], elements: Elements, part: int
) -> Segment:
    """Return the segment these elements make.

    Args:
        document: whose they are.
        position: of the segment, counted from 0.
        kind: what kind of stretch it is.
        path: the headings above the first element.
        elements: its elements.
        part: above 1 where a section was cut for size; shown in the title.
    """
    sample = "".join(element.text[:80] for element in elements[:12])
    language = "zh" if is_mostly_cjk(sample) else "en"
    title = _title(document, kind, path, elements, language)
    return Segment(
        position=position,
        kind=kind,
        title=title if part == 1 else f"{title} ({part})",
        heading_path=path,
        elements=elements,
        participants=_participants(document, kind, elements),
        occurred_at=element_time(document, elements[0]),
    )


def _participants(document: Document, kind: SegmentKind, elements: Elements) -> tuple[str, ...]:
    if kind in (SegmentKind.TRANSCRIPT, SegmentKind.CONVERSATION):
        return tuple(dict.fromkeys(name for element in elements if (name := speaker_of(element))))
    if kind is SegmentKind.MAIL:
        people = (*document.metadata.authors, *document.metadata.participants)
        return tuple(dict.fromkeys(display_name(person) for person in people))
    return ()


def _title(
    document: Document, kind: SegmentKind, path: tuple[str, ...], elements: Elements, language: str
) -> str:
    match kind:
        case SegmentKind.TABLE:
            return _table_title(document, elements, language)
        case SegmentKind.SLIDE:
            return _slide_title(document, elements, language)
        case SegmentKind.MAIL:
            return document_title(document)
        case SegmentKind.TRANSCRIPT:
            return _transcript_title(document, elements, language)
        case SegmentKind.CONVERSATION:
            return _conversation_title(document, elements, language)
    return _prose_title(document, path, elements, language)


def _prose_title(document: Document, path: tuple[str, ...], elements: Elements, language: str) -> str:
    name = document_title(document)
    own = [one_line(one.text) for one in elements if one.kind in HEADINGS and one.text.strip()]
    above = [one_line(text) for text in path if text.strip() and one_line(text) != name]
    if own or above:
        # Headings that follow each other at once are one path; later ones are further sections.
        leading = list(takewhile(lambda one: one.kind in HEADINGS, elements))
        opening = [one_line(one.text) for one in leading if one.text.strip()]
        trail = [*above, *(text for text in opening if text != name)][-3:]
        later = [text for text in own[len(opening) :] if text not in trail]
        return shorten("; ".join([" > ".join(trail) or name, *later[:3]]), _WIDTH)
    pages = [one.anchor.page for one in elements if isinstance(one.anchor, PageAnchor)]
    if not pages or document.metadata.page_count == 1 or document.source.media_type.startswith("image/"):
        return name
    if pages[0] == pages[-1]:
        return phrase(language, "page", name, pages[0])
    return phrase(language, "pages", name, pages[0], pages[-1])


def _table_title(document: Document, elements: Elements, language: str) -> str:
    first, name = elements[0].anchor, document_title(document)
    if isinstance(first, SheetAnchor):
        name = sheet_label(name, first.sheet, language)
    rows = [row for element in elements if (row := row_number(element)) is not None]
    return phrase(language, "rows", name, rows[0], rows[-1]) if len(rows) > 1 else name


def _slide_title(document: Document, elements: Elements, language: str) -> str:
    slides = [one.anchor.slide for one in elements if isinstance(one.anchor, SlideAnchor)]
    titles = (one_line(one.text) for one in elements if one.kind in HEADINGS and one.text.strip())
    body = (one_line(one.text) for one in elements if one.kind is not ElementKind.TABLE_ROW)
    heading = next(titles, None) or next(
        (text for text in body if has_substance(text)), document_title(document)
    )
    number = str(slides[0]) if slides[0] == slides[-1] else f"{slides[0]}–{slides[-1]}"
    return shorten(phrase(language, "slide_title", number, heading), _WIDTH)


def _opening(elements: Elements) -> tuple[str | None, str]:
    """Return who says the first words that say something, and the words."""
    first = next((at for at, element in enumerate(elements) if has_substance(element.text)), 0)
    words = " ".join(one_line(element.text) for element in _same_turn(elements[first:]))
    return speaker_of(elements[first]), shorten(words, _OPENING_WIDTH)


def _same_turn(elements: Elements) -> Iterator[Element]:
    if elements[0].kind is ElementKind.MESSAGE:
        return iter(elements[:1])
    return takewhile(lambda element: speaker_of(element) == speaker_of(elements[0]), elements)


def _transcript_title(document: Document, elements: Elements, language: str) -> str:
    speaker, words = _opening(elements)
    clock = elements[0].anchor.label().split(" ")[0]
    head = f"{document_title(document)}, {clock}"
    return phrase(language, "colon").join(filter(None, (head, speaker, words)))


def _conversation_title(document: Document, elements: Elements, language: str) -> str:
    at: datetime | None = element_time(document, elements[0])
    people = say_list(_participants(document, SegmentKind.CONVERSATION, elements), language)
    head = phrase(language, "comma").join(filter(None, (people, say_day(at, language) if at else "")))
    return phrase(language, "colon").join(filter(None, (head, _opening(elements)[1])))
