"""Our vectors and lanes in the client's types, and points in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from qdrant_client import models

from retrieval.protocols import Lane, SparseVector, StoredVectors, Vector
from retrieval.qdrant_payload import Payload
from retrieval.qdrant_schema import DENSE, SPARSE

_BATCH_POINTS = 128
_BATCH_BYTES = 12 * 2**20
_BYTES_PER_NUMBER = 22  # a float in JSON, with its comma


class StorePoint(NamedTuple):
    """What is written for one item."""

    id: str
    payload: Payload
    dense: Vector | None
    sparse: SparseVector


def batches(points: Iterable[StorePoint]) -> Iterator[list[models.PointStruct]]:
    """Group points so that no request grows beyond a bound in points or, estimated, in bytes."""
    batch: list[models.PointStruct] = []
    size = 0
    for point in points:
        numbers = (0 if point.dense is None else len(point.dense)) + 2 * len(point.sparse.indices)
        cost = 3 * len(point.payload["body"].encode()) // 2 + _BYTES_PER_NUMBER * numbers
        if batch and (len(batch) >= _BATCH_POINTS or size + cost > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        vectors = _write_vectors(point.dense, point.sparse)
        batch.append(models.PointStruct(id=point.id, vector=vectors, payload=point.payload))
        size += cost
    if batch:
        yield batch


def _write_vectors(dense: Vector | None, sparse: SparseVector) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if dense is not None:
        written[DENSE] = dense.tolist()
    if sparse.indices:
        written[SPARSE] = models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))
    return written


def read_vectors(found: Any) -> StoredVectors:  # noqa: ANN401  one of many shapes in the client's types
    """Return the vectors of a record; those it was stored without are None."""
    named = found if isinstance(found, dict) else {}
    dense, sparse = named.get(DENSE), named.get(SPARSE)
    return StoredVectors(
        None if dense is None else np.asarray(dense, dtype=np.float32),
        None if sparse is None else SparseVector(tuple(sparse.indices), tuple(sparse.values)),
    )


def lane_request(lane: Lane, narrowed: models.Filter) -> models.QueryRequest:
    """Return the request for one ranked list.

    Raises:
        ValueError: the lane has neither a dense nor a sparse vector.
    """
    query: Any
    if lane.dense is not None:
        query, using = lane.dense.tolist(), DENSE
    elif lane.sparse is not None:
        query = models.SparseVector(indices=list(lane.sparse.indices), values=list(lane.sparse.values))
        using = SPARSE
    else:
        raise ValueError("a lane needs a dense or a sparse vector")
    return models.QueryRequest(
        query=query, using=using, filter=narrowed, limit=lane.limit, with_payload=["body"]
    )
