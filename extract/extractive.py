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

from collections.abc import Iterable, Iterator
from itertools import groupby

from extract.assembly import build_episode, make_scene, moment_span
from extract.dating import annotate
from extract.fillers import has_substance, is_filler
from extract.keyphrases import keyphrases
from extract.model import AtomicFact, Episode, Extraction, Origin, Segment, SegmentKind
from extract.overview import summarize
from extract.phrases import phrase
from extract.scripts import has_content, shorten
from extract.statements.draft import Draft, Scene
from extract.statements.mail import mail_drafts
from extract.statements.prose import prose_drafts
from extract.statements.turns import turn_drafts
from extract.stretch import anchors_of
from ingest.ids import fact_id
from ingest.model import Document, ElementKind

_TALK = frozenset({ElementKind.CUE, ElementKind.MESSAGE})
_REMNANT_WIDTH = 400


class ExtractiveExtractor:
    """Makes episodes and facts from the text itself; needs no model, no network, and keeps no state."""

    fingerprint = "extractive-1"
    at_once = 1

    def extract(self, document: Document, segment: Segment) -> Extraction:
        """Return the episode and facts of a segment; the same input gives the same output."""
        scene = make_scene(document, segment)
        drafts = _distinct(scene, _drafts(scene)) or _distinct(scene, _remnants(scene))
        names = (*segment.participants, *document.metadata.participants)
        telling = [draft.said for draft in drafts if draft.standalone] or [draft.said for draft in drafts]
        topics = keyphrases(telling, scene.language, leave_out=names)
        episode = build_episode(scene, summary=summarize(scene, drafts, topics), topics=topics)
        facts = tuple(_fact(scene, episode, at, draft) for at, draft in enumerate(drafts))
        return Extraction(episode=episode, facts=facts)


def _drafts(scene: Scene) -> Iterator[Draft]:
    if scene.segment.kind is SegmentKind.MAIL:
        yield from mail_drafts(scene, scene.segment.elements)
        return
    for talk, group in groupby(scene.segment.elements, key=lambda element: element.kind in _TALK):
        elements = list(group)
        yield from turn_drafts(scene, elements) if talk else prose_drafts(scene, elements)


def _distinct(scene: Scene, drafts: Iterable[Draft]) -> list[Draft]:
    """Drop what says nothing and what was said before in the same segment by the same speaker."""
    kept: dict[tuple[str, str | None], Draft] = {}
    for draft in drafts:
        if draft.supported or has_substance(draft.said, scene.language):
            kept.setdefault((draft.said.casefold(), draft.speaker), draft)
    return list(kept.values())


def _remnants(scene: Scene) -> Iterator[Draft]:
    """A segment of headings or a word or two alone still says those: a title page, a label on a picture."""
    for element in scene.segment.elements:
        if element.kind not in _TALK and has_content(element.text) and not is_filler(element.text):
            said = shorten(element.text, _REMNANT_WIDTH)
            yield Draft(
                said=said,
                quote=element.text.strip(),
                elements=(element,),
                label="" if scene.title == said else scene.title,
                at=scene.time_of(element),
                confidence=0.5,
                supported=True,
            )


def _fact(scene: Scene, episode: Episode, position: int, draft: Draft) -> AtomicFact:
    said, occurred = draft.said, None
    if draft.tells_time:
        said, occurred = annotate(said, draft.at, scene.order, scene.language)
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
        occurred=occurred or moment_span(scene, draft.at, draft.at),
        confidence=draft.confidence,
        origin=Origin.EXTRACTIVE,
    )


def _topic(said: str, episode: Episode) -> str:
    lower = said.lower()
    own = next((topic for topic in episode.topics if topic.lower() in lower), None)
    return own or (episode.topics[0] if episode.topics else episode.title)
