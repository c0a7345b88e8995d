"""Our vectors and lanes in the client's types, and points in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from qdrant_client import models

from retrieval.protocols import (
    Carry,
    Collection,
    Lane,
    Scored,
    SparseVector,
    StoredVectors,
    Surroundings,
    Vector,
    in_order,
)
from retrieval.qdrant.payload import Payload, read_carried
from retrieval.qdrant.vector_names import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, SPARSE

_BATCH_POINTS = 128
_BATCH_BYTES = 12 * 2**20
_BYTES_PER_NUMBER = 22  # at most, a float in JSON with its comma


class StorePoint(NamedTuple):
    """What is written for one item."""

    id: str
    payload: Payload
    dense: Vector | None
    sparse: SparseVector
    around: Surroundings | None = None


def batches(points: Iterable[StorePoint]) -> Iterator[list[models.PointStruct]]:
    """Group points so that no request grows beyond a bound in points or, estimated, in bytes."""
    batch: list[models.PointStruct] = []
    size = 0
    for point in points:
        numbers = _numbers(point.dense, point.sparse)
        if point.around is not None:
            numbers += _numbers(point.around.dense, point.around.sparse)
        cost = 3 * len(point.payload["body"].encode()) // 2 + _BYTES_PER_NUMBER * numbers
        if batch and (len(batch) >= _BATCH_POINTS or size + cost > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        vectors = _write_vectors(point)
        batch.append(models.PointStruct(id=point.id, vector=vectors, payload=point.payload))
        size += cost
    if batch:
        yield batch


def plain(dense: Vector) -> list[float]:
    """Return a vector as JSON can hold it."""
    # Seven decimals are what single precision tells of a unit vector; written out in full, a request is
    # twice as long.
    numbers: list[float] = dense.astype(np.float64).round(7).tolist()
    return numbers


def _numbers(dense: Vector | None, sparse: SparseVector) -> int:
    return (0 if dense is None else len(dense)) + 2 * len(sparse.indices)


def _write_vectors(point: StorePoint) -> dict[str, Any]:
    written: dict[str, Any] = {}
    named = [(DENSE, point.dense, SPARSE, point.sparse)]
    if point.around is not None:
        named.append((CONTEXT_DENSE, point.around.dense, CONTEXT_SPARSE, point.around.sparse))
    for dense_name, dense, sparse_name, sparse in named:
        if dense is not None:
            written[dense_name] = plain(dense)
        if sparse.indices:
            written[sparse_name] = models.SparseVector(
                indices=list(sparse.indices), values=list(sparse.values)
            )
    return written


def read_vectors(found: Any) -> StoredVectors:  # noqa: ANN401  one of many shapes in the client's types
    """Return the vectors of a record; those it was stored without are None."""
    named = found if isinstance(found, dict) else {}
    dense, sparse = named.get(DENSE), named.get(SPARSE)
    return StoredVectors(
        None if dense is None else np.asarray(dense, dtype=np.float32),
        None if sparse is None else SparseVector(tuple(sparse.indices), tuple(sparse.values)),
    )


class Narrow(Protocol):
    """Builds the filter of a lane as JSON: the bound tenant and conditions, narrowed further."""

    def __call__(
        self,
        *,
        parents: tuple[str, ...] | None,
        ids: tuple[str, ...] | None,
    ) -> Payload:
        """Return the filter."""


def lane_request(lane: Lane, narrow: Narrow, corpus: Payload) -> Payload:
    """Return the request for one ranked list, as JSON.

    Args:
        lane: what is asked.
        narrow: builds its filter.
        corpus: the filter of the points whose words say how rare a term is. Not all points: another
            tenant's words would shape the scores, and show in them.

    Raises:
        ValueError: the lane has neither a dense nor a sparse vector.
    """
    return {**_asked(lane, narrow, corpus), "with_payload": _CARRIED[lane.carry]}


_CARRIED: dict[Carry, list[str] | bool] = {
    Carry.ITEM: ["body"],
    Carry.TRAITS: ["traits"],
    Carry.BOTH: ["traits", "body"],
    Carry.NOTHING: False,
}


def read_hits(collection: Collection, carry: Carry, points: Sequence[Mapping[str, Any]]) -> list[Scored]:
    """Return the hits of a lane, equal scores in the order of ids."""
    if carry is Carry.NOTHING:
        return in_order([Scored(point["id"], point["score"], collection) for point in points])
    return in_order(
        [Scored(point["id"], point["score"], collection, *read_carried(point["payload"])) for point in points]
    )


def _asked(lane: Lane, narrow: Narrow, corpus: Payload) -> Payload:
    which = narrow(parents=lane.parents, ids=lane.ids)
    asked: Payload = {"filter": which, "limit": lane.limit}
    if lane.dense is not None:
        return {**asked, "query": plain(lane.dense), "using": CONTEXT_DENSE if lane.context else DENSE}
    if lane.sparse is not None:
        terms = {"indices": lane.sparse.indices, "values": lane.sparse.values}
        using = CONTEXT_SPARSE if lane.context else SPARSE
        return {**asked, "query": terms, "using": using, "params": {"idf": {"corpus": corpus}}}
    raise ValueError("a lane needs a dense or a sparse vector")
