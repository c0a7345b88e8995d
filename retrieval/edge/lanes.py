"""Ranked lists straight from the engine, for a search that is carried out beside the data.

They are what ``QdrantStore.search`` would return over the wire, without its cost: nothing is written out and
read again, a list that several lanes build on is asked for once, and traits are remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import qdrant_edge as edge

from retrieval.edge.filters import read_filter
from retrieval.edge.remembered import Remembered
from retrieval.edge.shards import Shard
from retrieval.protocols import Carry, Collection, Lane, Scored, SparseVector
from retrieval.vector_names import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, SPARSE


class _Listed(NamedTuple):
    """A list as it was asked for; ``names`` are the ids of its points as text."""

    limit: int
    points: list[edge.ScoredPoint]
    names: list[str]

    def cut(self, limit: int) -> _Listed:
        return self if len(self.points) <= limit else _Listed(limit, self.points[:limit], self.names[:limit])


_NOTHING = _Listed(0, [], [])


class _Key(NamedTuple):
    """What a list depends on besides its length. A search has one vector and one bag of terms."""

    dense: bool
    sparse: SparseVector | None
    context: bool
    parents: tuple[str, ...] | None
    ids: tuple[str, ...] | None
    without: tuple[str, ...] | None
    bare: bool
    among: tuple[_Key, ...]


class EngineLanes:
    """The two layers as one search sees them.

    Args:
        shards: the collections.
        where: the filter of all lanes as Qdrant's JSON: the tenant and the conditions of the search.
        corpus: the filter of the points whose words say how rare a term is.

    Raises:
        Refusal: a filter cannot be read.
    """

    def __init__(self, shards: Mapping[Collection, Shard], where: Any, corpus: Any) -> None:  # noqa: ANN401
        self._shards = shards
        self._where = read_filter(where)
        self._idf = edge.SearchParams(idf=edge.IdfParams(read_filter(corpus)))
        self.log: list[tuple[Collection, Lane, int]] = []

    def search(self, collection: Collection, lanes: Sequence[Lane]) -> list[list[Scored]]:
        """Return one ranked list per lane; equal scores stand in the order of ids.

        Raises:
            Refusal: the engine does not accept a lane.
        """
        shard = self._shards[collection]
        asking = _Asking(shard, self._where, self._idf)
        found = [_told(collection, shard.remembered, lane, asking.listed(lane)) for lane in lanes]
        self.log.extend((collection, lane, len(hits)) for lane, hits in zip(lanes, found, strict=True))
        return found


class _Asking:
    """The lists of one trip."""

    def __init__(self, shard: Shard, where: edge.Filter, idf: edge.SearchParams) -> None:
        self._shard = shard
        self._where = where
        self._idf = idf
        self._known: dict[_Key, _Listed] = {}
        self._sets: dict[tuple[str, ...], edge.HasIdCondition] = {}

    def listed(self, lane: Lane) -> _Listed:
        """Return the points of a lane, best first."""
        if not _is_asked(lane):
            return _NOTHING
        key = _key(lane)
        known = self._known.get(key, _NOTHING)
        if known.limit < lane.limit:
            known = self._known[key] = self._read_off(lane, key) or self._asked(lane)
        return known.cut(lane.limit)

    def _read_off(self, lane: Lane, key: _Key) -> _Listed | None:
        """Read a lane off one that holds the items it leaves out as well, if that is long enough."""
        wider = self._known.get(key._replace(ids=lane.without, without=None))
        if wider is None or not lane.without or lane.ids is not None:
            return None
        left_out = set(lane.without)
        rest = [at for at, name in enumerate(wider.names) if name not in left_out]
        if len(rest) < lane.limit and len(wider.points) >= wider.limit:
            return None
        return _Listed(lane.limit, [wider.points[at] for at in rest], [wider.names[at] for at in rest])

    def _asked(self, lane: Lane) -> _Listed:
        must: list[edge.ConditionType] = [self._where]
        narrowed: list[edge.ConditionType] = []
        if lane.parents is not None:
            narrowed.append(edge.FieldCondition("episode_id", match=edge.MatchAny(list(lane.parents))))
        if lane.ids is not None:
            narrowed.append(self._one_of(lane.ids))
        must.extend([edge.Filter(should=narrowed)] if len(narrowed) > 1 else narrowed)
        if lane.among:
            united = {name for inner in lane.among for name in self.listed(inner).names}
            must.append(self._one_of(tuple(sorted(united))))
        must_not: list[edge.ConditionType] = [self._one_of(lane.without)] if lane.without else []
        if lane.bare:
            must_not.append(edge.HasVectorCondition(DENSE))
        which = edge.Filter(must=must, must_not=must_not or None)
        points = self._shard.read(lambda engine: engine.query(self._request(lane, which)))
        return _Listed(lane.limit, points, self._shard.remembered.names(points))

    def _request(self, lane: Lane, which: edge.Filter) -> edge.QueryRequest:
        if lane.dense is not None:
            query = edge.Query.Nearest(lane.dense.tolist(), CONTEXT_DENSE if lane.context else DENSE)
            return edge.QueryRequest(limit=lane.limit, query=query, filter=which)
        assert lane.sparse is not None  # _is_asked
        terms = edge.SparseVector(list(lane.sparse.indices), list(lane.sparse.values))
        query = edge.Query.Nearest(terms, CONTEXT_SPARSE if lane.context else SPARSE)
        return edge.QueryRequest(limit=lane.limit, query=query, filter=which, params=self._idf)

    def _one_of(self, ids: tuple[str, ...]) -> edge.HasIdCondition:
        if ids not in self._sets:
            self._sets[ids] = edge.HasIdCondition(set(ids))
        return self._sets[ids]


def _is_asked(lane: Lane) -> bool:
    """Return whether a lane can find anything: a question without a single word matches nothing."""
    return lane.dense is not None or bool(lane.sparse and lane.sparse.indices)


def _key(lane: Lane) -> _Key:
    among = tuple(_key(inner) for inner in lane.among)
    return _Key(
        lane.dense is not None, lane.sparse, lane.context, lane.parents, lane.ids, lane.without, lane.bare,
        among,
    )  # fmt: skip


def _told(collection: Collection, remembered: Remembered, lane: Lane, listed: _Listed) -> list[Scored]:
    points, names = listed.points, listed.names
    if lane.carry is Carry.NOTHING:
        hits = [Scored(name, point.score, collection) for name, point in zip(names, points, strict=True)]
    else:
        traits = remembered.traits(points)
        told = zip(names, points, traits, strict=True)
        hits = [Scored(name, point.score, collection, traits) for name, point, traits in told]
    if any(left.score == right.score and left.id > right.id for left, right in pairwise(hits)):
        hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits
