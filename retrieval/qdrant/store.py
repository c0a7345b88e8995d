"""Episodes and facts in Qdrant: a server, the store process or memory, all through ``qdrant-client``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, partial

from qdrant_client import QdrantClient, models

from retrieval.filters import AsOf, FilterExpr
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import (
    Collection,
    ItemPage,
    Lane,
    Scored,
    SparseVector,
    StoredVectors,
    Surroundings,
    Vector,
)
from retrieval.qdrant.connection import store_errors
from retrieval.qdrant.filter import bound_filter, filter_json
from retrieval.qdrant.payload import episode_payload, fact_payload, instant, read_item
from retrieval.qdrant.points import StorePoint, batches, lane_request, read_hits, read_vectors
from retrieval.qdrant.schema import alias_targets, create_missing, point_aliases, real_name, retired_names
from retrieval.qdrant.wire import wire_of
from retrieval.surroundings import alone

_PAGE = 1000


class QdrantStore:
    """One tenant-bound view of the two collections made by one encoder.

    It reads and writes the collections that carry its own fingerprint and no others, so vectors of two
    encoders never meet. The aliases ``episodes`` and ``facts`` say which fingerprint is complete.

    Args:
        client: where Qdrant is.
        fingerprint: the embedder's fingerprint.
        dimension: length of a dense vector.
    """

    def __init__(self, client: QdrantClient, fingerprint: str, dimension: int) -> None:
        self._client = client
        self.wire = wire_of(client)
        self._dimension = dimension
        self.fingerprint = fingerprint
        self.names = {kind: real_name(kind, fingerprint, dimension) for kind in Collection}

    def prepare(self) -> None:
        """Create the collections, their payload indexes and aliases where they are missing."""
        with store_errors():
            for kind, name in self.names.items():
                create_missing(self._client, kind, name, self._dimension)
            known = alias_targets(self._client)
            missing = {str(kind): name for kind, name in self.names.items() if kind not in known}
            if missing:
                point_aliases(self._client, missing)

    def active(self) -> bool:
        """Return whether the aliases stand for this store's collections."""
        with store_errors():
            known = alias_targets(self._client)
        return all(known.get(kind) == name for kind, name in self.names.items())

    def activate(self) -> None:
        """Let the aliases stand for this store's collections, both in one step."""
        with store_errors():
            point_aliases(self._client, {str(kind): name for kind, name in self.names.items()})

    def drop_retired(self) -> list[str]:
        """Delete the collections of earlier encoders once no alias stands for them; return their names."""
        with store_errors():
            names = retired_names(self._client, self.names.values())
            for name in names:
                self._client.delete_collection(name)
        return names

    def put_episodes(
        self, items: Sequence[IndexedEpisode], dense: Sequence[Vector | None], sparse: Sequence[SparseVector]
    ) -> None:
        """Insert or overwrite episodes by id; a None vector stores the item without a dense one."""
        points = (
            StorePoint(item.episode.id, episode_payload(item), vector, terms)
            for item, vector, terms in zip(items, dense, sparse, strict=True)
        )
        self._put(Collection.EPISODES, points)

    def put_facts(
        self,
        items: Sequence[IndexedFact],
        dense: Sequence[Vector | None],
        sparse: Sequence[SparseVector],
        around: Sequence[Surroundings] = (),
    ) -> None:
        """Insert or overwrite facts by id; a None vector stores the item without a dense one."""
        beside = around or [alone(*own) for own in zip(items, dense, sparse, strict=True)]
        points = (
            StorePoint(item.fact.id, fact_payload(item, context.traits), vector, terms, context)
            for item, vector, terms, context in zip(items, dense, sparse, beside, strict=True)
        )
        self._put(Collection.FACTS, points)

    def search(
        self, collection: Collection, tenant: str, where: FilterExpr, lanes: Sequence[Lane]
    ) -> list[list[Scored]]:
        """Return one ranked list per lane, in one round trip; equal scores stand in the order of ids.

        Raises:
            InvalidQuery: the filter names what does not exist.
        """
        # A question without a single word matches nothing; servers refuse it.
        asked = [at for at, lane in enumerate(lanes) if lane.sparse is None or lane.sparse.indices]
        narrow = cache(partial(filter_json, tenant, where))
        requests = [lane_request(lanes[at], narrow, filter_json(tenant)) for at in asked]
        found: list[list[Scored]] = [[] for _ in lanes]
        if not requests:
            return found
        with store_errors():
            answers = self.wire.query(self.names[collection], requests)
        for at, answer in zip(asked, answers, strict=True):
            found[at] = read_hits(collection, lanes[at].carry, answer)
        return found

    def vectors(self, collection: Collection, tenant: str, ids: Sequence[str]) -> dict[str, StoredVectors]:
        """Return the stored vectors of these items, in one round trip; unknown ids are left out."""
        return {
            str(record.id): read_vectors(record.vector)
            for record in self._with_vectors(collection, tenant, ids)
        }

    def fetch(
        self, collection: Collection, tenant: str, ids: Sequence[str]
    ) -> dict[str, IndexedEpisode | IndexedFact]:
        """Return these items by id; unknown ids are left out."""
        if not ids:
            return {}
        which = filter_json(tenant, ids=tuple(ids))
        with store_errors():
            points = self.wire.fetch(self.names[collection], which, len(ids), ["body"])
        return {point["id"]: read_item(collection, point["payload"]) for point in points}

    def ids(self, collection: Collection, tenant: str, document_id: str) -> Iterator[str]:
        """Yield the ids of a document's items."""
        offset = None
        while True:
            with store_errors():
                records, offset = self._client.scroll(
                    self.names[collection],
                    scroll_filter=bound_filter(tenant, document_id=document_id),
                    limit=_PAGE,
                    offset=offset,
                    with_payload=False,
                )
            yield from (str(record.id) for record in records)
            if offset is None:
                return

    def page(
        self, collection: Collection, tenant: str, where: FilterExpr, limit: int, start: str | None = None
    ) -> ItemPage:
        """Return up to ``limit`` items in the order of ids, from the id ``start`` on.

        Raises:
            InvalidQuery: the filter names what does not exist.
        """
        with store_errors():
            records, following = self._client.scroll(
                self.names[collection], scroll_filter=bound_filter(tenant, where), limit=limit,
                offset=start, with_payload=["body"],
            )  # fmt: skip
        items = tuple(read_item(collection, record.payload or {}) for record in records)
        return ItemPage(items, None if following is None else str(following))

    def count(self, collection: Collection, tenant: str, document_id: str | None = None) -> int:
        """Return the exact number of items of a tenant, or of one of its documents."""
        with store_errors():
            return self._client.count(
                self.names[collection],
                count_filter=bound_filter(tenant, document_id=document_id),
                exact=True,
            ).count

    def delete(self, collection: Collection, tenant: str, ids: Sequence[str]) -> None:
        """Remove items by id; unknown ids and those of other tenants are left alone."""
        for start in range(0, len(ids), _PAGE):
            self._delete(collection, bound_filter(tenant, ids=ids[start : start + _PAGE]))

    def delete_document(self, tenant: str, document_id: str) -> int:
        """Remove a document's episodes and facts; return how many points that were."""
        found = sum(self.count(kind, tenant, document_id) for kind in Collection)
        for kind in Collection:
            self._delete(kind, bound_filter(tenant, document_id=document_id))
        return found

    def census(self, collection: Collection) -> dict[tuple[str, str], int]:
        """Return the number of items of each (tenant, document id). For the operator: it sees all tenants."""
        found: Counter[tuple[str, str]] = Counter()
        offset = None
        while True:
            with store_errors():
                records, offset = self._client.scroll(
                    self.names[collection],
                    limit=_PAGE,
                    offset=offset,
                    with_payload=["tenant", "document_id"],
                )
            for record in records:
                payload = record.payload or {}
                found[payload["tenant"], payload["document_id"]] += 1
            if offset is None:
                return dict(found)

    def supersede(self, tenant: str, document_id: str, successor: str, at: datetime) -> None:
        """Let a document's episodes and facts hold until a moment only: its successor takes their place.

        They stay, and answer questions about the time before.
        """
        marks = {"superseded_by": successor, "valid_to": instant(at)}
        self._mark(bound_filter(tenant, AsOf(), document_id=document_id), marks)

    def hold_from(self, tenant: str, document_id: str, at: datetime) -> None:
        """Let a document's episodes and facts hold from a moment on only."""
        self._mark(bound_filter(tenant, document_id=document_id), {"valid_from": instant(at)})

    def _mark(self, which: models.Filter, marks: dict[str, str | None]) -> None:
        for name in self.names.values():
            with store_errors():
                self._client.set_payload(name, marks, points=which, wait=True)

    def _delete(self, collection: Collection, which: models.Filter) -> None:
        with store_errors():
            self._client.delete(
                self.names[collection], points_selector=models.FilterSelector(filter=which), wait=True
            )

    def _with_vectors(self, collection: Collection, tenant: str, ids: Sequence[str]) -> list[models.Record]:
        if not ids:
            return []
        with store_errors():
            records, _ = self._client.scroll(
                self.names[collection],
                scroll_filter=bound_filter(tenant, ids=ids),
                limit=len(ids),
                with_payload=False,
                with_vectors=True,
            )
        return records

    def _put(self, collection: Collection, points: Iterable[StorePoint]) -> None:
        for batch in batches(points):
            with store_errors():
                self._client.upsert(self.names[collection], points=batch, wait=True)
