"""The store as one search sees it: bound to its tenant and conditions, counting trips and time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter

from retrieval.filters import AllOf, AsOf
from retrieval.model import IndexedEpisode, IndexedFact, LaneCount, SearchQuery
from retrieval.protocols import Collection, Lane, Scored, VectorStore


class Trips:
    """The store, bound to the tenant, the owner and the filters of one search.

    Args:
        store: where to search.
        query: gives tenant, filters and moment.
    """

    def __init__(self, store: VectorStore, query: SearchQuery) -> None:
        self._store = store
        self._tenant = query.tenant
        held = AllOf(parts=(query.where, AsOf(moment=query.as_of)))
        self._where = dict.fromkeys(Collection, held)
        self.count = 0
        self.seconds = 0.0
        self._log: list[tuple[int, Collection, Lane, int]] = []

    def search(self, collection: Collection, lanes: Sequence[Lane]) -> list[list[Scored]]:
        """Return one ranked list per lane, in one trip."""
        started = perf_counter()
        found = self._store.search(collection, self._tenant, self._where[collection], lanes)
        self._spent(started)
        self._log.extend(
            (self.count, collection, lane, len(hits)) for lane, hits in zip(lanes, found, strict=True)
        )
        return found

    def lanes(self) -> tuple[LaneCount, ...]:
        """Return what each lane brought, in the order they were asked."""
        return tuple(
            LaneCount(
                trip=trip,
                collection=collection,
                signal=_signal(lane),
                narrowed=lane.ids is not None or lane.parents is not None or bool(lane.among),
                hits=hits,
            )
            for trip, collection, lane, hits in self._log
        )

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
        found = self._store.fetch(collection, self._tenant, wanted)
        self._spent(started)
        return found

    def _spent(self, started: float) -> None:
        self.seconds += perf_counter() - started
        self.count += 1


def _signal(lane: Lane) -> str:
    kind = "sparse" if lane.dense is None else "dense"
    return f"context_{kind}" if lane.context else kind
