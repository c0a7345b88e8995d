"""The store as one search sees it: bound to its tenant and conditions, counting trips and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from time import perf_counter
from typing import TypeVar

from retrieval.filters import AllOf, AsOf, FilterExpr
from retrieval.model import IndexedEpisode, IndexedFact, LaneCount, SearchQuery
from retrieval.protocols import Collection, Lane, Scored, VectorStore

Answer = TypeVar("Answer")


class Trips:
    """The store, bound to the tenant, the owner and the filters of one search.

    Args:
        store: where to search.
        query: gives tenant, filters and moment.
    """

    near = False

    def __init__(self, store: VectorStore, query: SearchQuery) -> None:
        self._store = store
        self.tenant = query.tenant
        self.where: FilterExpr = AllOf(parts=(query.where, AsOf(moment=query.as_of)))
        self.count = 0
        self.seconds = 0.0
        self._log: list[LaneCount] = []

    def search(self, collection: Collection, lanes: Sequence[Lane]) -> list[list[Scored]]:
        """Return one ranked list per lane, in one trip."""
        started = perf_counter()
        found = self._store.search(collection, self.tenant, self.where, lanes)
        self._spent(started)
        self._log.extend(lane_counts(self.count, zip(repeat(collection), lanes, map(len, found))))
        return found

    def lanes(self) -> tuple[LaneCount, ...]:
        """Return what each lane brought, in the order they were asked."""
        return tuple(self._log)

    def through(self, call: Callable[[], Answer]) -> Answer:
        """Return what a request of another kind to the store gives; it is one more trip."""
        started = perf_counter()
        try:
            return call()
        finally:
            self._spent(started)

    def note(self, lanes: Iterable[LaneCount]) -> None:
        """Add lanes that were asked elsewhere during the last trip."""
        self._log.extend(one.model_copy(update={"trip": self.count}) for one in lanes)

    def episodes(self, ids: Iterable[str]) -> dict[str, IndexedEpisode]:
        """Return episodes by id, in one trip; in none when none is asked for."""
        found = self._fetch(Collection.EPISODES, ids)
        return {id_: item for id_, item in found.items() if isinstance(item, IndexedEpisode)}

    def facts(self, ids: Iterable[str]) -> dict[str, IndexedFact]:
        """Return facts by id, in one trip; in none when none is asked for."""
        found = self._fetch(Collection.FACTS, ids)
        return {id_: item for id_, item in found.items() if isinstance(item, IndexedFact)}

    def _fetch(self, collection: Collection, ids: Iterable[str]) -> dict[str, IndexedEpisode | IndexedFact]:
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        started = perf_counter()
        found = self._store.fetch(collection, self.tenant, wanted)
        self._spent(started)
        return found

    def _spent(self, started: float) -> None:
        self.seconds += perf_counter() - started
        self.count += 1


def lane_counts(trip: int, asked: Iterable[tuple[Collection, Lane, int]]) -> Iterator[LaneCount]:
    """Yield what lanes of one trip brought, for the trace."""
    for collection, lane, hits in asked:
        narrowed = lane.ids is not None or lane.parents is not None
        yield LaneCount(trip=trip, collection=collection, signal=_signal(lane), narrowed=narrowed, hits=hits)


def _signal(lane: Lane) -> str:
    kind = "sparse" if lane.dense is None else "dense"
    return f"context_{kind}" if lane.context else kind
