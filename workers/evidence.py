"""The words of the source around what a search found, so that a reader can check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from extract.model import AtomicFact, Episode
from ingest.artifacts import artifact_dir
from ingest.model import Element
from retrieval.model import EpisodeHit, SearchAnswer
from workers.originals import elements_at

_REACH = 1  # elements to each side
_MOST = 40  # elements of one hit
_OPENING = 40  # characters of a quote that tell where it stands


class Piece(NamedTuple):
    """An element of the source. ``of_hit`` is False for what only stands beside the hit."""

    element: Element
    of_hit: bool


Evidence = Mapping[str, tuple[Piece, ...]]


def evidence(artifacts: Path, answer: SearchAnswer) -> Evidence:
    """Return the elements around each hit of an answer, by the id of its episode or fact.

    A fact's are those its quote stands in, an episode's the ones it was made of, at most 40; and one more to
    each side. A document that was deleted meanwhile has none.

    Args:
        artifacts: folder of what the stages leave.
        answer: what was found; a fact's episode is in it too.
    """
    by_document: dict[str, list[EpisodeHit]] = {}
    for hit in answer.episodes:
        by_document.setdefault(hit.indexed.episode.document_id, []).append(hit)
    found: dict[str, tuple[Piece, ...]] = {}
    for identity, hits in by_document.items():
        wanted = {at for hit in hits for at in _around(hit.indexed.episode)}
        path = artifact_dir(artifacts, identity) / "elements.jsonl"
        held = {element.position: element for element in elements_at(path, wanted)}
        for hit in hits:
            found.update(_of_hit(hit, answer, held))
    return found


def _around(episode: Episode) -> range:
    return range(max(0, episode.first - _REACH), episode.last + _REACH + 1)


def _of_hit(
    hit: EpisodeHit, answer: SearchAnswer, held: Mapping[int, Element]
) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    episode = hit.indexed.episode
    own = [held[at] for at in range(episode.first, episode.last + 1) if at in held]
    yield episode.id, _pieces(own[:_MOST], held)
    for fact in (*hit.facts, *answer.facts):
        if fact.indexed.fact.episode_id == episode.id:
            yield fact.indexed.fact.id, _pieces(_behind(fact.indexed.fact, own)[:_MOST], held)


def _behind(fact: AtomicFact, own: list[Element]) -> list[Element]:
    """The elements a fact rests on: by its places, else by its words, else all of its episode."""
    anchors = set(fact.anchors)
    placed = [one for one in own if one.anchor in anchors]
    opening = " ".join(fact.quote.split())[:_OPENING]
    return placed or [one for one in own if opening in " ".join(one.text.split())] or own


def _pieces(own: list[Element], held: Mapping[int, Element]) -> tuple[Piece, ...]:
    positions = {one.position for one in own}
    beside = {at + step for at in positions for step in range(-_REACH, _REACH + 1)}
    return tuple(Piece(held[at], at in positions) for at in sorted(beside) if at in held)
