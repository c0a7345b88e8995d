from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
import pytest
from qdrant_client import QdrantClient

from extract.model import AtomicFact, Extraction
from ingest.model import Document, Source
from retrieval.embedders.fake import HashEmbedder
from retrieval.errors import EmbedderUnavailable, StoreUnavailable
from retrieval.filters import AllOf, Compare, Operator
from retrieval.index import index_document
from retrieval.knobs import MragKnobs
from retrieval.model import Include, MemoryType, SearchMethod, SearchQuery
from retrieval.protocols import Vector, VectorStore
from retrieval.qdrant.store import QdrantStore
from retrieval.ranking.scoring import LrScorer
from retrieval.ranking.weights import FusionWeights, Layers, Linear, Squash
from retrieval.search import Searcher
from tests.fakes import MemoryStore
from tests.retrieval.builders import NOW, a_fact, an_episode, day, owner

EMBEDDER = HashEmbedder()
STORY = {
    0: (
        "Trip to Lyon",
        ["Zoë took the night train to Lyon.", "The hotel smelled of lavender.", "It rained."],
    ),
    1: ("Budget", ["The rent is 1200 euros.", "Groceries cost 300 euros."]),
    2: ("Garden", ["Tomatoes need sun.", "The hose leaks."]),
}


def mine(user: str = "ann") -> AllOf:
    return AllOf(parts=(Compare(field="user_id", operator=Operator.EQ, value=user),))


def ask(text: str, **more: object) -> SearchQuery:
    return SearchQuery.model_validate({"text": text, "tenant": "t1", "where": mine(), **more})


def fill(store: VectorStore, document: str = "doc-1", tenant: str = "t1", user: str = "ann") -> None:
    who = owner(tenant, user)
    source = Source(name=f"{document}.txt", media_type="text/plain", sha256="0" * 64, size_bytes=1)
    described = Document(id=document, owner=who, source=source, received_at=NOW)
    index_document(store, EMBEDDER, described, [extraction(document, at, who) for at in STORY])


def extraction(document: str, at: int, who: object) -> Extraction:
    title, texts = STORY[at]
    episode = an_episode(document, at, text=" ".join(texts), title=title, owner=who, occurred=day(at)).episode
    facts: list[AtomicFact] = [
        a_fact(document, at, number, text=text, topic_name=title, owner=who).fact
        for number, text in enumerate(texts)
    ]
    return Extraction(episode=episode, facts=tuple(facts))


def in_memory() -> VectorStore:
    return MemoryStore()


def in_qdrant() -> VectorStore:
    return QdrantStore(QdrantClient(":memory:"), EMBEDDER.fingerprint, EMBEDDER.dimension)


@pytest.fixture(params=[in_memory, in_qdrant])
def store(request: pytest.FixtureRequest) -> VectorStore:
    make: Callable[[], VectorStore] = request.param
    made = make()
    made.prepare()
    fill(made)
    return made


class Broken(HashEmbedder):
    def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable("The encoder sleeps.")


def searcher(store: VectorStore, **knobs: object) -> Searcher:
    return Searcher(store, EMBEDDER, MragKnobs.model_validate(knobs))


def test_hybrid_returns_the_fact_and_its_episode_as_carrier(store: VectorStore) -> None:
    answer = searcher(store).search(ask("Who took the night train to Lyon?", top_k=3))
    best = answer.facts[0]
    assert best.indexed.fact.text == "Zoë took the night train to Lyon."
    carrier = answer.episodes[0]
    assert carrier.indexed.episode.title == "Trip to Lyon"
    assert not carrier.answers
    assert best in carrier.facts
    assert 0 <= best.score <= 1


def test_hybrid_returns_as_many_as_exist_and_no_parent_beside_its_fact(store: VectorStore) -> None:
    for top_k in (1, 3, 7, 20):
        answer = searcher(store).search(ask("rent and tomatoes", top_k=top_k))
        standing = [hit for hit in answer.episodes if hit.answers]
        assert len(answer.facts) + len(standing) == min(top_k, 7)
        parents = {hit.indexed.fact.episode_id for hit in answer.facts}
        assert not parents & {hit.indexed.episode.id for hit in standing}
        assert [hit.score for hit in answer.facts] == sorted(
            (hit.score for hit in answer.facts), reverse=True
        )


def test_both_stores_give_the_same_answer() -> None:
    answers = []
    for make in (in_memory, in_qdrant):
        made = make()
        made.prepare()
        fill(made)
        answers.append(searcher(made).search(ask("euros for the night train", include=[Include.TRACE])))
    left, right = ([(hit.indexed.fact.text, round(hit.score, 4)) for hit in one.facts] for one in answers)
    assert left == right


@pytest.mark.parametrize("method", [SearchMethod.KEYWORD, SearchMethod.VECTOR])
def test_one_lane_searches_episodes(store: VectorStore, method: SearchMethod) -> None:
    answer = searcher(store).search(ask("tomatoes", method=method, top_k=1))
    assert [hit.indexed.episode.title for hit in answer.episodes] == ["Garden"]
    assert answer.facts == ()
    assert answer.episodes[0].answers


def test_trips_are_few_and_traced(store: VectorStore) -> None:
    query = ask("Who took the night train to Lyon?", include=[Include.TRACE])
    answer = searcher(store).search(query)
    assert answer.trace is not None
    assert answer.trace.round_trips == 4
    assert answer.trace.rounds > 0
    assert [lane.trip for lane in answer.trace.lanes] == sorted(lane.trip for lane in answer.trace.lanes)
    assert {lane.signal for lane in answer.trace.lanes} == {
        "dense", "sparse", "context_dense", "context_sparse"
    }  # fmt: skip
    assert max(lane.hits for lane in answer.trace.lanes if not lane.narrowed) > 0
    trace = answer.facts[0].trace
    assert trace is not None
    assert (trace.dense_rank, trace.sparse_rank) == (1, 1)
    assert trace.replaced_parent == answer.facts[0].indexed.fact.episode_id
    assert searcher(store).search(ask("train")).trace is None


@pytest.mark.parametrize("method", list(SearchMethod))
def test_other_tenants_and_owners_are_never_seen(store: VectorStore, method: SearchMethod) -> None:
    fill(store, "doc-2", tenant="t2")
    fill(store, "doc-3", user="bob")
    answer = searcher(store).search(ask("night train", method=method, top_k=100))
    assert {hit.indexed.document.id for hit in answer.episodes} == {"doc-1"}
    assert {hit.indexed.document.id for hit in answer.facts} <= {"doc-1"}


def test_without_the_encoder_words_alone_answer_and_it_is_said(store: VectorStore) -> None:
    for method in (SearchMethod.HYBRID, SearchMethod.VECTOR):
        answer = Searcher(store, Broken(), MragKnobs()).search(ask("night train", method=method))
        assert answer.episodes[0].indexed.episode.title == "Trip to Lyon"
        assert [(one.part, "keywords alone" in one.reason) for one in answer.degraded] == [("embedder", True)]


def test_a_store_that_is_away_is_an_error() -> None:
    class Away(MemoryStore):
        def search(self, *_: object) -> Sequence[object]:  # type: ignore[override]
            raise StoreUnavailable

    with pytest.raises(StoreUnavailable):
        searcher(Away()).search(ask("train"))


def test_radius_cuts_and_memory_types_decide(store: VectorStore) -> None:
    whole = searcher(store).search(ask("night train"))
    bar = whole.facts[1].score
    cut = searcher(store).search(ask("night train", radius=bar))
    assert cut.facts == tuple(hit for hit in whole.facts if hit.score >= bar)
    assert len(cut.facts) < len(whole.facts)
    answer = searcher(store).search(ask("night train", memory_types=[MemoryType.PROFILE]))
    assert answer.episodes == ()


@pytest.mark.parametrize(("odds", "relevant"), [(-9.0, False), (9.0, True)])
def test_an_answer_says_whether_it_is_about_the_question(
    store: VectorStore, odds: float, relevant: bool
) -> None:
    sure = Linear(intercept=odds)
    layers = Layers(facts=sure, episodes=sure)
    line = Squash(intercept=odds, slope=0.0)
    weights = FusionWeights(
        encoder="", signals="", tokenizer="", talk=layers, text=layers, vector=line, keyword=line
    )
    for method in (SearchMethod.HYBRID, SearchMethod.KEYWORD, SearchMethod.VECTOR):
        answer = Searcher(store, EMBEDDER, MragKnobs(), LrScorer(weights)).search(
            ask("night train", method=method)
        )
        assert answer.relevant is relevant
        assert answer.top_score == pytest.approx(1 / (1 + np.exp(-odds)), rel=0.02)


def test_ranks_cannot_tell_whether_an_answer_is_relevant(store: VectorStore) -> None:
    assert searcher(store).search(ask("night train")).relevant is None


def test_filters_narrow_both_layers(store: VectorStore) -> None:
    where = AllOf(
        parts=(*mine().parts, Compare(field="timestamp", operator=Operator.GTE, value=day(1).start))
    )
    answer = searcher(store).search(ask("night train to Lyon", where=where, top_k=20))
    assert {hit.indexed.episode.title for hit in answer.episodes} == {"Budget", "Garden"}


def test_what_was_superseded_answers_only_for_its_time(store: VectorStore) -> None:
    old = a_fact("doc-9", 0, 0, text="Zoë lives in Lyon.", valid_to=NOW, superseded_by="new").fact
    new = a_fact("doc-9", 0, 1, text="Zoë lives in Nice.", valid_from=NOW).fact
    episode = an_episode("doc-9", 0, text="Zoë lives somewhere.").episode
    source = Source(name="home.txt", media_type="text/plain", sha256="0" * 64, size_bytes=1)
    document = Document(id="doc-9", owner=owner(), source=source, received_at=NOW)
    index_document(store, EMBEDDER, document, [Extraction(episode=episode, facts=(old, new))])

    def lives(**more: object) -> set[str]:
        found = searcher(store).search(ask("Where does Zoë live?", top_k=20, **more)).facts
        return {hit.indexed.fact.text for hit in found if "lives" in hit.indexed.fact.text}

    assert lives() == {"Zoë lives in Nice."}
    assert lives(as_of=NOW - timedelta(days=1)) == {"Zoë lives in Lyon."}
    assert lives(as_of=NOW + timedelta(days=1)) == {"Zoë lives in Nice."}


def test_an_empty_memory_gives_an_empty_answer() -> None:
    for method in SearchMethod:
        answer = searcher(MemoryStore()).search(ask("anything", method=method))
        assert answer.episodes == answer.facts == ()


def test_a_question_without_words_is_no_error(store: VectorStore) -> None:
    for method in SearchMethod:
        searcher(store).search(ask("?!", method=method))
