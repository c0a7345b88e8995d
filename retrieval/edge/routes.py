"""Which request does what. A handler gets the catalog, the names in the path and the decoded body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from retrieval.edge.catalog import Catalog
from retrieval.edge.passes import run_pass
from retrieval.edge.points import (
    read_delete,
    read_delete_payload,
    read_set_payload,
    read_upsert,
    write_id,
    write_record,
    write_scored,
)
from retrieval.edge.queries import read_batch, read_count, read_facet, read_query, read_retrieve, read_scroll

Names = tuple[str, ...]
Handler = Callable[[Catalog, Names, Any], Any]
Read = Callable[[Any], edge.UpdateOperation]

_DONE = {"operation_id": 0, "status": "completed"}


def _list(catalog: Catalog, _: Names, __: object) -> object:
    return {"collections": [{"name": name} for name in catalog.names()]}


def _exists(catalog: Catalog, names: Names, _: object) -> object:
    return {"exists": catalog.has(names[0])}


def _info(catalog: Catalog, names: Names, _: object) -> object:
    return catalog.get(names[0]).info()


def _create(catalog: Catalog, names: Names, body: Any) -> object:  # noqa: ANN401  any JSON
    catalog.create(names[0], body)
    return True


def _drop(catalog: Catalog, names: Names, _: object) -> object:
    return catalog.delete(names[0])


def _aliases(catalog: Catalog, names: Names, _: object) -> object:
    return {"aliases": catalog.aliases(*names)}


def _change_aliases(catalog: Catalog, _: Names, body: object) -> object:
    catalog.change_aliases(body)
    return True


def _index(catalog: Catalog, names: Names, body: object) -> object:
    catalog.get(names[0]).index(body)
    return _DONE


def _drop_index(catalog: Catalog, names: Names, _: object) -> object:
    catalog.get(names[0]).update(edge.UpdateOperation.delete_field_index(names[1]))
    return _DONE


def _writes(read: Read) -> Handler:
    def handle(catalog: Catalog, names: Names, body: object) -> object:
        catalog.get(names[0]).change(read, body)
        return _DONE

    return handle


def _retrieve(catalog: Catalog, names: Names, body: object) -> object:
    records = catalog.get(names[0]).read(lambda engine: engine.retrieve(*read_retrieve(body)))
    return [write_record(record) for record in records]


def _scroll(catalog: Catalog, names: Names, body: object) -> object:
    records, following = catalog.get(names[0]).read(lambda engine: engine.scroll(read_scroll(body)))
    return {"points": [write_record(record) for record in records], "next_page_offset": write_id(following)}


def _count(catalog: Catalog, names: Names, body: object) -> object:
    return {"count": catalog.get(names[0]).read(lambda engine: engine.count(read_count(body)))}


def _query(catalog: Catalog, names: Names, body: object) -> object:
    points = catalog.get(names[0]).read(lambda engine: engine.query(read_query(body)))
    return {"points": [write_scored(point) for point in points]}


def _query_batch(catalog: Catalog, names: Names, body: object) -> object:
    lists = catalog.get(names[0]).read(lambda engine: engine.query_batch(read_batch(body)))
    return [{"points": [write_scored(point) for point in points]} for points in lists]


def _facet(catalog: Catalog, names: Names, body: object) -> object:
    found = catalog.get(names[0]).read(lambda engine: engine.facet(read_facet(body)))
    return {"hits": [{"value": hit.value, "count": hit.count} for hit in found.hits]}


def _pass(catalog: Catalog, _: Names, body: object) -> object:
    return run_pass(catalog, body)


_POINTS = "/collections/{name}/points"

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/collections", _list),
    ("POST", "/collections/aliases", _change_aliases),
    ("GET", "/aliases", _aliases),
    ("GET", "/collections/{name}", _info),
    ("PUT", "/collections/{name}", _create),
    ("DELETE", "/collections/{name}", _drop),
    ("GET", "/collections/{name}/exists", _exists),
    ("GET", "/collections/{name}/aliases", _aliases),
    ("PUT", "/collections/{name}/index", _index),
    ("DELETE", "/collections/{name}/index/{field}", _drop_index),
    ("POST", "/collections/{name}/facet", _facet),
    ("PUT", _POINTS, _writes(read_upsert)),
    ("POST", _POINTS, _retrieve),
    ("POST", f"{_POINTS}/delete", _writes(read_delete)),
    ("POST", f"{_POINTS}/payload", _writes(lambda body: read_set_payload(body, overwrite=False))),
    ("PUT", f"{_POINTS}/payload", _writes(lambda body: read_set_payload(body, overwrite=True))),
    ("POST", f"{_POINTS}/payload/delete", _writes(read_delete_payload)),
    ("POST", f"{_POINTS}/scroll", _scroll),
    ("POST", f"{_POINTS}/count", _count),
    ("POST", f"{_POINTS}/query", _query),
    ("POST", f"{_POINTS}/query/batch", _query_batch),
    # Not Qdrant's: a whole pass of mRAG.
    ("POST", "/passes", _pass),
)
