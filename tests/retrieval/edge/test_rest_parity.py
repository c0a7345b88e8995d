"""The stock client gets the same answers from the store process as from its own reference in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from qdrant_client import QdrantClient
from qdrant_client import models as m

from retrieval.qdrant.connection import connect
from tests.retrieval.store_process import StoreProcess

pytestmark = pytest.mark.integration
NAME = "things"
RANDOM = np.random.default_rng(7)


def a_point(at: int) -> m.PointStruct:
    terms = sorted({int(term) for term in RANDOM.zipf(1.5, 12) % 50})
    vector: dict[str, Any] = {
        "dense": RANDOM.standard_normal(8).tolist(),
        "sparse": m.SparseVector(indices=terms, values=(1 + RANDOM.random(len(terms))).tolist()),
    }
    if at % 7 == 0:
        del vector["dense"]
    payload: dict[str, Any] = {
        "tenant": f"t{at % 3}",
        "number": at,
        "when": f"2026-01-{1 + at % 28:02d}T00:00:00+00:00",
        "tags": [f"tag{at % 4}", f"tag{at % 5}"],
        "text": f"the quick fox number {at}",
        "flag": "even" if at % 2 == 0 else "odd",
        "maybe": None if at % 4 == 0 else at,
        "items": [{"kind": "a", "size": at % 6}, {"kind": "b", "size": at % 3}],
    }
    if at % 5 == 0:
        del payload["tags"]
    return m.PointStruct(id=at if at % 2 else str(UUID(int=at + 1)), vector=vector, payload=payload)


POINTS = [a_point(at) for at in range(200)]


def fill(client: QdrantClient) -> QdrantClient:
    client.create_collection(
        NAME,
        vectors_config={"dense": m.VectorParams(size=8, distance=m.Distance.COSINE)},
        sparse_vectors_config={"sparse": m.SparseVectorParams(modifier=m.Modifier.IDF)},
    )
    client.upsert(NAME, POINTS[:100], wait=True)
    client.upsert(NAME, POINTS[100:], wait=True)
    return client


@pytest.fixture(scope="module")
def memory() -> Iterator[QdrantClient]:
    client = fill(QdrantClient(":memory:"))
    yield client
    client.close()


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantClient]:
    store = StoreProcess(tmp_path_factory.mktemp("store"))
    store.start()
    client = fill(connect(store.url, store.key))
    for field, kind in {
        "tenant": "keyword",
        "number": "integer",
        "when": "datetime",
        "tags": "keyword",
    }.items():
        client.create_payload_index(NAME, field, m.PayloadSchemaType(kind))
    words = m.TextIndexParams(type=m.TextIndexType.TEXT, tokenizer=m.TokenizerType.WORD, lowercase=True)
    client.create_payload_index(NAME, "text", words)
    yield client
    client.close()
    assert store.stop() == 0


def field(key: str, **condition: Any) -> m.FieldCondition:
    return m.FieldCondition(key=key, **condition)


T0 = field("tenant", match=m.MatchValue(value="t0"))
SMALL = field("number", range=m.Range(lt=50))
EVEN = field("flag", match=m.MatchValue(value="even"))
FILTERS = {
    "nothing": m.Filter(),
    "value": m.Filter(must=[T0]),
    "single condition": m.Filter(must=T0),
    "integer": m.Filter(must=[field("number", match=m.MatchValue(value=17))]),
    "any": m.Filter(must=[field("tags", match=m.MatchAny(any=["tag1", "tag3"]))]),
    "any of numbers": m.Filter(must=[field("number", match=m.MatchAny(any=[3, 5, 999]))]),
    "except": m.Filter(must=[field("tenant", match=m.MatchExcept(**{"except": ["t0", "t1"]}))]),
    "text": m.Filter(must=[field("text", match=m.MatchText(text="fox"))]),
    "range": m.Filter(must=[field("number", range=m.Range(gt=10, lte=20))]),
    "datetime": m.Filter(must=[field("when", range=m.DatetimeRange(gte="2026-01-05", lt="2026-01-09"))]),
    "must not": m.Filter(must_not=[T0, EVEN]),
    "should": m.Filter(should=[T0, SMALL]),
    "min should": m.Filter(min_should=m.MinShould(conditions=[T0, SMALL, EVEN], min_count=2)),
    "nested filter": m.Filter(must=[m.Filter(should=[T0, SMALL]), m.Filter(must_not=[EVEN])]),
    "is empty": m.Filter(must=[m.IsEmptyCondition(is_empty=m.PayloadField(key="tags"))]),
    "is null": m.Filter(must=[m.IsNullCondition(is_null=m.PayloadField(key="maybe"))]),
    "has id": m.Filter(must=[m.HasIdCondition(has_id=[1, 3, str(UUID(int=5)), 4444])]),
    "has no id": m.Filter(must=[m.HasIdCondition(has_id=[])]),
    "has vector": m.Filter(must=[m.HasVectorCondition(has_vector="dense")]),
    "nested": m.Filter(must=[m.NestedCondition(nested=m.Nested(
        key="items",
        filter=m.Filter(must=[
            field("kind", match=m.MatchValue(value="a")), field("size", range=m.Range(gt=4)),
        ]),
    ))]),
    "values count": m.Filter(must=[field("tags", values_count=m.ValuesCount(gt=1))]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_filters_select_the_same_points(memory: QdrantClient, process: QdrantClient, name: str) -> None:
    def selected(client: QdrantClient) -> set[Any]:
        records, following = client.scroll(NAME, FILTERS[name], limit=500, with_payload=False)
        assert following is None
        assert client.count(NAME, FILTERS[name]).count == len(records)
        return {record.id for record in records}

    assert selected(process) == selected(memory)


DENSE = RANDOM.standard_normal(8).tolist()
SPARSE = m.SparseVector(indices=[1, 2, 3, 7], values=[1.0] * 4)
LANES = [
    m.Prefetch(query=DENSE, using="dense", limit=30, filter=m.Filter(must=[T0])),
    m.Prefetch(query=SPARSE, using="sparse", limit=200),
]
CORPUS = m.SearchParams(idf=m.IdfCorpusParams(corpus=m.Filter(must=[T0])))
QUERIES: dict[str, dict[str, Any]] = {
    "dense": {"query": DENSE, "using": "dense", "limit": 20, "query_filter": m.Filter(must=[T0])},
    "sparse with idf": {"query": SPARSE, "using": "sparse", "limit": 20},
    "idf of a part": {"query": SPARSE, "using": "sparse", "limit": 20, "search_params": CORPUS},
    "threshold": {"query": DENSE, "using": "dense", "score_threshold": 0.3},
    "offset": {"query": DENSE, "using": "dense", "limit": 5, "offset": 3},
    "fusion": {"prefetch": LANES, "query": m.FusionQuery(fusion=m.Fusion.RRF), "limit": 20},
    "rrf k": {"prefetch": LANES, "query": m.RrfQuery(rrf=m.Rrf(k=60)), "limit": 20},
    "dbsf": {"prefetch": LANES, "query": m.FusionQuery(fusion=m.Fusion.DBSF), "limit": 20},
    "rescored": {"prefetch": LANES[1], "query": DENSE, "using": "dense", "limit": 20},
}


def scores(points: list[m.ScoredPoint]) -> list[float]:
    return [point.score for point in points]


@pytest.mark.parametrize("name", QUERIES)
def test_queries_score_the_same(memory: QdrantClient, process: QdrantClient, name: str) -> None:
    ours = process.query_points(NAME, **QUERIES[name], with_payload=True, with_vectors=True).points
    theirs = memory.query_points(NAME, **QUERIES[name], with_payload=True, with_vectors=True).points
    assert len(ours) > 0
    np.testing.assert_allclose(scores(ours), scores(theirs), rtol=1e-4)
    if name not in ("fusion", "rrf k"):  # ranks give ties
        assert [point.id for point in ours] == [point.id for point in theirs]
        assert [point.payload for point in ours] == [point.payload for point in theirs]


def test_a_batch_answers_each_query(process: QdrantClient) -> None:
    requests = [
        m.QueryRequest(query=DENSE, using="dense", limit=3),
        m.QueryRequest(query=SPARSE, using="sparse", limit=4, with_payload=["number"]),
    ]
    first, second = process.query_batch_points(NAME, requests)
    assert (len(first.points), len(second.points)) == (3, 4)
    assert first.points[0].payload is None
    assert list(second.points[0].payload or {}) == ["number"]


def test_pages_and_order(memory: QdrantClient, process: QdrantClient) -> None:
    seen, offset = [], None
    while True:
        records, offset = process.scroll(NAME, limit=64, offset=offset, with_payload=False)
        seen += [record.id for record in records]
        if offset is None:
            break
    assert len(seen) == len(set(seen)) == 200
    order = m.OrderBy(key="number", direction=m.Direction.DESC, start_from=50)
    numbers = [
        [(record.payload or {})["number"] for record in client.scroll(NAME, limit=5, order_by=order)[0]]
        for client in (memory, process)
    ]
    assert numbers[0] == numbers[1] == [50, 49, 48, 47, 46]


def test_retrieve_with_vectors(memory: QdrantClient, process: QdrantClient) -> None:
    ids = [POINTS[0].id, POINTS[1].id, 4444]
    ours, theirs = (
        {record.id: record for record in client.retrieve(NAME, ids, with_vectors=True)}
        for client in (process, memory)
    )
    assert ours.keys() == theirs.keys()
    for id_, record in theirs.items():
        assert ours[id_].payload == record.payload
        assert isinstance(record.vector, dict)
        assert isinstance(ours[id_].vector, dict)
        stored, given = ours[id_].vector["sparse"], record.vector["sparse"]
        assert stored.indices == given.indices
        np.testing.assert_allclose(stored.values, given.values, rtol=1e-6)  # kept in single precision
        assert ("dense" in ours[id_].vector) == ("dense" in record.vector)


def test_collection_info_tells_indexes_and_sizes(process: QdrantClient) -> None:
    info = process.get_collection(NAME)
    assert info.points_count == 200
    assert info.payload_schema["tags"].data_type is m.PayloadSchemaType.KEYWORD
    assert isinstance(info.config.params.vectors, dict)
    assert info.config.params.vectors["dense"].size == 8
    assert process.facet(NAME, "tenant").hits[0].count == 67


def test_payload_and_deletion(process: QdrantClient) -> None:
    name = "scratch"
    process.create_collection(name, vectors_config=m.VectorParams(size=2, distance=m.Distance.DOT))
    process.upsert(name, m.Batch(ids=[1, 2, 3], vectors=[[1, 0], [0, 1], [1, 1]], payloads=[{"a": 1}] * 3))
    process.set_payload(name, {"b": 2}, points=[1])
    process.set_payload(name, {"c": 3}, points=m.Filter(must=[m.HasIdCondition(has_id=[2])]))
    process.overwrite_payload(name, {"d": 4}, points=[3])
    process.delete_payload(name, ["a"], points=[1])
    payloads = {record.id: record.payload for record in process.retrieve(name, [1, 2, 3])}
    assert payloads == {1: {"b": 2}, 2: {"a": 1, "c": 3}, 3: {"d": 4}}
    process.delete(name, [1, 4444])
    process.delete(name, m.FilterSelector(filter=m.Filter(must=[field("c", match=m.MatchValue(value=3))])))
    assert [record.id for record in process.scroll(name)[0]] == [3]
    assert process.query_points(name, [1.0, 1.0]).points[0].score == pytest.approx(2.0)
    assert process.delete_collection(name)
    assert not process.collection_exists(name)
    assert not process.delete_collection(name)


def test_aliases_switch_in_one_step(process: QdrantClient) -> None:
    for name in ("old", "new"):
        process.create_collection(name, vectors_config=m.VectorParams(size=1, distance=m.Distance.DOT))
    process.upsert("old", [m.PointStruct(id=1, vector=[1.0])])
    create = m.CreateAliasOperation(create_alias=m.CreateAlias(collection_name="old", alias_name="current"))
    process.update_collection_aliases([create])
    assert process.count("current").count == 1
    drop = m.DeleteAliasOperation(delete_alias=m.DeleteAlias(alias_name="current"))
    to_new = m.CreateAliasOperation(create_alias=m.CreateAlias(collection_name="new", alias_name="current"))
    process.update_collection_aliases([drop, to_new])
    assert process.count("current").count == 0
    assert [alias.alias_name for alias in process.get_collection_aliases("new").aliases] == ["current"]
    rename = m.RenameAliasOperation(
        rename_alias=m.RenameAlias(old_alias_name="current", new_alias_name="now")
    )
    process.update_collection_aliases([rename])
    process.delete_collection("new")
    assert process.get_aliases().aliases == []
    process.delete_collection("old")
