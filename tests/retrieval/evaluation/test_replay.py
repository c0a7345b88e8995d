from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from qdrant_client import QdrantClient

from retrieval.embedders.fake import HashEmbedder
from retrieval.evaluation.replay import ReplayEmbedder, ReplayStore
from retrieval.filters import AllOf, Compare, FilterExpr, Operator
from retrieval.protocols import Collection, Lane, Scored
from retrieval.qdrant.store import QdrantStore
from retrieval.sparse import encode_document, encode_query
from tests.retrieval.builders import a_fact

EMBEDDER = HashEmbedder()
WHERE = AllOf(parts=(Compare(field="user_id", operator=Operator.EQ, value="ann"),))
DENSE = Lane(5, dense=EMBEDDER.embed_query("tea"))
SPARSE = Lane(5, sparse=encode_query("tea"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lanes each request to the real store had."""
    requests: list[int] = []
    real = QdrantStore.search

    def counted(
        store: QdrantStore, collection: Collection, tenant: str, where: FilterExpr, lanes: Sequence[Lane]
    ) -> list[list[Scored]]:
        requests.append(len(lanes))
        return real(store, collection, tenant, where, lanes)

    monkeypatch.setattr(QdrantStore, "search", counted)
    return requests


@pytest.fixture
def store() -> Iterator[ReplayStore]:
    client = QdrantClient(":memory:")
    made = ReplayStore(client, EMBEDDER.fingerprint, EMBEDDER.dimension)
    made.prepare()
    made.put_facts(
        [a_fact(text="tea is hot")], [EMBEDDER.embed_query("tea is hot")], [encode_document("tea is hot", 30)]
    )
    yield made
    client.close()


def test_a_question_is_asked_once_and_its_time_counts_each_time(store: ReplayStore, asked: list[int]) -> None:
    first = store.search(Collection.FACTS, "t1", WHERE, [DENSE, SPARSE])
    assert (len(first[0]), len(first[1]), store.saved_s) == (1, 1, 0)
    assert store.search(Collection.FACTS, "t1", WHERE, [DENSE, SPARSE]) == first
    assert asked == [2]
    assert store.saved_s > 0
    store.search(Collection.FACTS, "t1", WHERE, [DENSE])
    store.search(Collection.FACTS, "t1", WHERE, [Lane(5, dense=EMBEDDER.embed_query("coffee"))])
    store.forget()
    store.search(Collection.FACTS, "t1", WHERE, [DENSE, SPARSE])
    assert asked == [2, 1, 1, 2]


def test_items_are_fetched_once(store: ReplayStore, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = a_fact(text="tea is hot").fact.id
    first = store.fetch(Collection.FACTS, "t1", [wanted])
    assert wanted in first
    monkeypatch.setattr(QdrantStore, "fetch", lambda *_: pytest.fail("asked again"))
    assert store.fetch(Collection.FACTS, "t1", [wanted]) == first


def test_muted_lanes_return_nothing_and_keep_their_place(store: ReplayStore, asked: list[int]) -> None:
    store.muted = lambda _, lane: lane.dense is not None
    dense, sparse = store.search(Collection.FACTS, "t1", WHERE, [DENSE, SPARSE])
    assert dense == []
    assert len(sparse) == 1
    assert asked == [1]


def test_questions_are_encoded_once_and_texts_counted() -> None:
    embedder = ReplayEmbedder(EMBEDDER)
    assert embedder.embed_query("tea") is embedder.embed_query("tea")
    embedder.embed_passages(["a", "b"])
    assert (embedder.questions, embedder.texts) == (1, 2)
    assert (embedder.fingerprint, embedder.dimension) == (EMBEDDER.fingerprint, EMBEDDER.dimension)
    embedder.forget()
    assert (embedder.questions, embedder.texts) == (0, 0)
