"""Episodes and facts made of the text itself, without a model.

A statement is a sentence, a list item, a row, a message, or a question with its answer. What it needs to
stand alone (document, heading, sheet and row, speaker and date, the sentence it leans on) is put around
it; the quote stays the source's own words.

Confidence tells how well a statement stands alone, not whether it is true: 0.9 for a full sentence or a
row, 0.85 for spoken ones, 0.75 for a fragment, 0.6 for an unanswered question, 0.4 for headers and
footers; 0.05 less when it leans on the sentence shown as context, 0.2 less when it leans on nothing shown;
0.15 less when read from pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from extract.boundaries import HEADINGS
from extract.dating import annotate, occurred_span
from extract.fillers import has_substance
from extract.keyphrases import keyphrases
from extract.language import detect_language
from extract.model import AtomicFact, Episode, Extraction, Origin, Segment
from extract.overview import summarize
from extract.phrases import phrase
from extract.render import render
from extract.scripts import has_content, one_line
from extract.statements.draft import Draft, Scene
from extract.statements.prose import prose_drafts
from extract.statements.turns import turn_drafts
from extract.stretch import anchors_of
from extract.times import date_order
from extract.titles import document_title
from ingest.anchors import Anchor, PageAnchor
from ingest.ids import episode_id, fact_id
from ingest.model import Document, Element, ElementKind

_TALK = frozenset({ElementKind.CUE, ElementKind.MESSAGE})


class ExtractiveExtractor:
    """Makes episodes and facts from the text itself; needs no model, no network, and keeps no state."""

    fingerprint = "extractive-1"

    def extract(self, document: Document, segment: Segment) -> Extraction:
        """Return the episode and facts of a segment; the same input gives the same output."""
        scene = make_scene(document, segment)
        drafts = _distinct(_drafts(scene))
        topics = keyphrases([draft.said for draft in drafts])
        episode = _episode(scene, drafts, topics)
        facts = tuple(_fact(scene, episode, at, draft) for at, draft in enumerate(drafts))
        return Extraction(episode=episode, facts=facts)


def make_scene(document: Document, segment: Segment) -> Scene:
    """Return what surrounds the statements of a segment."""
    sample = "\n".join(element.text for element in segment.elements)
    language = detect_language(sample, document.metadata.language)
    title = document_title(document)
    return Scene(
        document=document,
        segment=segment,
        title=title,
        titled=title == one_line(document.metadata.title or ""),
        language=language,
        order=date_order(sample, language),
    )


def _drafts(scene: Scene) -> Iterator[Draft]:
    found = False
    for talk, group in groupby(scene.segment.elements, key=lambda element: element.kind in _TALK):
        elements = list(group)
        for draft in turn_drafts(scene, elements) if talk else prose_drafts(scene, elements):
            found = True
            yield draft
    if not found:
        yield from _heading_drafts(scene)


def _heading_drafts(scene: Scene) -> Iterator[Draft]:
    """Headings alone are what a title page or a section slide says."""
    for element in scene.segment.elements:
        if element.kind in HEADINGS and has_content(element.text):
            said = one_line(element.text)
            label = scene.title if scene.title != said else ""
            yield Draft(
                said, element.text.strip(), (element,), label, confidence=0.5, at=scene.time_of(element)
            )


def _distinct(drafts: Iterator[Draft]) -> list[Draft]:
    """Drop what says nothing and what was said before in the same segment by the same speaker."""
    kept: dict[tuple[str, str | None], Draft] = {}
    for draft in drafts:
        if draft.supported or has_substance(draft.said):
            kept.setdefault((draft.said.casefold(), draft.speaker), draft)
    return list(kept.values())


def _episode(scene: Scene, drafts: Sequence[Draft], topics: tuple[str, ...]) -> Episode:
    segment, document = scene.segment, scene.document
    return Episode(
        id=episode_id(document.id, segment.position),
        document_id=document.id,
        owner=document.owner,
        position=segment.position,
        kind=segment.kind,
        title=segment.title,
        summary=summarize(scene, drafts, topics),
        text=render(segment.elements, scene.language),
        topics=topics,
        participants=segment.participants,
        language=scene.language,
        occurred=occurred_span(segment.occurred_at, scene.time_of(segment.elements[-1])),
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


def _fact(scene: Scene, episode: Episode, position: int, draft: Draft) -> AtomicFact:
    said, occurred = annotate(draft.said, draft.at, scene.order, scene.language)
    context = f"[{draft.context}] " if draft.context else ""
    label = draft.label + phrase(scene.language, "colon") if draft.label else ""
    return AtomicFact(
        id=fact_id(episode.id, position),
        episode_id=episode.id,
        document_id=episode.document_id,
        owner=episode.owner,
        position=position,
        text=f"{label}{context}{said}",
        topic_name=draft.topic or _topic(draft.said, episode),
        quote=draft.quote,
        anchors=anchors_of(draft.elements),
        speaker=draft.speaker,
        participants=draft.participants or episode.participants,
        language=scene.language,
        occurred=occurred or occurred_span(draft.at, draft.at),
        confidence=draft.confidence,
        origin=Origin.EXTRACTIVE,
    )


def _topic(said: str, episode: Episode) -> str:
    lower = said.lower()
    own = next((topic for topic in episode.topics if topic.lower() in lower), None)
    return own or (episode.topics[0] if episode.topics else episode.title)
