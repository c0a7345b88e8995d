"""A pass carried out by the store process gives what the same pass gives here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest
from qdrant_client import QdrantClient

from extract.model import AtomicFact, Extraction, SegmentKind
from ingest.model import Document, Source
from retrieval.beside import StorePasses
from retrieval.embedders.fake import HashEmbedder
from retrieval.errors import EmbedderUnavailable
from retrieval.filters import AllOf, Compare, Operator
from retrieval.index import index_document
from retrieval.knobs import MragKnobs
from retrieval.model import FactHit, Include, SearchAnswer, SearchQuery
from retrieval.passes import PASS_VERSION
from retrieval.protocols import Collection, Vector
from retrieval.qdrant.connection import connect
from retrieval.qdrant.store import QdrantStore
from retrieval.ranking.asked import ask as understood
from retrieval.ranking.scoring import LrScorer, RrfScorer, Scorer
from retrieval.ranking.weights import FusionWeights, Layers, Linear
from retrieval.search import Extras, Searcher
from tests.retrieval.builders import NOW, a_fact, an_episode, day, owner
from tests.retrieval.store_process import StoreProcess

pytestmark = pytest.mark.integration

EMBEDDER = HashEmbedder()
WHO = ("Ann", "Bo", "Zoë", "Li Wei")
WHAT = ("grows tomatoes", "repairs the hose", "pays the rent", "books a train", "paints a fence", "修水管")
WHERE = ("in Lyon", "near the harbour", "at the mill", "behind the school", "on the roof", "in the cellar")
QUESTIONS = (
    "Who grows tomatoes near the harbour?", "What does Ann do at the mill?", "When did Bo pay the rent?",
    "Li Wei in the cellar", "谁修水管？", "Where is the fence that Zoë paints?",
    "What happened on 5 January?",
    "?!", "the", "something that nobody ever said about zeppelins",
)  # fmt: skip


def extraction(
    document: str, at: int, seed: np.random.Generator, kind: SegmentKind, who: object
) -> Extraction:
    people = tuple(seed.choice(WHO, 2, replace=False).tolist())
    said = [
        f"{people[number % 2]} {seed.choice(WHAT)} {seed.choice(WHERE)} for the {at * 10 + number}th time."
        for number in range(int(seed.integers(3, 9)))
    ]
    talk = kind is SegmentKind.CONVERSATION
    episode = an_episode(
        document, at, text="\n".join(said), title=f"{people[0]} and {people[1]}", owner=who, occurred=day(at),
        kind=kind, participants=people if talk else (),
    ).episode  # fmt: skip
    facts: list[AtomicFact] = [
        a_fact(
            document, at, number, text=text, topic_name=episode.title, owner=who,
            speaker=people[number % 2] if talk else None,
        ).fact
        for number, text in enumerate(said)
    ]  # fmt: skip
    return Extraction(episode=episode, facts=tuple(facts))


def fill(store: QdrantStore, document: str, seed: int, *, tenant: str = "t1", talk: bool = False) -> None:
    who = owner(tenant)
    source = Source(name=f"{document}.txt", media_type="text/plain", sha256="0" * 64, size_bytes=1)
    described = Document(id=document, owner=who, source=source, received_at=NOW)
    kind = SegmentKind.CONVERSATION if talk else SegmentKind.PROSE
    random = np.random.default_rng(seed)
    index_document(
        store, EMBEDDER, described, [extraction(document, at, random, kind, who) for at in range(6)]
    )


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    made = StoreProcess(tmp_path_factory.mktemp("store"))
    made.start()
    yield made
    assert made.stop() == 0


@pytest.fixture
def store(process: StoreProcess) -> Iterator[QdrantStore]:
    client = connect(process.url, process.key)
    made = QdrantStore(client, f"test-{uuid4()}", EMBEDDER.dimension)
    made.prepare()
    yield made
    client.close()


def weights() -> LrScorer:
    signals = {"cosine": 0.5, "bm25": 0.4, "named": 1.0, "period": 2.0, "before_bm25": 0.1, "length": 0.2}
    coarse = {"cosine": 0.5, "bm25": 0.4, "best_cosine": 0.3, "best_bm25": 0.2, "named": 0.5}
    around = {"context_cosine": 0.3, "context_bm25": 0.3}
    talk = Layers(facts=Linear(weights={**signals, **around}), episodes=Linear(weights=coarse), sibling=0.5)
    text = Layers(facts=Linear(weights=signals), episodes=Linear(weights=coarse), sibling=2.0)
    return LrScorer(FusionWeights(encoder="e", signals="s", tokenizer="t", talk=talk, text=text))


def mine(*more: Compare) -> AllOf:
    return AllOf(parts=(Compare(field="user_id", operator=Operator.EQ, value="ann"), *more))


def ask(text: str, **more: Any) -> SearchQuery:
    return SearchQuery.model_validate({"text": text, "tenant": "t1", "where": mine(), **more})


def here_and_there(
    store: QdrantStore, scorer: Scorer, embedder: HashEmbedder = EMBEDDER, **knobs: Any
) -> tuple[Searcher, Searcher]:
    bounds = MragKnobs.model_validate(knobs)
    far = Extras(passes=StorePasses(store))
    return Searcher(store, embedder, bounds, scorer), Searcher(store, embedder, bounds, scorer, far)


def shown(answer: SearchAnswer) -> list[tuple[str, float]]:
    hits = [(hit.indexed.fact.id, hit.score) for hit in answer.facts]
    return hits + [(hit.indexed.episode.id, hit.score) for hit in answer.episodes]


def place(hit: FactHit) -> tuple[object, ...]:
    assert hit.trace is not None
    return hit.trace.dense_rank, hit.trace.sparse_rank, hit.trace.replaced_parent


@pytest.mark.parametrize("scorer", [weights(), RrfScorer()])
@pytest.mark.parametrize("talk", [False, True, None])
def test_results_are_those_of_a_pass_here(store: QdrantStore, scorer: Scorer, talk: bool | None) -> None:
    for number in range(4):
        fill(store, f"doc-{number}", number, talk=number % 2 == 0 if talk is None else talk)
    fill(store, "doc-9", 9, tenant="t2")
    # Lists that end early leave out other things where scores are equal, so all are long enough here.
    own, far = here_and_there(store, scorer, fact_depth=200, fresh_depth=300)
    answered = 0
    for text in QUESTIONS:
        one, other = (searcher.search(ask(text, include=[Include.TRACE])) for searcher in (own, far))
        assert [id_ for id_, _ in shown(other)] == [id_ for id_, _ in shown(one)], text
        assert [score for _, score in shown(other)] == pytest.approx([score for _, score in shown(one)])
        assert [place(hit) for hit in other.facts] == [place(hit) for hit in one.facts]
        assert other.trace
        assert one.trace
        assert (other.trace.round_trips, one.trace.round_trips > 1) == (1, True)
        assert other.trace.candidate_facts == one.trace.candidate_facts
        answered += bool(other.facts)
    assert answered >= 8


class Asleep(HashEmbedder):
    def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable("The encoder sleeps.")


def test_without_a_vector_both_search_by_words(store: QdrantStore) -> None:
    fill(store, "doc-1", 1)
    own, far = here_and_there(store, weights(), Asleep())
    one, other = (searcher.search(ask(QUESTIONS[0])) for searcher in (own, far))
    assert other.facts
    assert shown(other) == [(id_, pytest.approx(score)) for id_, score in shown(one)]
    assert [part.part for part in other.degraded] == ["embedder"]


def test_only_what_the_filter_and_the_tenant_let_through_is_found(store: QdrantStore) -> None:
    fill(store, "doc-1", 1)
    fill(store, "doc-2", 2)
    fill(store, "doc-3", 3, tenant="t2")
    _, far = here_and_there(store, weights())
    only = mine(Compare(field="document_id", operator=Operator.EQ, value="doc-2"))
    answer = far.search(ask(QUESTIONS[0], where=only))
    assert {hit.indexed.fact.document_id for hit in answer.facts} == {"doc-2"}
    everything = far.search(ask(QUESTIONS[0], top_k=100))
    assert {hit.indexed.document.id for hit in everything.episodes} == {"doc-1", "doc-2"}


def test_what_was_written_since_is_seen_at_once(store: QdrantStore) -> None:
    fill(store, "doc-1", 1)
    own, far = here_and_there(store, weights())
    question = ask("What does Ann do?")
    before = far.search(question)
    # The same ids with other words, other people and another kind.
    fill(store, "doc-1", 7, talk=True)
    one, other = (searcher.search(question) for searcher in (own, far))
    assert shown(other) == [(id_, pytest.approx(score)) for id_, score in shown(one)]
    assert shown(other) != shown(before)
    store.supersede("t1", "doc-1", "doc-2", NOW)
    assert not far.search(question).facts
    fill(store, "doc-2", 2)
    assert {hit.indexed.fact.document_id for hit in far.search(question).facts} == {"doc-2"}
    store.delete_document("t1", "doc-2")
    assert not shown(far.search(question))


def test_an_order_of_another_version_is_carried_out_here(
    store: QdrantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, "doc-1", 1)
    monkeypatch.setattr("retrieval.beside.PASS_VERSION", "of-another-release")
    own, far = here_and_there(store, weights())
    asked = ask(QUESTIONS[0], include=[Include.TRACE])
    one, other, again = own.search(asked), far.search(asked), far.search(asked)
    assert shown(other) == shown(again) == shown(one)
    assert one.trace
    assert other.trace
    assert again.trace
    # Asked once in vain, then left alone for a while.
    assert other.trace.round_trips == one.trace.round_trips + 1
    assert again.trace.round_trips == one.trace.round_trips


def test_a_store_in_this_process_needs_none(store: QdrantStore) -> None:
    near = QdrantStore(QdrantClient(":memory:"), "test", EMBEDDER.dimension)
    near.prepare()
    fill(near, "doc-1", 1)
    own, far = here_and_there(near, weights())
    one, other = (searcher.search(ask(QUESTIONS[0])) for searcher in (own, far))
    assert shown(other) == [(id_, pytest.approx(score)) for id_, score in shown(one)]


@pytest.mark.parametrize(
    "change",
    [
        {"asked": ["text"]}, {"asked": None}, {"dense": "near"}, {"scorer": "{}x"}, {"scorer": 7},
        {"knobs": {"alpha": 7}}, {"wanted": "ten"}, {"where": {"must": [{"strange": 1}]}}, {"more": 1},
    ],
)  # fmt: skip
def test_an_order_that_cannot_be_read_is_refused(
    process: StoreProcess, store: QdrantStore, change: dict[str, Any]
) -> None:
    asked = understood(QUESTIONS[0])
    order = {
        "version": PASS_VERSION, "asked": asked.packed(), "dense": [0.1] * EMBEDDER.dimension,
        "scorer": weights().packed, "knobs": {}, "wanted": 3, "where": {}, "corpus": {},
        **{str(kind): store.names[kind] for kind in Collection},
    }  # fmt: skip
    path, headers = f"{process.url}/passes", {"api-key": process.key}
    assert httpx.post(path, json=order, headers=headers).status_code == 200
    refused = httpx.post(path, json=order | change, headers=headers)
    assert (refused.status_code, "error" in refused.json()["status"]) == (400, True)
    assert httpx.post(path, json=order).status_code == 401
