"""What stands around a fact: its neighbours in the episode, as one vector and one bag of terms.

A sentence or a turn alone often lacks the words a question uses, because they stand beside it. The fact's own
vector is averaged with its neighbours', nearer ones counting more, so nothing is encoded twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extract.model import AtomicFact, TimeSpan
from retrieval.model import IndexedFact
from retrieval.protocols import SparseVector, Surroundings, Vector
from retrieval.sparse import encode_document
from retrieval.traits import fact_traits

# Mean number of terms of a fact with its neighbours; a change needs a new index.
_CONTEXT_TERMS = 120.0
_TERM_REACH = 2
_VECTOR_REACH = 3


def alone(item: IndexedFact, dense: Vector | None, sparse: SparseVector) -> Surroundings:
    """Return the surroundings of a fact of which no neighbours are known."""
    told = None if item.context is None else item.context.occurred
    return Surroundings(dense, sparse, fact_traits(item.fact, told))


def surroundings(
    facts: Sequence[AtomicFact], dense: Sequence[Vector | None], told: TimeSpan | None
) -> list[Surroundings]:
    """Return what stands around each fact of one episode.

    Args:
        facts: all facts of the episode, in order.
        dense: their vectors; None where a fact has none.
        told: the time of the episode.
    """
    found = []
    for at, fact in enumerate(facts):
        near = facts[max(0, at - _TERM_REACH) : at + _TERM_REACH + 1]
        terms = encode_document("\n".join((fact.topic_name, *(other.text for other in near))), _CONTEXT_TERMS)
        before = facts[at - 1].quote if at else ""
        found.append(Surroundings(_average(dense, at), terms, fact_traits(fact, told, before)))
    return found


def _average(dense: Sequence[Vector | None], at: int) -> Vector | None:
    own = dense[at]
    if own is None:
        return None
    total = own.copy()
    for other in range(max(0, at - _VECTOR_REACH), min(len(dense), at + _VECTOR_REACH + 1)):
        vector = dense[other]
        if vector is not None and other != at:
            total += vector / np.float32(1 + abs(other - at))
    norm = np.linalg.norm(total)
    return total / norm if norm > 0 else own
