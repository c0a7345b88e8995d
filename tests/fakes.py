"""An exact store in memory: a double for searches, fast enough for a hundred thousand facts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from retrieval.filters import FIELDS, AllOf, AnyOf, AsOf, Compare, FilterExpr, NotOf, Operator
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import (
    Carry,
    Collection,
    ItemPage,
    Lane,
    Scored,
    SparseVector,
    StoredVectors,
    Surroundings,
    Vector,
)
from retrieval.qdrant.payload import episode_payload, fact_payload
from retrieval.surroundings import alone
from retrieval.tokenizer import tokenize
from retrieval.traits import Traits


class _Point(NamedTuple):
    payload: dict[str, Any]
    item: IndexedEpisode | IndexedFact
    dense: Vector | None
    sparse: SparseVector
    around: Surroundings | None


class _Index:
    """One collection, frozen into arrays when it is first searched."""

    def __init__(self, points: dict[str, _Point]) -> None:
        self.ids = sorted(points)
        self.points = [points[id_] for id_ in self.ids]
        self.row = {id_: at for at, id_ in enumerate(self.ids)}
        self.children: dict[str, list[int]] = defaultdict(list)
        for at, point in enumerate(self.points):
            self.children[point.payload["episode_id"]].append(at)
        self.dense = {
            False: _matrix([point.dense for point in self.points]),
            True: _matrix([point.around and point.around.dense for point in self.points]),
        }
        self.terms = {
            False: _postings([point.sparse for point in self.points]),
            True: _postings(
                [point.around.sparse if point.around else SparseVector((), ()) for point in self.points]
            ),
        }
        self.masks: dict[tuple[str, str], np.ndarray] = {}

    def mask(self, tenant: str, where: FilterExpr) -> np.ndarray:
        key = (tenant, where.model_dump_json())
        if key not in self.masks:
            self.masks[key] = np.array(
                [point.payload["tenant"] == tenant and holds(where, point.payload) for point in self.points],
                dtype=bool,
            )
        return self.masks[key]

    def scores(self, lane: Lane) -> tuple[np.ndarray, np.ndarray]:
        """Return scores, and which items have one at all."""
        if lane.dense is not None:
            matrix, present = self.dense[lane.context]
            if not present.any():
                return np.zeros(len(self.ids)), present
            return matrix @ lane.dense, present
        assert lane.sparse is not None
        total = np.zeros(len(self.ids))
        for term, weight in zip(*lane.sparse, strict=True):
            if term in self.terms[lane.context]:
                rows, values = self.terms[lane.context][term]
                total[rows] += weight * values
        return total, total > 0

    def narrowed(self, lane: Lane) -> np.ndarray | None:
        if lane.ids is None and lane.parents is None:
            return None
        kept = np.zeros(len(self.ids), dtype=bool)
        for id_ in lane.ids or ():
            if id_ in self.row:
                kept[self.row[id_]] = True
        for parent in lane.parents or ():
            kept[self.children.get(parent, [])] = True
        return kept

    def rank(self, lane: Lane, mask: np.ndarray) -> list[tuple[int, float]]:
        scores, present = self.scores(lane)
        kept = mask & present
        narrowed = self.narrowed(lane)
        if narrowed is not None:
            kept &= narrowed
        rows = np.flatnonzero(kept)
        if len(rows) > lane.limit:
            rows = rows[np.argpartition(-scores[rows], lane.limit - 1)[: lane.limit]]
        return [(int(at), float(scores[at])) for at in rows[np.lexsort((rows, -scores[rows]))]]


def _matrix(vectors: Sequence[Vector | None]) -> tuple[np.ndarray, np.ndarray]:
    width = next((len(vector) for vector in vectors if vector is not None), 1)
    zero = np.zeros(width, dtype=np.float32)
    present = np.array([vector is not None for vector in vectors], dtype=bool)
    filled = [zero if vector is None else vector for vector in vectors]
    return (np.stack(filled) if filled else np.zeros((0, width), np.float32)), present


def _postings(vectors: Sequence[SparseVector]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    found: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for at, vector in enumerate(vectors):
        for term, weight in zip(*vector, strict=True):
            found[term].append((at, weight))
    held = {}
    for term, pairs in found.items():
        idf = math.log((len(vectors) - len(pairs) + 0.5) / (len(pairs) + 0.5) + 1)
        held[term] = (np.array([at for at, _ in pairs]), np.array([weight * idf for _, weight in pairs]))
    return held


def holds(where: FilterExpr, payload: dict[str, Any]) -> bool:
    """Return whether a payload passes a filter."""
    match where:
        case AllOf(parts=parts):
            return all(holds(part, payload) for part in parts)
        case AnyOf(parts=parts):
            return any(holds(part, payload) for part in parts)
        case NotOf(part=part):
            return not holds(part, payload)
        case AsOf(moment=None):
            return payload.get("superseded_by") is None
        case AsOf(moment=moment):
            starts, ends = payload.get("valid_from"), payload.get("valid_to")
            return (starts is None or _when(starts) <= moment) and (ends is None or _when(ends) > moment)
        case Compare():
            held = payload.get(FIELDS[where.field])
            values = held if isinstance(held, list) else [] if held is None else [held]
            return _COMPARE[where.operator](values, where.value)


def _when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _same(held: Any, value: Any) -> bool:
    return _when(held) == value if isinstance(value, datetime) else bool(held == value)


def _words(values: list[Any], value: Any) -> bool:
    return set(tokenize(value)) <= {word for held in values for word in tokenize(held)}


_COMPARE: dict[Operator, Callable[[list[Any], Any], bool]] = {
    Operator.EQ: lambda values, value: any(_same(held, value) for held in values),
    Operator.NE: lambda values, value: not any(_same(held, value) for held in values),
    Operator.IN: lambda values, value: any(_same(held, one) for held in values for one in value),
    Operator.GT: lambda values, value: any(_when(held) > value for held in values),
    Operator.GTE: lambda values, value: any(_when(held) >= value for held in values),
    Operator.LT: lambda values, value: any(_when(held) < value for held in values),
    Operator.LTE: lambda values, value: any(_when(held) <= value for held in values),
    Operator.CONTAINS: _words,
}


class MemoryStore:
    """A ``VectorStore`` in plain arrays; counts its round trips."""

    def __init__(self) -> None:
        self._points: dict[Collection, dict[str, _Point]] = {kind: {} for kind in Collection}
        self._frozen: dict[Collection, _Index] = {}
        self.round_trips = 0

    def prepare(self) -> None:
        return None

    def put_episodes(
        self, items: Sequence[IndexedEpisode], dense: Sequence[Vector | None], sparse: Sequence[SparseVector]
    ) -> None:
        self._frozen.pop(Collection.EPISODES, None)
        for item, *own in zip(items, dense, sparse, strict=True):
            self._points[Collection.EPISODES][item.episode.id] = _Point(
                episode_payload(item),
                item,
                *own,
                None,  # type: ignore[arg-type]
            )

    def put_facts(
        self,
        items: Sequence[IndexedFact],
        dense: Sequence[Vector | None],
        sparse: Sequence[SparseVector],
        around: Sequence[Surroundings] = (),
    ) -> None:
        self._frozen.pop(Collection.FACTS, None)
        beside = around or [alone(*own) for own in zip(items, dense, sparse, strict=True)]
        for item, vector, terms, context in zip(items, dense, sparse, beside, strict=True):
            self._points[Collection.FACTS][item.fact.id] = _Point(
                fact_payload(item, context.traits), item, vector, terms, context
            )

    def search(
        self, collection: Collection, tenant: str, where: FilterExpr, lanes: Sequence[Lane]
    ) -> list[list[Scored]]:
        self.round_trips += 1
        index = self._index(collection)
        mask = index.mask(tenant, where)
        found = []
        for lane in lanes:
            hits = []
            for at, score in index.rank(lane, mask):
                traits = body = None
                if lane.carry in (Carry.TRAITS, Carry.BOTH):
                    traits = Traits.unpacked(index.points[at].payload["traits"])
                if lane.carry in (Carry.ITEM, Carry.BOTH):
                    body = index.points[at].payload["body"]
                hits.append(Scored(index.ids[at], score, collection, traits, body))
            found.append(hits)
        return found

    def vectors(self, collection: Collection, tenant: str, ids: Sequence[str]) -> dict[str, StoredVectors]:
        self.round_trips += 1
        return {
            id_: StoredVectors(point.dense, point.sparse) for id_, point in self._of(collection, tenant, ids)
        }

    def fetch(
        self, collection: Collection, tenant: str, ids: Sequence[str]
    ) -> dict[str, IndexedEpisode | IndexedFact]:
        self.round_trips += 1
        return {id_: point.item for id_, point in self._of(collection, tenant, ids)}

    def ids(self, collection: Collection, tenant: str, document_id: str) -> Iterator[str]:
        for id_, point in list(self._points[collection].items()):
            if point.payload["tenant"] == tenant and point.payload["document_id"] == document_id:
                yield id_

    def page(
        self, collection: Collection, tenant: str, where: FilterExpr, limit: int, start: str | None = None
    ) -> ItemPage:
        points = sorted(self._points[collection].items())
        mine = [
            (id_, point.item)
            for id_, point in points
            if point.payload["tenant"] == tenant and holds(where, point.payload) and id_ >= (start or "")
        ]
        following = mine[limit][0] if len(mine) > limit else None
        return ItemPage(tuple(item for _, item in mine[:limit]), following)

    def count(self, collection: Collection, tenant: str, document_id: str | None = None) -> int:
        return sum(
            point.payload["tenant"] == tenant and document_id in (None, point.payload["document_id"])
            for point in self._points[collection].values()
        )

    def delete(self, collection: Collection, tenant: str, ids: Sequence[str]) -> None:
        self._frozen.pop(collection, None)
        for id_, _ in self._of(collection, tenant, ids):
            del self._points[collection][id_]

    def delete_document(self, tenant: str, document_id: str) -> int:
        gone = {kind: list(self.ids(kind, tenant, document_id)) for kind in Collection}
        for kind, ids in gone.items():
            self.delete(kind, tenant, ids)
        return sum(map(len, gone.values()))

    def _of(self, collection: Collection, tenant: str, ids: Sequence[str]) -> list[tuple[str, _Point]]:
        points = self._points[collection]
        return [
            (id_, points[id_]) for id_ in ids if id_ in points and points[id_].payload["tenant"] == tenant
        ]

    def _index(self, collection: Collection) -> _Index:
        if collection not in self._frozen:
            self._frozen[collection] = _Index(self._points[collection])
        return self._frozen[collection]
