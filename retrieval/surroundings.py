"""What stands around a fact: its neighbours, as one vector and one bag of terms.

A sentence or a turn alone often lacks the words a question uses, because they stand beside it. The fact's own
vector is averaged with its neighbours', nearer ones counting more, so nothing is encoded twice. Where a talk
or a section was cut into episodes for its size, the neighbours across the cut count too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import numpy as np

from extract.model import AtomicFact, Episode
from ingest.anchors import SectionAnchor
from retrieval.model import IndexedFact
from retrieval.protocols import SparseVector, Surroundings, Vector
from retrieval.sparse import encode_document
from retrieval.traits import TALK, Traits, episode_traits, fact_traits

# Mean number of terms of a fact with its neighbours; a change needs a new index.
_CONTEXT_TERMS = 120.0
_TERM_REACH = 2
VECTOR_REACH = 3
# A longer pause ends a talk.
_PAUSE = timedelta(hours=4)


class Neighbour(NamedTuple):
    """A fact with its vector, None where it has none."""

    fact: AtomicFact
    dense: Vector | None


def connected(left: Episode, right: Episode) -> bool:
    """Return whether the second episode goes on where the first ends: the same talk, or the same section."""
    if left.kind is not right.kind or right.first != left.last + 1:
        return False
    if left.kind in TALK:
        one, other = left.occurred, right.occurred
        return one is None or other is None or max(other.start - one.end, one.start - other.end) < _PAUSE
    if not (left.anchors and right.anchors):
        return False
    ends, begins = left.anchors[-1], right.anchors[0]
    return (
        isinstance(ends, SectionAnchor)
        and isinstance(begins, SectionAnchor)
        and ends.heading_path == begins.heading_path
    )


def alone(item: IndexedFact, dense: Vector | None, sparse: SparseVector) -> Surroundings:
    """Return the surroundings of a fact of which neither neighbours nor episode are known."""
    return Surroundings(dense, sparse, fact_traits(item.fact, Traits(document=item.fact.document_id)))


def surroundings(
    episode: Episode,
    facts: Sequence[Neighbour],
    before: Sequence[Neighbour] = (),
    after: Sequence[Neighbour] = (),
) -> list[Surroundings]:
    """Return what stands around each fact of an episode.

    Args:
        episode: whose facts these are.
        facts: all of them, in order.
        before: the last facts of the episode that this one goes on from.
        after: the first facts of the episode that goes on from this one.
    """
    told = episode_traits(episode)
    line = [*before, *facts, *after]
    found = []
    for at in range(len(before), len(before) + len(facts)):
        fact = line[at].fact
        near = line[max(0, at - _TERM_REACH) : at + _TERM_REACH + 1]
        words = "\n".join((fact.topic_name, *(other.fact.text for other in near)))
        traits = fact_traits(fact, told, line[at - 1].fact.quote if at else "")
        found.append(Surroundings(_average(line, at), encode_document(words, _CONTEXT_TERMS), traits))
    return found


def _average(line: Sequence[Neighbour], at: int) -> Vector | None:
    own = line[at].dense
    if own is None:
        return None
    total = own.copy()
    for other in range(max(0, at - VECTOR_REACH), min(len(line), at + VECTOR_REACH + 1)):
        vector = line[other].dense
        if vector is not None and other != at:
            total += vector / np.float32(1 + abs(other - at))
    norm = np.linalg.norm(total)
    return total / norm if norm > 0 else own
