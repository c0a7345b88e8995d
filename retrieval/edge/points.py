"""Points and records: Qdrant's JSON in the engine's types, and back."""

from __future__ import annotations

from typing import Any

import qdrant_edge as edge

from retrieval.edge.fields import Fields, Refusal, choice
from retrieval.edge.filters import optional_filter, read_filter, read_ids

_UPDATE_MODES = {
    "upsert": edge.UpdateMode.Upsert,
    "insert_only": edge.UpdateMode.InsertOnly,
    "update_only": edge.UpdateMode.UpdateOnly,
}


def read_upsert(body: Any) -> edge.UpdateOperation:  # noqa: ANN401  any JSON
    """Return the operation of ``PUT /collections/{name}/points``."""
    with Fields(body, "body") as fields:
        if "batch" in fields:
            points = _columns(fields.take("batch"))
        else:
            points = [_point(value, f"points[{at}]") for at, value in enumerate(fields.array("points"))]
        condition = optional_filter(fields, "update_filter")
        mode = fields.take("update_mode")
    return edge.UpdateOperation.upsert_points(
        points, condition, None if mode is None else choice(_UPDATE_MODES, mode, "update_mode")
    )


def read_delete(body: Any) -> edge.UpdateOperation:  # noqa: ANN401  any JSON
    """Return the operation of ``POST /collections/{name}/points/delete``."""
    with Fields(body, "body") as fields:
        if "points" in fields:
            return edge.UpdateOperation.delete_points(read_ids(fields.array("points"), "points"))
        return edge.UpdateOperation.delete_points_by_filter(read_filter(fields.need("filter")))


def read_set_payload(body: Any, *, overwrite: bool) -> edge.UpdateOperation:  # noqa: ANN401  any JSON
    """Return the operation of ``POST`` (merge) or ``PUT`` (overwrite) ``…/points/payload``."""
    operations = edge.UpdateOperation
    with Fields(body, "body") as fields:
        payload, key = fields.need("payload"), fields.take("key")
        if "points" in fields:
            ids = read_ids(fields.array("points"), "points")
            write = operations.overwrite_payload if overwrite else operations.set_payload
            return write(ids, payload, key)
        which = read_filter(fields.need("filter"))
        by_filter = operations.overwrite_payload_by_filter if overwrite else operations.set_payload_by_filter
        return by_filter(which, payload, key)


def read_delete_payload(body: Any) -> edge.UpdateOperation:  # noqa: ANN401  any JSON
    """Return the operation of ``POST /collections/{name}/points/payload/delete``."""
    with Fields(body, "body") as fields:
        keys = fields.array("keys")
        if "points" in fields:
            return edge.UpdateOperation.delete_payload(read_ids(fields.array("points"), "points"), keys)
        return edge.UpdateOperation.delete_payload_by_filter(read_filter(fields.need("filter")), keys)


def read_vector(value: Any, where: str) -> edge.NamedVector:  # noqa: ANN401  any JSON
    """Return a dense, multi- or sparse vector."""
    if isinstance(value, list):
        return value
    with Fields(value, where) as fields:
        indices, values = fields.array("indices"), fields.array("values")
    if len(indices) != len(values):
        raise Refusal(422, f"{where}: indices and values must have the same length")
    if len(set(indices)) != len(indices):
        raise Refusal(422, f"{where}: indices must be unique")
    return edge.SparseVector(indices, values)


def write_record(record: edge.Record) -> dict[str, Any]:
    """Return a record as JSON."""
    return {
        "id": record.id,
        "payload": record.payload,
        "vector": _write_vectors(record.vector),
        "order_value": record.order_value,
    }


def write_scored(point: edge.ScoredPoint) -> dict[str, Any]:
    """Return a scored point as JSON; like a server's, it lacks what was not asked for.

    This runs for every hit, so it takes no step it can leave out. The id stays a UUID: the encoder writes it
    faster than Python does.
    """
    found: dict[str, Any] = {"id": point.id, "version": point.version, "score": point.score}
    if (payload := point.payload) is not None:
        found["payload"] = payload
    if (vector := point.vector) is not None:
        found["vector"] = _write_vectors(vector)
    if (order := point.order_value) is not None:
        found["order_value"] = order
    return found


def write_id(value: edge.PointId | None) -> int | str | None:
    """Return a point id as JSON."""
    return value if value is None or isinstance(value, int) else str(value)


def _point(value: Any, where: str) -> edge.Point:  # noqa: ANN401  any JSON
    with Fields(value, where) as fields:
        (id_,) = read_ids([fields.need("id")], f"{where}.id")
        return edge.Point(id_, _vectors(fields.need("vector"), f"{where}.vector"), fields.take("payload"))


def _columns(value: Any) -> list[edge.Point]:  # noqa: ANN401  any JSON
    with Fields(value, "batch") as fields:
        ids = read_ids(fields.array("ids"), "batch.ids")
        vectors = fields.need("vectors")
        payloads = fields.take("payloads", [None] * len(ids))
    if isinstance(vectors, dict):
        rows: list[Any] = [{name: column[at] for name, column in vectors.items()} for at in range(len(ids))]
    else:
        rows = vectors
    if not len(ids) == len(rows) == len(payloads):
        raise Refusal(422, "batch: ids, vectors and payloads must have the same length")
    return [
        edge.Point(id_, _vectors(row, f"batch.vectors[{at}]"), payload)
        for at, (id_, row, payload) in enumerate(zip(ids, rows, payloads, strict=True))
    ]


def _vectors(value: Any, where: str) -> edge.Vector:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        return {name: read_vector(vector, f"{where}.{name}") for name, vector in value.items()}
    unnamed: edge.Vector = value
    return unnamed


def _write_vectors(value: edge.Vector | None) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        return {name: _write_vector(vector) for name, vector in value.items()}
    return value


def _write_vector(value: edge.NamedVector) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, edge.SparseVector):
        return {"indices": value.indices, "values": value.values}
    return value
