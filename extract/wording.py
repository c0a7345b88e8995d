"""A model's statements made into facts: quotes looked up, times resolved, doubles dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from extract.alignment import Aligner, Grounded
from extract.assembly import moment_span
from extract.dating import annotate
from extract.envelope import sender_of
from extract.fillers import has_substance
from extract.grounding import even_out
from extract.model import AtomicFact, Episode, Origin, SegmentKind, TimeSpan
from extract.names import speaker_of
from extract.said import SaidFact
from extract.scripts import estimate_tokens, one_line
from extract.standing import name_speaker, tell_day
from extract.statements.draft import Scene
from extract.stretch import anchors_of
from extract.times import find_times
from ingest.ids import fact_id
from ingest.model import Element, ElementKind

_EXACT, _ALIGNED, _DOUBTFUL, _UNGROUNDED = 0.95, 0.85, 0.5, 0.3
_LABELS = frozenset({ElementKind.TITLE, ElementKind.HEADING, ElementKind.HEADER, ElementKind.FOOTER})
_MAIL_HEADERS = ("from:", "to:", "cc:", "bcc:", "reply-to:", "date:", "subject:")
_LIST_MARK = re.compile(r"^[-•*]\s+")
# A quote that is so much shorter than the statement proves little of it.
_LITTLE = 0.3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def facts_of(
    scene: Scene, episode: Episode, said: Sequence[SaidFact], aligner: Aligner
) -> tuple[AtomicFact, ...]:
    """Return the facts of an answer in order; empty and repeated ones, and mere headings, are dropped."""
    distinct = list(_distinct(scene, said))
    labels = {even_out(element.text) for element in scene.segment.elements if _is_label(element)}
    telling = [one for one in distinct if even_out(one.text) not in labels]
    # Of a stretch of headings alone they are what there is.
    return tuple(
        _fact(scene, episode, position, one, aligner.ground(one.quote, one.text))
        for position, one in enumerate(telling or distinct)
    )


def _is_label(element: Element) -> bool:
    """Tell whether an element only names what stands around it; small models copy such as facts."""
    if element.kind is ElementKind.FIELD:
        return element.text.casefold().startswith(_MAIL_HEADERS)
    return element.kind in _LABELS


def _distinct(scene: Scene, said: Sequence[SaidFact]) -> Iterator[SaidFact]:
    seen: set[str] = set()
    for one in said:
        mark = one_line(one.text).casefold().rstrip(".。 ")
        if mark not in seen and has_substance(one.text, scene.language):
            seen.add(mark)
            yield one


def _fact(
    scene: Scene, episode: Episode, position: int, said: SaidFact, found: Grounded | None
) -> AtomicFact:
    whole = scene.segment.elements
    elements = found.elements if found and found.elements else (whole[0],)
    at = scene.time_of(elements[0])
    speaker = _speaker(said, elements, episode, grounded=found is not None)
    text, own = annotate(_LIST_MARK.sub("", one_line(said.text)), at, scene.order, scene.language)
    text = name_speaker(text, speaker or _voice(scene, episode), scene.title, scene.language)
    text = tell_day(text, at, scene.language)
    return AtomicFact(
        id=fact_id(episode.id, position),
        episode_id=episode.id,
        document_id=episode.document_id,
        owner=episode.owner,
        position=position,
        text=text,
        topic_name=said.topic or episode.title,
        quote=found.quote if found else said.quote,
        anchors=found.anchors if found else anchors_of((whole[0], whole[-1])),
        speaker=speaker,
        participants=(speaker,) if speaker else episode.participants,
        language=scene.language,
        occurred=_told(scene, said, elements[0]) or own or moment_span(scene, at, at),
        confidence=_confidence(said, found, episode),
        origin=Origin.LLM,
        grounded=found is not None,
    )


def _voice(scene: Scene, episode: Episode) -> str | None:
    """Return whose "I" it is where no line has a speaker: a mail's sender, or the only one in a talk."""
    if scene.segment.kind is SegmentKind.MAIL:
        return sender_of(scene.document)
    return episode.participants[0] if len(episode.participants) == 1 else None


def _confidence(said: SaidFact, found: Grounded | None, episode: Episode) -> float:
    """Numbers the source does not hold make a statement doubtful even when its quote stands there."""
    if found is None:
        return _UNGROUNDED
    if any(number not in episode.text for number in _NUMBER.findall(said.text)):
        return _DOUBTFUL
    if estimate_tokens(found.quote) < _LITTLE * estimate_tokens(said.text):
        return _DOUBTFUL
    return _EXACT if found.exact else _ALIGNED


def _speaker(said: SaidFact, elements: Sequence[Element], episode: Episode, *, grounded: bool) -> str | None:
    """Return who speaks: the source knows better than the model where the quote was found."""
    if grounded and (name := speaker_of(elements[0])):
        return name
    known = {name.casefold(): name for name in episode.participants}
    return known.get(said.speaker.casefold())


def _told(scene: Scene, said: SaidFact, element: Element) -> TimeSpan | None:
    """Resolve the time words a model copied, if the source's text really holds them."""
    words = said.time.strip()
    if not words or one_line(words).casefold() not in one_line(f"{element.text} {said.quote}").casefold():
        return None
    spans = (mention.span for mention in find_times(words, scene.time_of(element), scene.order))
    return next((span for span in spans if span is not None), None)
