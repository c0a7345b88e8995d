"""Ranked lists straight from the engine, for a search that is carried out beside the data.

They are what ``QdrantStore.search`` would return over the wire, without its cost: nothing is written out and
read again, what is known of a point is remembered, and no list is asked for twice in one search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import qdrant_edge as edge

from retrieval.edge.filters import read_filter
from retrieval.edge.remembered import Known
from retrieval.edge.shards import Shard
from retrieval.protocols import Carry, Collection, Lane, Scored, SparseVector, in_order
from retrieval.qdrant.vector_names import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, SPARSE
from retrieval.traits import Traits

_score = attrgetter("score")


class _Listed(NamedTuple):
    """A list as it was asked for: up to ``limit`` items, best first."""

    limit: int
    known: list[Known]
    scores: list[float]

    def cut(self, limit: int) -> _Listed:
        return _Listed(limit, self.known[:limit], self.scores[:limit])


_NOTHING = _Listed(0, [], [])


class _Signal(NamedTuple):
    """What a list is sorted by."""

    dense: bool
    context: bool
    sparse: SparseVector | None


class _Key(NamedTuple):
    """What a list depends on besides its length. A search has one vector and one bag of terms."""

    signal: _Signal
    parents: tuple[str, ...] | None
    ids: tuple[str, ...] | None


class EngineLanes:
    """The two layers as one search sees them.

    Args:
        shards: the collections.
        where: the filter of all lanes as Qdrant's JSON: the tenant and the conditions of the search.
        corpus: the filter of the points whose words say how rare a term is.

    Raises:
        Refusal: a filter cannot be read.
    """

    near = True

    def __init__(self, shards: Mapping[Collection, Shard], where: Any, corpus: Any) -> None:  # noqa: ANN401
        which, idf = read_filter(where), edge.SearchParams(idf=edge.IdfParams(read_filter(corpus)))
        self._asking = {kind: _Asking(shard, which, idf) for kind, shard in shards.items()}
        self.log: list[tuple[Collection, Lane, int]] = []

    def search(self, collection: Collection, lanes: Sequence[Lane]) -> list[list[Scored]]:
        """Return one ranked list per lane; equal scores stand in the order of ids.

        Raises:
            Refusal: the engine does not accept a lane.
        """
        asking = self._asking[collection]
        found = [_told(collection, lane, asking.listed(lane)) for lane in lanes]
        self.log.extend((collection, lane, len(hits)) for lane, hits in zip(lanes, found, strict=True))
        return found


class _Asking:
    """The lists of one search in one layer."""

    def __init__(self, shard: Shard, where: edge.Filter, idf: edge.SearchParams) -> None:
        self._shard = shard
        self._where = where
        self._plain = not (where.should or where.must_not or where.min_should)
        self._idf = idf
        self._lists: dict[_Key, _Listed] = {}
        self._filters: dict[tuple[Any, ...], edge.Filter] = {}
        self._queries: dict[_Signal, edge.Query] = {}

    def listed(self, lane: Lane) -> _Listed:
        """Return the items of a lane, best first."""
        if lane.dense is None and not (lane.sparse and lane.sparse.indices):
            return _NOTHING  # a question without a single word matches nothing
        key = _Key(_signal(lane), lane.parents, lane.ids)
        held = self._lists.get(key, _NOTHING)
        if held.limit < lane.limit:
            held = self._lists[key] = self._asked(lane)
        return held if len(held.known) <= lane.limit else held.cut(lane.limit)

    def _asked(self, lane: Lane) -> _Listed:
        which = self._filter(lane)
        points = self._shard.read(lambda engine: engine.query(self._request(lane, which)))
        return _Listed(lane.limit, self._shard.remembered.of(points), list(map(_score, points)))

    def _filter(self, lane: Lane) -> edge.Filter:
        # Lanes name the same hundreds of ids, and reading an id costs more than finding it.
        key = lane.parents, lane.ids
        if key not in self._filters:
            self._filters[key] = self._narrowed(lane)
        return self._filters[key]

    def _narrowed(self, lane: Lane) -> edge.Filter:
        # Side by side, not nested: every nested filter costs time at every point it looks at.
        must: list[edge.ConditionType] = [*(self._where.must or ())] if self._plain else [self._where]
        narrowed: list[edge.ConditionType] = []
        if lane.parents is not None:
            narrowed.append(edge.FieldCondition("episode_id", match=edge.MatchAny(list(lane.parents))))
        if lane.ids is not None:
            narrowed.append(_one_of(lane.ids))
        must.extend([edge.Filter(should=narrowed)] if len(narrowed) > 1 else narrowed)
        return edge.Filter(must=must)

    def _request(self, lane: Lane, which: edge.Filter) -> edge.QueryRequest:
        signal = _signal(lane)
        if signal not in self._queries:
            self._queries[signal] = _query(lane)
        params = None if signal.dense else self._idf
        return edge.QueryRequest(limit=lane.limit, query=self._queries[signal], filter=which, params=params)


def _query(lane: Lane) -> edge.Query:
    if lane.dense is not None:
        return edge.Query.Nearest(lane.dense.tolist(), CONTEXT_DENSE if lane.context else DENSE)
    assert lane.sparse is not None  # a lane has one of both
    terms = edge.SparseVector(list(lane.sparse.indices), list(lane.sparse.values))
    return edge.Query.Nearest(terms, CONTEXT_SPARSE if lane.context else SPARSE)


def _one_of(ids: Iterable[str]) -> edge.HasIdCondition:
    return edge.HasIdCondition(set(ids))


def _signal(lane: Lane) -> _Signal:
    return _Signal(lane.dense is not None, lane.context, None if lane.dense is not None else lane.sparse)


def _told(collection: Collection, lane: Lane, listed: _Listed) -> list[Scored]:
    names, scores = [one.name for one in listed.known], listed.scores
    traits: Iterable[Traits | None] = repeat(None)
    if lane.carry is not Carry.NOTHING:
        traits = [one.traits for one in listed.known]
    told = zip(names, scores, repeat(collection), traits, repeat(None))
    return in_order(list(map(Scored._make, told)))
