"""The words of the source behind what a search found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from ingest.artifacts import artifact_dir
from ingest.model import Element
from retrieval.model import EpisodeHit, SearchAnswer

Originals = Mapping[str, tuple[Element, ...]]


def originals(artifacts: Path, answer: SearchAnswer) -> Originals:
    """Return the elements behind each hit of an answer, by the id of its episode or fact.

    Those of an episode are all it was made of; those of a fact are the ones that hold its quote. A document
    that was deleted meanwhile has none.

    Args:
        artifacts: folder of what the stages leave.
        answer: what was found; a fact's episode is in it too.
    """
    by_document: dict[str, list[EpisodeHit]] = {}
    for hit in answer.episodes:
        by_document.setdefault(hit.indexed.episode.document_id, []).append(hit)
    found: dict[str, tuple[Element, ...]] = {}
    for identity, hits in by_document.items():
        path = artifact_dir(artifacts, identity) / "elements.jsonl"
        wanted = {at for hit in hits for at in range(hit.indexed.episode.first, hit.indexed.episode.last + 1)}
        held = {element.position: element for element in elements_at(path, wanted)}
        for hit in hits:
            episode = hit.indexed.episode
            own = tuple(held[at] for at in range(episode.first, episode.last + 1) if at in held)
            found[episode.id] = own
            for fact in (*hit.facts, *answer.facts):
                if fact.indexed.fact.episode_id == episode.id:
                    anchors = set(fact.indexed.fact.anchors)
                    found[fact.indexed.fact.id] = tuple(one for one in own if one.anchor in anchors)
    return found


def elements_at(path: Path, positions: Iterable[int]) -> Iterator[Element]:
    """Yield the elements at some positions; each stands in the line of that number.

    Args:
        path: the elements of a document; where there is no such file, nothing comes.
        positions: from 0, in any order.
    """
    wanted = sorted(positions)
    if not wanted or not path.exists():
        return
    with path.open("rb") as stream:
        at = 0
        for position in wanted:
            line = next(islice(stream, position - at, None), None)
            if line is None:
                return
            at = position + 1
            yield Element.model_validate_json(line)
