"""Passages of a question set as documents, in the same shape as files and conversations that come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby

from extract.extractive import ExtractiveExtractor
from extract.model import Extraction
from extract.moments import SENT_AT
from extract.segments import split_segments
from ingest.anchors import MessageAnchor, SectionAnchor
from ingest.ids import document_id
from ingest.model import Document, DocumentMeta, Element, ElementKind, Owner, Source
from retrieval.evaluation.sets import EVERYWHERE, Passage

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_TITLE_CHARACTERS = 120


def documents(passages: Sequence[Passage], tenant: str) -> Iterator[tuple[Document, list[Element]]]:
    """Yield the documents of a set: one for each session of a talk, or for each text of its own.

    A document's source name is the passage's id, or that of the talk; a message's id is the passage's.
    """
    for (scope, session), group in groupby(passages, key=lambda one: (one.scope, one.meta.get("session"))):
        if scope is None:
            for one in group:
                yield _text(one, tenant)
        else:
            yield _talk(list(group), tenant, scope, str(session or scope))


def extractions(document: Document, elements: Sequence[Element]) -> Iterator[Extraction]:
    """Yield episodes and facts of a document, made without a model."""
    extractor = ExtractiveExtractor()
    for segment in split_segments(document, elements):
        yield extractor.extract(document, segment)


def _talk(turns: Sequence[Passage], tenant: str, scope: str, session: str) -> tuple[Document, list[Element]]:
    elements = []
    for at, turn in enumerate(turns):
        speaker = turn.meta.get("speaker")
        sender = speaker if isinstance(speaker, str) else None
        said = turn.text.removeprefix(f"{sender}: ") if sender else turn.text
        date = turn.meta.get("date")
        elements.append(
            Element(
                position=at,
                kind=ElementKind.MESSAGE,
                text=said,
                anchor=MessageAnchor(message_id=turn.id, sender=sender),
                metadata={SENT_AT: date} if date else {},
            )
        )
    owner = Owner(tenant=tenant, user_id=scope, session_id=session)
    return _document(owner, session, "\n".join(turn.text for turn in turns), DocumentMeta()), elements


def _text(passage: Passage, tenant: str) -> tuple[Document, list[Element]]:
    lines = [line for line in passage.text.split("\n") if line.strip()]
    title = lines[0] if len(lines) > 1 and len(lines[0]) <= _TITLE_CHARACTERS else None
    date = passage.meta.get("date")
    meta = DocumentMeta(title=title, occurred_at=datetime.fromisoformat(str(date)) if date else None)
    elements = [
        Element(
            position=at,
            kind=ElementKind.TITLE if title is not None and at == 0 else ElementKind.PARAGRAPH,
            text=line,
            anchor=SectionAnchor(line_start=at + 1),
        )
        for at, line in enumerate(lines)
    ]
    return _document(Owner(tenant=tenant, user_id=EVERYWHERE), passage.id, passage.text, meta), elements


def _document(owner: Owner, name: str, text: str, meta: DocumentMeta) -> Document:
    digest = sha256(f"{name}\n{text}".encode()).hexdigest()
    source = Source(name=name, media_type="text/plain", sha256=digest, size_bytes=len(text.encode()))
    return Document(
        id=document_id(owner, digest), owner=owner, source=source, received_at=_EPOCH, metadata=meta
    )
