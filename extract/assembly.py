"""What both extractors share: the scene of a segment, and the episode made of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from extract.dating import day_span, talk_span
from extract.language import detect_language
from extract.model import Episode, Segment, SegmentKind, TimeSpan
from extract.names import document_title, own_title
from extract.render import render
from extract.statements.draft import Scene
from extract.stretch import anchors_of
from extract.times import date_order
from ingest.anchors import Anchor, PageAnchor
from ingest.ids import episode_id
from ingest.model import Document, Element

_CLOCKED = frozenset({SegmentKind.TRANSCRIPT, SegmentKind.CONVERSATION, SegmentKind.MAIL})


def make_scene(document: Document, segment: Segment) -> Scene:
    """Return what surrounds the statements of a segment."""
    sample = "\n".join(element.text for element in segment.elements)
    language = detect_language(sample, document.metadata.language)
    return Scene(
        document=document,
        segment=segment,
        title=document_title(document),
        titled=own_title(document) is not None,
        language=language,
        order=date_order(sample, language),
    )


def build_episode(
    scene: Scene,
    *,
    summary: str,
    topics: tuple[str, ...],
    title: str | None = None,
    participants: tuple[str, ...] = (),
) -> Episode:
    """Return the episode of a segment.

    Args:
        scene: the segment and what surrounds it.
        summary: two or three sentences.
        topics: what it is about.
        title: better than the one structure gave, if any.
        participants: who takes part, where the source itself does not tell.
    """
    segment, document = scene.segment, scene.document
    return Episode(
        id=episode_id(document.id, segment.position),
        document_id=document.id,
        owner=document.owner,
        position=segment.position,
        kind=segment.kind,
        title=title or segment.title,
        summary=summary,
        text=render(segment.elements, scene.language),
        topics=topics,
        participants=segment.participants or participants,
        language=scene.language,
        occurred=moment_span(scene, segment.occurred_at, scene.time_of(segment.elements[-1])),
        recorded_at=document.received_at,
        first=segment.elements[0].position,
        last=segment.elements[-1].position,
        anchors=_episode_anchors(segment.elements),
    )


def _episode_anchors(elements: Sequence[Element]) -> tuple[Anchor, ...]:
    """Return every page once, or the first and last place of anything else."""
    pages = dict.fromkeys(
        element.anchor.page for element in elements if isinstance(element.anchor, PageAnchor)
    )
    if pages:
        return tuple(PageAnchor(page=page) for page in pages)
    return anchors_of((elements[0], elements[-1]))


def moment_span(scene: Scene, start: datetime | None, last: datetime | None) -> TimeSpan | None:
    """Return when something of a segment happened: talk and mail to the minute, a document on a day."""
    if start is None:
        return None
    return talk_span(start, last or start) if scene.segment.kind in _CLOCKED else day_span(start)
