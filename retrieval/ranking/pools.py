"""The candidates of one search with their raw signals, as arrays: read from lanes, handed to a scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retrieval.protocols import Scored
from retrieval.ranking.fusion import Floats
from retrieval.traits import Traits


class EpisodePool(NamedTuple):
    """Coarse episodes. ``cosine`` is NaN where there is no vector, ``bm25`` 0 where no word matches."""

    ids: tuple[str, ...]
    traits: tuple[Traits, ...]
    cosine: Floats
    bm25: Floats


class FactPool(NamedTuple):
    """Facts that may answer; the ``context`` signals are those of a fact's surroundings."""

    ids: tuple[str, ...]
    traits: tuple[Traits, ...]
    cosine: Floats
    bm25: Floats
    context_cosine: Floats
    context_bm25: Floats

    @property
    def parents(self) -> list[str]:
        """The episode of each fact."""
        return [traits.parent or "" for traits in self.traits]


def _column(ids: Sequence[str], lane: Sequence[Scored], missing: float) -> Floats:
    scores = {hit.id: hit.score for hit in lane}
    return np.array([scores.get(id_, missing) for id_ in ids], dtype=np.float64)


def _traits(lanes: Sequence[Sequence[Scored]]) -> dict[str, Traits]:
    return {hit.id: hit.traits for lane in lanes for hit in lane if hit.traits is not None}


def episode_pool(dense: Sequence[Scored], sparse: Sequence[Scored]) -> EpisodePool:
    """Return the candidates of two lanes.

    Args:
        dense: by the summary's vector.
        sparse: by the words of the whole text.
    """
    traits = dict(sorted(_traits((dense, sparse)).items()))
    ids = tuple(traits)
    return EpisodePool(ids, tuple(traits.values()), _column(ids, dense, np.nan), _column(ids, sparse, 0.0))


def fact_pool(
    dense: Sequence[Scored],
    sparse: Sequence[Scored],
    context_dense: Sequence[Scored],
    context_sparse: Sequence[Scored],
    *,
    known: Sequence[Sequence[Scored]] = (),
) -> FactPool:
    """Return the candidates of four lanes that cover the same facts.

    Args:
        dense: by the fact's vector.
        sparse: by the fact's words.
        context_dense: by the vector of its surroundings.
        context_sparse: by the words of its surroundings.
        known: lanes to take traits from; a fact without any is left out.
    """
    lanes = (dense, sparse, context_dense, context_sparse)
    traits = _traits((*known, *lanes))
    ids = tuple(sorted({hit.id for lane in lanes for hit in lane} & traits.keys()))
    return FactPool(
        ids,
        tuple(traits[id_] for id_ in ids),
        _column(ids, dense, np.nan),
        _column(ids, sparse, 0.0),
        _column(ids, context_dense, np.nan),
        _column(ids, context_sparse, 0.0),
    )
