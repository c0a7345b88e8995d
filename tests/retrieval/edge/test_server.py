"""The store process itself: who may talk to it, what it refuses, and what survives its end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from qdrant_client import QdrantClient

from retrieval.edge.server import EXIT_DAMAGED, EXIT_IN_USE, EXIT_PORT, EXIT_USAGE
from retrieval.embedders.fake import HashEmbedder
from retrieval.errors import StoreRefused, StoreUnavailable
from retrieval.protocols import Collection
from retrieval.qdrant.connection import connect
from retrieval.qdrant.store import QdrantStore
from retrieval.sparse import encode_document
from tests.retrieval.builders import a_fact
from tests.retrieval.store_process import StoreProcess

pytestmark = pytest.mark.integration
EMBEDDER = HashEmbedder()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[StoreProcess]:
    made = StoreProcess(tmp_path / "store")
    made.start()
    yield made
    if made.process is not None and made.process.poll() is None:
        assert made.stop() == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    """A process for the tests that neither stop nor fill it: starting one is slow."""
    made = StoreProcess(tmp_path_factory.mktemp("shared"))
    made.start()
    yield made
    assert made.stop() == 0


@pytest.fixture
def http(shared: StoreProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.url, headers={"api-key": shared.key}) as client:
        client.put("/collections/c", json={"vectors": {"dense": {"size": 2, "distance": "Cosine"}}})
        yield client
        client.delete("/collections/c")


def a_store(client: QdrantClient) -> QdrantStore:
    store = QdrantStore(client, EMBEDDER.fingerprint, EMBEDDER.dimension)
    store.prepare()
    return store


def put(store: QdrantStore, positions: range) -> None:
    items = [a_fact(position=at, text=f"fact {at}") for at in positions]
    vectors = [EMBEDDER.embed_query(item.fact.text) for item in items]
    store.put_facts(items, vectors, [encode_document(item.fact.text, 8) for item in items])


def test_a_key_is_needed_but_for_probes(shared: StoreProcess) -> None:
    for path in ("/collections", "/metrics", "/collections/c/points/query"):
        assert httpx.get(shared.url + path).status_code == 401
        assert httpx.get(shared.url + path, headers={"api-key": "wrong"}).status_code == 401
    for path in ("/", "/healthz", "/livez", "/readyz"):
        assert httpx.get(shared.url + path).status_code == 200
    bearer = {"Authorization": f"Bearer {shared.key}"}
    assert httpx.get(shared.url + "/collections", headers=bearer).json()["result"] == {"collections": []}
    client = connect(shared.url, "wrong")
    with pytest.raises(StoreUnavailable, match="401"):
        QdrantStore(client, "f", 3).count(Collection.FACTS, "t1")
    client.close()


POINT: dict[str, Any] = {"id": 1, "vector": {"dense": [1.0, 0.0]}}
REFUSED: list[tuple[str, str, Any, int, str]] = [
    ("POST", "points/query", {"query": [1.0, 0.0], "using": "dense", "colour": 1}, 400, "colour"),
    ("POST", "points/query", {"query": {"nearest": [1.0], "mmr": {}}, "using": "dense"}, 400, "mmr"),
    ("POST", "points/query", {"query": {"fusion": "best"}}, 400, "best"),
    ("POST", "points/query", {"query": {"formula": {}}}, 400, "formula"),
    ("POST", "points/query", {"query": {}}, 400, "expected"),
    ("POST", "points/query", {"query": [1.0], "using": "dense"}, 400, "dimension"),
    ("POST", "points/query", {"query": [1.0, 0.0], "using": "none"}, 400, "none"),
    ("POST", "points/query", {"query": [1.0, 0.0], "using": "dense", "limit": "x"}, 400, "input"),
    ("POST", "points/query", {"query": [1.0, 0.0], "using": "dense", "params": {"turbo": 1}}, 400, "turbo"),
    ("POST", "points/scroll", {"filter": {"must": [{"key": "a", "geo_radius": {}}]}}, 400, "geo_radius"),
    ("POST", "points/scroll", {"filter": {"must": [{"key": "a", "match": {"near": 1}}]}}, 400, "match"),
    ("POST", "points/scroll", {"filter": {"most": []}}, 400, "most"),
    ("POST", "points/scroll", {"filter": {"must": {"key": "a", "match": {"value": True}}}}, 400, "true"),
    ("POST", "points/scroll", {"filter": [1]}, 400, "object"),
    ("POST", "points/scroll", {"order_by": "nowhere"}, 400, "index"),
    ("POST", "points/scroll", {"offset": "no-uuid"}, 400, "UUID"),
    ("PUT", "points", {"points": [{**POINT, "weight": 1}]}, 400, "weight"),
    ("PUT", "points", {"points": [{"id": 1}]}, 400, "vector"),
    ("PUT", "points", {"points": [{**POINT, "vector": {"sparse": [1.0]}}]}, 400, "sparse"),
    ("PUT", "points", {"points": [{**POINT, "id": -1}]}, 400, "input"),
    ("PUT", "points", {"points": [{**POINT, "id": True}]}, 400, "point id"),
    ("PUT", "points", {"points": [{**POINT, "vector": {"dense": [1.0]}}]}, 400, "dimension"),
    ("PUT", "points", {"points": [{**POINT, "vector": {"dense": {"indices": [1, 1], "values": [1, 1]}}}]},
     422, "unique"),
    ("PUT", "index", {"field_name": "a", "field_schema": "colour"}, 400, "colour"),
    ("PUT", "index", {"field_name": "a", "field_schema": {"type": "geo"}}, 400, "geo"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "status", "word"), REFUSED)
def test_what_is_not_understood_is_refused_by_name(
    http: httpx.Client, method: str, path: str, body: Any, status: int, word: str
) -> None:
    answer = http.request(method, f"/collections/c/{path}", json=body)
    assert answer.status_code == status
    assert word in answer.json()["status"]["error"]


def test_refusals_of_collections_and_routes(http: httpx.Client) -> None:
    vectors = {"vectors": {"size": 2, "distance": "Dot"}}
    assert http.put("/collections/c", json=vectors).status_code == 409
    assert http.put("/collections/a%20b", json=vectors).status_code == 422
    assert http.put("/collections/..%2F..%2Fx", json=vectors).status_code == 404
    assert http.put("/collections/d", json={**vectors, "shard_number": 2}).status_code == 400
    assert http.put("/collections/d", json={"vectors": {"size": 2, "distance": "x"}}).status_code == 400
    assert http.get("/collections/d").status_code == 404
    assert http.patch("/collections/c", json={}).status_code == 405
    assert http.get("/cluster").status_code == 404
    assert http.post("/collections/c/points/query", content=b"{").status_code == 400
    assert http.get("/collections").json()["result"]["collections"] == [{"name": "c"}]


def test_metrics_count_points_and_requests(http: httpx.Client) -> None:
    http.put("/collections/c/points", json={"points": [POINT]})
    text = http.get("/metrics").text
    assert 'strata_store_points{collection="c"} 1.0' in text
    assert 'strata_store_request_seconds_count{route="PUT /collections/{name}/points"} 1.0' in text


def test_two_processes_never_share_a_directory(shared: StoreProcess) -> None:
    second = shared.spawn()
    _, said = second.communicate(timeout=30)
    assert second.returncode == EXIT_IN_USE
    assert shared.process is not None
    assert f"in use by the store process {shared.process.pid}" in said


@pytest.mark.parametrize(
    ("arguments", "key"), [((), ""), (("--host", "0.0.0.0"), None), (("--port", "x"), None)]
)
def test_wrong_use_ends_at_once(tmp_path: Path, arguments: tuple[str, ...], key: str | None) -> None:
    child = StoreProcess(tmp_path).spawn(*arguments, key=key)
    _, said = child.communicate(timeout=30)
    assert child.returncode == EXIT_USAGE
    assert said


def test_a_taken_port_and_a_damaged_collection_are_named(shared: StoreProcess, tmp_path: Path) -> None:
    rival = StoreProcess(tmp_path / "rival")
    rival.port = shared.port
    child = rival.spawn()
    assert str(shared.port) in child.communicate(timeout=30)[1]
    assert child.returncode == EXIT_PORT
    (rival.data / "collections" / "c").mkdir()
    child = rival.spawn()
    assert "collections/c cannot be opened" in child.communicate(timeout=30)[1]
    assert child.returncode == EXIT_DAMAGED


def test_an_orderly_stop_keeps_everything(process: StoreProcess) -> None:
    client = connect(process.url, process.key)
    store = a_store(client)
    put(store, range(300))
    assert process.stop() == 0
    with pytest.raises(StoreUnavailable):
        store.count(Collection.FACTS, "t1")
    process.start()
    assert store.count(Collection.FACTS, "t1") == 300
    assert store.active()
    client.close()


def put_until_it_fails(store: QdrantStore, first: int, acknowledged: list[range]) -> None:
    for at in range(first, first + 1_000_000, 64):
        put(store, range(at, at + 64))
        acknowledged.append(range(at, at + 64))


@pytest.mark.timeout(300)  # three restarts, on a busy machine too
def test_killed_amid_writes_no_acknowledged_point_is_lost(process: StoreProcess) -> None:
    client = connect(process.url, process.key)
    store = a_store(client)
    acknowledged: list[range] = []

    def kill_after(batches: int) -> None:
        while len(acknowledged) < batches:
            time.sleep(0.001)
        process.stop(signal.SIGKILL)

    for round_ in range(3):
        killer = threading.Thread(target=kill_after, args=(len(acknowledged) + 5 + 3 * round_,))
        killer.start()
        with pytest.raises(StoreUnavailable):
            put_until_it_fails(store, round_ * 1_000_000, acknowledged)
        killer.join()
        process.start()
        there = set(store.ids(Collection.FACTS, "t1", "doc-1"))
        sent = [a_fact(position=at).fact.id for positions in acknowledged for at in positions]
        assert [id_ for id_ in sent if id_ not in there] == []
    assert len(acknowledged) >= 24
    client.close()


def test_an_oversized_request_is_refused(process: StoreProcess) -> None:
    client = connect(process.url, process.key)
    store = a_store(client)
    huge = a_fact(text="x" * (33 * 2**20))
    with pytest.raises((StoreRefused, StoreUnavailable)):
        store.put_facts([huge], [None], [encode_document("x", 8)])
    put(store, range(1))
    assert store.count(Collection.FACTS, "t1") == 1
    client.close()
