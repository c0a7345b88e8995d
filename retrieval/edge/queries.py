"""Queries, scrolls and counts: Qdrant's JSON in the engine's types."""

from __future__ import annotations

from typing import Any, cast

import qdrant_edge as edge

from retrieval.edge.fields import Fields, Refusal, choice
from retrieval.edge.filters import optional_filter, read_filter, read_ids
from retrieval.edge.points import read_vector

# What a Qdrant server takes where a request does not say.
_LIMIT = 10
_RRF_K = 2
_MAX_DEPTH = 8


def read_query(body: Any) -> edge.QueryRequest:  # noqa: ANN401  any JSON
    """Return one query of ``…/points/query``.

    Raises:
        Refusal: it asks for something that is not served here.
    """
    with Fields(body, "body") as fields:
        return edge.QueryRequest(
            limit=fields.take("limit", _LIMIT),
            offset=fields.take("offset"),
            query=_scoring(fields),
            prefetches=_prefetches(fields, 1),
            with_vector=fields.take("with_vector", False),
            with_payload=_with_payload(fields.take("with_payload", False)),
            filter=optional_filter(fields),
            score_threshold=fields.take("score_threshold"),
            params=_params(fields.take("params"), f"{fields.where}.params"),
        )


def read_batch(body: Any) -> edge.QueryBatchRequest:  # noqa: ANN401  any JSON
    """Return the queries of ``…/points/query/batch``."""
    with Fields(body, "body") as fields:
        return edge.QueryBatchRequest([read_query(value) for value in fields.array("searches")])


def read_scroll(body: Any) -> edge.ScrollRequest:  # noqa: ANN401  any JSON
    """Return the request of ``…/points/scroll``."""
    with Fields(body, "body") as fields:
        order = fields.take("order_by")
        offset = fields.take("offset")
        return edge.ScrollRequest(
            offset=None if offset is None else read_ids([offset], "offset")[0],
            limit=fields.take("limit", _LIMIT),
            filter=optional_filter(fields),
            with_payload=_with_payload(fields.take("with_payload", True)),
            with_vector=fields.take("with_vector", False),
            order_by=None if order is None else _order_by(order, "order_by"),
        )


def read_count(body: Any) -> edge.CountRequest:  # noqa: ANN401  any JSON
    """Return the request of ``…/points/count``."""
    with Fields(body, "body") as fields:
        return edge.CountRequest(exact=fields.take("exact", True), filter=optional_filter(fields))


def read_retrieve(body: Any) -> tuple[list[edge.PointId], Any, Any]:  # noqa: ANN401  any JSON
    """Return ids, payload choice and vector choice of ``POST …/points``."""
    with Fields(body, "body") as fields:
        ids = read_ids(fields.array("ids"), "ids")
        return ids, _with_payload(fields.take("with_payload", True)), fields.take("with_vector", False)


def read_facet(body: Any) -> edge.FacetRequest:  # noqa: ANN401  any JSON
    """Return the request of ``…/facet``."""
    with Fields(body, "body") as fields:
        return edge.FacetRequest(
            fields.need("key"),
            limit=fields.take("limit", _LIMIT),
            exact=fields.take("exact", False),
            filter=optional_filter(fields),
        )


def _scoring(fields: Fields) -> edge.ScoringQueryType | None:
    query, using, where = fields.take("query"), fields.take("using"), f"{fields.where}.query"
    if query is None:
        return None
    if isinstance(query, list):
        return edge.Query.Nearest(query, using)
    with Fields(query, where) as inner:
        if "indices" in inner:
            vector = {"indices": inner.take("indices"), "values": inner.take("values")}
            return edge.Query.Nearest(read_vector(vector, where), using)
        if "nearest" in inner:
            return edge.Query.Nearest(read_vector(inner.take("nearest"), f"{where}.nearest"), using)
        if "fusion" in inner:
            fusions = {"rrf": edge.Fusion.Rrf(k=_RRF_K), "dbsf": edge.Fusion.Dbsf()}
            fusion: edge.ScoringQueryType = choice(fusions, inner.take("fusion"), where)
            return fusion
        if "rrf" in inner:
            with Fields(inner.take("rrf"), f"{where}.rrf") as rrf:
                weighted: Any = edge.Fusion.Rrf(k=rrf.take("k", _RRF_K), weights=rrf.take("weights"))
                return cast("edge.Fusion", weighted)
        if "order_by" in inner:
            return _order_by(inner.take("order_by"), f"{where}.order_by")
        if "sample" in inner:
            sample: edge.Sample = choice({"random": edge.Sample.Random}, inner.take("sample"), where)
            return sample
    raise Refusal(400, f"{where}: a vector, fusion, rrf, order_by or sample is expected")


def _prefetches(fields: Fields, depth: int) -> list[edge.Prefetch] | None:
    values = fields.items("prefetch")
    if values is None:
        return None
    if depth > _MAX_DEPTH:
        raise Refusal(400, f"{fields.where}: prefetches are nested too deeply")
    return [_prefetch(value, f"{fields.where}.prefetch[{at}]", depth) for at, value in enumerate(values)]


def _prefetch(value: Any, where: str, depth: int) -> edge.Prefetch:  # noqa: ANN401  any JSON
    with Fields(value, where) as fields:
        return edge.Prefetch(
            limit=fields.take("limit", _LIMIT),
            query=_scoring(fields),
            prefetches=_prefetches(fields, depth + 1),
            params=_params(fields.take("params"), f"{where}.params"),
            filter=optional_filter(fields),
            score_threshold=fields.take("score_threshold"),
        )


def _params(value: Any, where: str) -> edge.SearchParams | None:  # noqa: ANN401  any JSON
    if value is None:
        return None
    with Fields(value, where) as fields:
        return edge.SearchParams(
            hnsw_ef=fields.take("hnsw_ef"),
            exact=fields.take("exact", False),
            indexed_only=fields.take("indexed_only", False),
            idf=_idf(fields.take("idf"), f"{where}.idf"),
        )


def _idf(value: Any, where: str) -> edge.IdfParams | None:  # noqa: ANN401  any JSON
    if value is None or value == "global":
        return None
    with Fields(value, where) as fields:
        return edge.IdfParams(read_filter(fields.need("corpus"), f"{where}.corpus"))


def _order_by(value: Any, where: str) -> edge.OrderBy:  # noqa: ANN401  any JSON
    if isinstance(value, str):
        return edge.OrderBy(value)
    directions = {"asc": edge.Direction.Asc, "desc": edge.Direction.Desc}
    with Fields(value, where) as fields:
        direction = fields.take("direction")
        return edge.OrderBy(
            fields.need("key"),
            None if direction is None else choice(directions, direction, where),
            fields.take("start_from"),
        )


def _with_payload(value: Any) -> Any:  # noqa: ANN401  any JSON
    if not isinstance(value, dict):
        return value
    with Fields(value, "with_payload") as fields:
        if "include" in fields:
            return edge.PayloadSelector.Include(fields.array("include"))
        return edge.PayloadSelector.Exclude(fields.array("exclude"))
