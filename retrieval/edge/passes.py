"""Passes of mRAG carried out beside the data: the code of ``retrieval.passes`` on the engine's own lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import qdrant_edge as edge
from pydantic import ValidationError

from retrieval.edge.catalog import Catalog
from retrieval.edge.fields import Fields, Refusal
from retrieval.edge.lanes import EngineLanes
from retrieval.edge.shards import Shard
from retrieval.knobs import MragKnobs
from retrieval.passes import PASS_VERSION, Order, rank
from retrieval.protocols import Collection, Vector
from retrieval.ranking.asked import Asked
from retrieval.ranking.scoring import unpacked_scorer
from retrieval.trips import lane_counts

_BODY = edge.PayloadSelector.Include(["body"])


def run_pass(catalog: Catalog, body: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
    """Return the results of a pass with the facts and episodes they are or belong to.

    Raises:
        Refusal: the order cannot be read, or comes from another version.
    """
    with Fields(body, "body") as fields:
        if (version := fields.need("version")) != PASS_VERSION:
            raise Refusal(409, f"this store carries out passes of version {PASS_VERSION}, not {version}")
        shards = {kind: catalog.get(fields.need(str(kind))) for kind in Collection}
        lanes = EngineLanes(shards, fields.need("where"), fields.need("corpus"))
        order, dense = _order(fields)
    found, _, course = rank(lanes, order, dense)
    return {
        "found": [(one.id, one.parent, one.score, vars(one.trace)) for one in found],
        "facts": _bodies(shards[Collection.FACTS], (one.id for one in found if one.parent)),
        "episodes": _bodies(shards[Collection.EPISODES], (one.episode for one in found)),
        "course": tuple(course),
        "lanes": [one.model_dump() for one in lane_counts(1, lanes.log)] if order.traced else [],
    }


def _order(fields: Fields) -> tuple[Order, Vector | None]:
    asked, dense = fields.need("asked"), fields.take("dense")
    scorer, knobs = fields.need("scorer"), fields.need("knobs")
    wanted, traced = fields.need("wanted"), fields.take("traced", False)
    try:
        understood, ranked = Asked.unpacked(asked), unpacked_scorer(scorer)
        order = Order(understood, ranked, MragKnobs.model_validate(knobs), int(wanted), bool(traced))
        return order, None if dense is None else np.array(dense, dtype=np.float32)
    except (ValidationError, TypeError, ValueError) as error:
        raise Refusal(400, f"the order cannot be read: {error}") from error


def _bodies(shard: Shard, ids: Iterable[str]) -> dict[str, str]:
    wanted: list[edge.PointId] = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    records = shard.points(wanted, _BODY)
    return {str(record.id): body for record in records if (body := (record.payload or {}).get("body"))}
