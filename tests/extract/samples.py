"""Documents and elements built by hand, as the parsers hand them over."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import settings

from extract.extractive import ExtractiveExtractor
from extract.model import AtomicFact, Extraction
from extract.segments import split_segments
from ingest.anchors import (
    CueAnchor,
    MailAnchor,
    MessageAnchor,
    PageAnchor,
    SectionAnchor,
    SheetAnchor,
    SlideAnchor,
)
from ingest.model import Cell, Document, DocumentMeta, Element, ElementKind, Owner, Source

# A loaded machine is slow, and that is no finding.
PATIENT = settings(deadline=None, max_examples=60)

MEETING = datetime(2024, 3, 12, 10, 0, tzinfo=UTC)


def document(name: str = "notes.txt", media_type: str = "text/plain", **meta: object) -> Document:
    return Document(
        id="3a9d0c9e-0000-5000-8000-000000000001",
        owner=Owner(user_id="u1"),
        source=Source(name=name, media_type=media_type, sha256="0" * 64, size_bytes=1),
        received_at=datetime(2024, 6, 1, tzinfo=UTC),
        metadata=DocumentMeta.model_validate(meta),
    )


def prose(*rows: tuple[str, str] | tuple[str, str, int]) -> list[Element]:
    """("heading", "Meals", 1), ("paragraph", "…") → elements of running text."""
    return [
        Element(
            position=at,
            kind=ElementKind(row[0]),
            text=row[1],
            level=row[2] if len(row) > 2 else 0,
            anchor=SectionAnchor(line_start=at + 1),
        )
        for at, row in enumerate(rows)
    ]


def pages(*texts: tuple[int, str]) -> list[Element]:
    return [
        Element(position=at, kind=ElementKind.PARAGRAPH, text=text, anchor=PageAnchor(page=page))
        for at, (page, text) in enumerate(texts)
    ]


def cues(*turns: tuple[str | None, str], step_s: float = 5.0) -> list[Element]:
    return [
        Element(
            position=at,
            kind=ElementKind.CUE,
            text=text,
            anchor=CueAnchor(start_s=at * step_s, end_s=at * step_s + min(step_s, 5) - 1, speaker=speaker),
        )
        for at, (speaker, text) in enumerate(turns)
    ]


def messages(*rows: tuple[str, str, str]) -> list[Element]:
    """("Alice", "2024-03-12T10:00:00+00:00", "text") → messages of a conversation."""
    return [
        Element(
            position=at,
            kind=ElementKind.MESSAGE,
            text=text,
            anchor=MessageAnchor(message_id=f"m{at}", sender=sender),
            metadata={"sent_at": sent_at},
        )
        for at, (sender, sent_at, text) in enumerate(rows)
    ]


def rows(sheet: str, names: tuple[str, ...], *values: tuple[str, ...], first_row: int = 2) -> list[Element]:
    return [
        Element(
            position=at,
            kind=ElementKind.TABLE_ROW,
            text=" | ".join(row),
            anchor=SheetAnchor(sheet=sheet, cells=f"A{first_row + at}:{chr(64 + len(row))}{first_row + at}"),
            cells=tuple(Cell(name=name, value=value) for name, value in zip(names, row, strict=True)),
        )
        for at, row in enumerate(values)
    ]


def slides(*rows: tuple[int, str, str]) -> list[Element]:
    """(1, "title", "Roadmap"), (1, "body", "Ship in June") → elements of a presentation."""
    return [
        Element(
            position=at,
            kind=ElementKind.TITLE if part == "title" else ElementKind.PARAGRAPH,
            text=text,
            anchor=SlideAnchor.model_validate({"slide": slide, "part": part}),
        )
        for at, (slide, part, text) in enumerate(rows)
    ]


def extract_all(document: Document, elements: list[Element], max_tokens: int = 420) -> list[Extraction]:
    extractor = ExtractiveExtractor()
    return [
        extractor.extract(document, segment) for segment in split_segments(document, elements, max_tokens)
    ]


def facts_of(document: Document, elements: list[Element]) -> list[AtomicFact]:
    return [fact for extraction in extract_all(document, elements) for fact in extraction.facts]


def mail(*rows: tuple[str, str, str]) -> list[Element]:
    """("field", "headers", "Subject: Q2"), ("paragraph", "1", "…") → elements of a mail."""
    return [
        Element(
            position=at,
            kind=ElementKind(kind),
            text=text,
            anchor=MailAnchor(part=part),
            metadata={"field": text.split(":")[0].lower()} if kind == "field" else {},
        )
        for at, (kind, part, text) in enumerate(rows)
    ]
