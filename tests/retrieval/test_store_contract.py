"""What every store must do: run against memory, the store process and, where QDRANT_URL is set, a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from retrieval.embedders.fake import HashEmbedder
from retrieval.errors import InvalidQuery
from retrieval.filters import AllOf, AnyOf, AsOf, Compare, FilterExpr, NotOf
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import Carry, Collection, Lane, SparseVector, Surroundings, Vector
from retrieval.qdrant.connection import connect
from retrieval.qdrant.schema import in_memory, real_name
from retrieval.qdrant.store import QdrantStore
from retrieval.sparse import encode_document, encode_query
from retrieval.traits import Traits, fact_traits
from tests.retrieval.builders import NOW, a_fact, an_episode, day, owner
from tests.retrieval.store_process import StoreProcess

EMBEDDER = HashEmbedder()
ANYTHING = AllOf(parts=())
EPISODES, FACTS = Collection.EPISODES, Collection.FACTS
BACKENDS = ["memory", pytest.param("process", marks=pytest.mark.integration)]
if os.environ.get("QDRANT_URL"):
    BACKENDS.append(pytest.param("server", marks=pytest.mark.integration))


@pytest.fixture(scope="module")
def store_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreProcess]:
    process = StoreProcess(tmp_path_factory.mktemp("store"))
    process.start()
    yield process
    assert process.stop() == 0


@pytest.fixture(scope="module", params=BACKENDS)
def client(request: pytest.FixtureRequest) -> Iterator[QdrantClient]:
    if request.param == "memory":
        made = QdrantClient(":memory:")
    elif request.param == "process":
        process = request.getfixturevalue("store_process")
        made = connect(process.url, process.key)
    else:
        made = connect(os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY", ""))
    yield made
    made.close()


@pytest.fixture(scope="module")
def prepared(client: QdrantClient) -> Iterator[tuple[QdrantStore, dict[Collection, str]]]:
    """Collections of our own: the fingerprint is part of their names."""
    fingerprint = f"test-{uuid4()}"
    made = QdrantStore(client, fingerprint, EMBEDDER.dimension)
    made.prepare()
    names = {kind: real_name(kind, fingerprint, EMBEDDER.dimension) for kind in Collection}
    yield made, names
    for name in names.values():
        client.delete_collection(name)


@pytest.fixture
def store(client: QdrantClient, prepared: tuple[QdrantStore, dict[Collection, str]]) -> QdrantStore:
    made, names = prepared
    for name in names.values():
        client.delete(name, models.FilterSelector(filter=models.Filter()))
    return made


def sparse(text: str) -> SparseVector:
    return encode_document(text, average_length=8)


def dense(text: str) -> Vector:
    return EMBEDDER.embed_query(text)


def put_facts(store: QdrantStore, *items: IndexedFact) -> None:
    texts = [item.fact.text for item in items]
    store.put_facts(items, [dense(text) for text in texts], [sparse(text) for text in texts])


def put_episodes(store: QdrantStore, *items: IndexedEpisode) -> None:
    texts = [item.episode.text for item in items]
    store.put_episodes(items, [dense(text) for text in texts], [sparse(text) for text in texts])


def found(store: QdrantStore, where: FilterExpr, tenant: str = "t1", text: str = "apple") -> set[str]:
    (hits,) = store.search(FACTS, tenant, where, [Lane(limit=100, dense=dense(text))])
    return {hit.item.fact.text for hit in hits if isinstance(hit.item, IndexedFact)}


def test_prepare_twice_changes_nothing(store: QdrantStore) -> None:
    put_facts(store, a_fact(text="apple"))
    store.prepare()
    assert store.count(FACTS, "t1") == 1
    assert store.active()


def test_what_is_put_comes_back_as_it_was(store: QdrantStore) -> None:
    episode = an_episode(text="苹果 and naïve \U0001f34e", participants=("Zoë",), occurred=day(3))
    fact = a_fact(text="苹果 \U0001f34e", speaker="Zoë", occurred=day(3))
    put_episodes(store, episode)
    put_facts(store, fact)
    assert store.fetch(EPISODES, "t1", [episode.episode.id, fact.fact.id]) == {episode.episode.id: episode}
    assert store.fetch(FACTS, "t1", [fact.fact.id]) == {fact.fact.id: fact}


def test_vectors_come_back(store: QdrantStore) -> None:
    item = a_fact(text="the number 2,147,483,647")
    terms = SparseVector((5, 2**31 - 1), (0.5, 2.0))
    store.put_facts([item], [dense("x")], [terms])
    vectors = store.vectors(FACTS, "t1", [item.fact.id, a_fact(position=9).fact.id])
    assert list(vectors) == [item.fact.id]
    assert vectors[item.fact.id].sparse == terms
    np.testing.assert_allclose(vectors[item.fact.id].dense, dense("x"), atol=1e-6)


def test_items_without_a_dense_vector_or_without_words_are_kept(store: QdrantStore) -> None:
    bare, silent = a_fact(text="apple"), a_fact(position=1, text="…")
    store.put_facts([bare, silent], [None, dense("…")], [sparse("apple"), SparseVector((), ())])
    assert store.vectors(FACTS, "t1", [bare.fact.id])[bare.fact.id].dense is None
    assert store.vectors(FACTS, "t1", [silent.fact.id])[silent.fact.id].sparse is None
    lanes = [Lane(limit=5, dense=dense("apple")), Lane(limit=5, sparse=encode_query("apple"))]
    by_meaning, by_word = store.search(FACTS, "t1", ANYTHING, lanes)
    assert [hit.id for hit in by_meaning] == [silent.fact.id]
    assert [hit.id for hit in by_word] == [bare.fact.id]


def test_dense_scores_are_cosines_and_ranked(store: QdrantStore) -> None:
    put_facts(
        store, *(a_fact(position=at, text=text) for at, text in enumerate(["apple pie", "apple", "pear"]))
    )
    (hits,) = store.search(FACTS, "t1", ANYTHING, [Lane(limit=2, dense=dense("apple"))])
    assert [hit.item.fact.text for hit in hits if isinstance(hit.item, IndexedFact)] == ["apple", "apple pie"]
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert hits[1].score == pytest.approx(float(dense("apple pie") @ dense("apple")), abs=1e-5)


def test_rare_words_weigh_more_than_common_ones(store: QdrantStore) -> None:
    texts = ["report alpha", "report beta", "report gamma", "report quokka"]
    put_facts(store, *(a_fact(position=at, text=text) for at, text in enumerate(texts)))
    (hits,) = store.search(FACTS, "t1", ANYTHING, [Lane(limit=4, sparse=encode_query("report quokka"))])
    assert isinstance(hits[0].item, IndexedFact)
    assert hits[0].item.fact.text == "report quokka"
    assert hits[0].score > 3 * hits[1].score


def test_how_rare_a_word_is_depends_on_one_s_own_tenant_only(store: QdrantStore) -> None:
    texts = ["report alpha", "report beta", "report quokka"]
    put_facts(store, *(a_fact(position=at, text=text) for at, text in enumerate(texts)))
    lane = Lane(limit=3, sparse=encode_query("report quokka"))
    before = [hit.score for hit in store.search(FACTS, "t1", ANYTHING, [lane])[0]]
    theirs = [a_fact("d9", position=at, text="quokka", owner=owner("t2")) for at in range(20)]
    put_facts(store, *theirs)
    after = [hit.score for hit in store.search(FACTS, "t1", ANYTHING, [lane])[0]]
    assert after == pytest.approx(before)


def test_lanes_without_shared_words_are_empty(store: QdrantStore) -> None:
    put_facts(store, a_fact(text="apple"))
    lanes = [Lane(limit=3, sparse=encode_query("zebra")), Lane(limit=3, sparse=SparseVector((), ()))]
    assert store.search(FACTS, "t1", ANYTHING, lanes) == [[], []]
    assert store.search(FACTS, "t1", ANYTHING, []) == []


def test_parents_narrow_a_lane(store: QdrantStore) -> None:
    first, second = a_fact(episode=0, text="apple"), a_fact(episode=1, text="apple tree")
    put_facts(store, first, second)
    lanes = [
        Lane(limit=5, dense=dense("apple"), parents=(second.fact.episode_id,)),
        Lane(limit=5, dense=dense("apple"), parents=()),
    ]
    narrowed, none = store.search(FACTS, "t1", ANYTHING, lanes)
    assert [hit.id for hit in narrowed] == [second.fact.id]
    assert none == []


def test_pages_hold_everything_once_and_in_order(store: QdrantStore) -> None:
    put_facts(store, *(a_fact(position=at, text=f"apple {at}") for at in range(7)))
    put_facts(store, a_fact("d2", text="theirs", owner=owner("t2")))
    seen, start = [], None
    while True:
        items, start = store.page(FACTS, "t1", ANYTHING, 3, start)
        seen += [item.fact.id for item in items if isinstance(item, IndexedFact)]
        if start is None:
            break
    assert len(seen) == 7
    assert seen == sorted(set(seen))
    nothing = Compare(field="user_id", operator="eq", value="nobody")
    assert store.page(FACTS, "t1", nothing, 3) == ((), None)


def test_tenants_never_meet(store: QdrantStore) -> None:
    mine, theirs = a_fact("d1", text="apple"), a_fact("d2", text="apple tart", owner=owner("t2"))
    put_facts(store, mine, theirs)
    everything = AnyOf(parts=(NotOf(part=Compare(field="user_id", operator="eq", value="x")), ANYTHING))
    assert found(store, everything) == {"apple"}
    assert store.fetch(FACTS, "t1", [theirs.fact.id]) == {}
    assert store.vectors(FACTS, "t1", [theirs.fact.id]) == {}
    store.delete(FACTS, "t1", [theirs.fact.id])
    assert store.delete_document("t1", "d2") == 0
    assert list(store.ids(FACTS, "t1", "d2")) == []
    assert store.count(FACTS, "t2") == 1


@pytest.fixture
def shelf(store: QdrantStore) -> QdrantStore:
    put_facts(
        store,
        a_fact("a", text="one", owner=owner(group_id="g1"), occurred=day(0), topic_name="Budget plan",
               speaker="Ann Lee", language="en", name="Q1 report.pdf", media_type="application/pdf"),
        a_fact("b", text="two", owner=owner(user="bob", session_id="s1"), occurred=day(5),
               topic_name="预算会议", participants=("Bob", "Cid"), language="zh"),
        a_fact("c", text="three", owner=owner(user="cid"), topic_name="Travel"),
    )  # fmt: skip
    return store


CASES = [
    ("user_id", "eq", "ann", {"one"}),
    ("user_id", "ne", "ann", {"two", "three"}),
    ("user_id", "in", ("ann", "cid"), {"one", "three"}),
    ("user_id", "in", (), set()),
    ("group_id", "eq", "g1", {"one"}),
    ("group_id", "ne", "g1", {"two", "three"}),
    ("session_id", "eq", "s1", {"two"}),
    ("document_id", "eq", "c", {"three"}),
    ("language", "in", ("en", "zh"), {"one", "two"}),
    ("participants", "eq", "Ann Lee", {"one"}),
    ("participants", "eq", "Ann", set()),
    ("participants", "contains", "ann", {"one"}),
    ("participants", "contains", "lee ANN", {"one"}),
    ("participants", "in", ("Cid", "nobody"), {"two"}),
    ("topic", "contains", "budget", {"one"}),
    ("topic", "contains", "预算", {"two"}),
    ("source", "contains", "report", {"one"}),
    ("source", "eq", "Q1 report.pdf", {"one"}),
    ("media_type", "contains", "pdf", {"one"}),
    ("timestamp", "eq", "2026-01-06T00:00:00Z", {"two"}),
    ("timestamp", "ne", "2026-01-06T00:00:00Z", {"one", "three"}),
    ("timestamp", "in", (day(0).start, day(5).start), {"one", "two"}),
    ("timestamp", "gt", day(0).start, {"two"}),
    ("timestamp", "gte", "2026-01-01T08:00:00+08:00", {"one", "two"}),
    ("timestamp", "lt", day(5).start, {"one"}),
    ("timestamp", "lte", day(5).start.timestamp() * 1000, {"one", "two"}),
    ("recorded_at", "lte", NOW, {"one", "two", "three"}),
    ("recorded_at", "gt", NOW, set()),
]


@pytest.mark.parametrize(("field", "operator", "value", "expected"), CASES)
def test_every_operator(
    shelf: QdrantStore, field: str, operator: str, value: object, expected: set[str]
) -> None:
    where = Compare.model_validate({"field": field, "operator": operator, "value": value})
    assert found(shelf, AllOf(parts=(where,))) == expected


def test_and_or_not_nest(shelf: QdrantStore) -> None:
    ann = Compare(field="user_id", operator="eq", value="ann")
    chinese = Compare(field="language", operator="eq", value="zh")
    assert found(shelf, AnyOf(parts=(ann, chinese))) == {"one", "two"}
    assert found(shelf, AllOf(parts=(ann, chinese))) == set()
    assert found(shelf, NotOf(part=AnyOf(parts=(ann, chinese)))) == {"three"}
    assert found(shelf, AllOf(parts=(NotOf(part=ann), NotOf(part=chinese)))) == {"three"}
    assert found(shelf, NotOf(part=AllOf(parts=()))) == set()
    assert found(shelf, NotOf(part=NotOf(part=AllOf(parts=())))) == {"one", "two", "three"}


@pytest.mark.parametrize(
    ("field", "operator", "value"),
    [
        ("nothing", "eq", "x"),
        ("user_id", "gt", "x"),
        ("user_id", "contains", "x"),
        ("user_id", "eq", 5),
        ("user_id", "in", "x"),
        ("user_id", "eq", ("x",)),
        ("topic", "contains", "…"),
        ("timestamp", "contains", "2026"),
        ("timestamp", "gt", "yesterday"),
        ("timestamp", "gt", True),
        ("timestamp", "gt", 1e300),
    ],
)
def test_what_cannot_be_compared_is_refused(
    store: QdrantStore, field: str, operator: str, value: object
) -> None:
    where = Compare.model_validate({"field": field, "operator": operator, "value": value})
    with pytest.raises(InvalidQuery, match=field):
        store.search(FACTS, "t1", where, [Lane(limit=1, dense=dense("x"))])


def test_as_of_asks_what_held_then(store: QdrantStore) -> None:
    put_facts(
        store,
        a_fact(position=0, text="always"),
        a_fact(position=1, text="old", valid_from=day(0).start, valid_to=day(5).start, superseded_by="x"),
        a_fact(position=2, text="new", valid_from=day(5).start),
    )
    assert found(store, AsOf()) == {"always", "new"}
    assert found(store, AsOf(moment=day(4).start)) == {"always", "old"}
    assert found(store, AsOf(moment=day(5).start)) == {"always", "new"}
    assert found(store, NotOf(part=AsOf())) == {"old"}


def test_a_successor_holds_from_its_moment_on(store: QdrantStore) -> None:
    put_facts(store, a_fact("v1", text="old"), a_fact("v2", text="new"))
    store.supersede("t1", "v1", "v2", NOW)
    store.hold_from("t2", "v1", NOW)
    store.hold_from("t1", "v2", NOW)
    assert found(store, AsOf()) == {"new"}
    assert found(store, AsOf(moment=NOW)) == {"new"}
    assert found(store, AsOf(moment=day(0).start)) == {"old"}


def test_a_superseded_document_answers_for_its_time_only(store: QdrantStore) -> None:
    put_facts(
        store, a_fact("v1", text="old"), a_fact("v2", text="new"), a_fact("v1", position=1, text="old too")
    )
    put_episodes(store, an_episode("v1"), an_episode("v2"))
    store.supersede("t2", "v2", "v3", NOW)
    store.supersede("t1", "v1", "v2", NOW)
    store.supersede("t1", "v1", "v9", day(0).start)
    assert found(store, AsOf()) == {"new"}
    assert found(store, AsOf(moment=NOW)) == {"new"}
    assert found(store, AsOf(moment=day(1).start)) == {"old", "old too", "new"}
    (episodes,) = store.search(EPISODES, "t1", AsOf(), [Lane(limit=5, dense=dense("text"))])
    assert [hit.id for hit in episodes] == [an_episode("v2").episode.id]


def test_a_fact_takes_over_time_and_people_of_its_episode(store: QdrantStore) -> None:
    parent = an_episode(participants=("Ann",), occurred=day(4)).episode
    context = {"recorded_at": NOW, "occurred": parent.occurred, "participants": parent.participants}
    put_facts(store, a_fact(text="apple", context=context))
    people = Compare(field="participants", operator="eq", value="Ann")
    time = Compare(field="timestamp", operator="eq", value=day(4).start)
    assert found(store, AllOf(parts=(people, time))) == {"apple"}


def test_putting_again_overwrites(store: QdrantStore) -> None:
    put_facts(store, a_fact(text="apple"))
    put_facts(store, a_fact(text="pear"))
    assert found(store, ANYTHING) == {"pear"}


def test_delete_by_document_counts_both_layers(store: QdrantStore) -> None:
    put_episodes(store, an_episode("d1"), an_episode("d1", 1), an_episode("d2"))
    put_facts(store, a_fact("d1"), a_fact("d2", text="left"))
    assert store.delete_document("t1", "d1") == 3
    assert store.count(EPISODES, "t1", "d1") == store.count(FACTS, "t1", "d1") == 0
    assert store.count(EPISODES, "t1") == store.count(FACTS, "t1") == 1


@pytest.mark.timeout(300)
def test_ids_and_delete_by_id_over_many_pages(store: QdrantStore, client: QdrantClient) -> None:
    many = 2100 if in_memory(client) else 10_000  # the reference in memory is slow
    items = [a_fact(position=at, text=f"fact {at}") for at in range(many)]
    store.put_facts(items, [None] * len(items), [sparse(item.fact.text) for item in items])
    ids = list(store.ids(FACTS, "t1", "doc-1"))
    assert sorted(ids) == sorted(item.fact.id for item in items)
    assert len(store.fetch(FACTS, "t1", ids[:2000])) == 2000
    store.delete(FACTS, "t1", ids[:1500])
    assert set(store.ids(FACTS, "t1", "doc-1")) == set(ids[1500:])
    assert store.count(FACTS, "t1", "doc-1") == many - 1500


def test_lanes_over_surroundings_and_by_ids(store: QdrantStore) -> None:
    facts = [
        a_fact(episode=at // 2, position=at, text=text)
        for at, text in enumerate(("apple", "pear", "fig", "plum"))
    ]
    texts = [item.fact.text for item in facts]
    around = [
        Surroundings(dense(other), sparse(other), fact_traits(item.fact, Traits(document="doc-1"), "why?"))
        for item, other in zip(facts, ("kiwi", "lime", "date", "nut"), strict=True)
    ]
    store.put_facts(facts, [dense(text) for text in texts], [sparse(text) for text in texts], around)
    lanes = [
        Lane(limit=1, dense=dense("lime"), context=True, carry=Carry.TRAITS),
        Lane(limit=1, sparse=encode_query("nut"), context=True, carry=Carry.NOTHING),
        Lane(limit=9, dense=dense("fig"), ids=(facts[0].fact.id,), parents=(facts[2].fact.episode_id,)),
        Lane(limit=9, dense=dense("fig"), ids=(facts[0].fact.id,)),
        Lane(limit=9, sparse=encode_query("plum"), carry=Carry.BOTH),
        Lane(limit=9, sparse=encode_query("")),
    ]
    met, bare, either, one, both, none = store.search(FACTS, "t1", ANYTHING, lanes)
    assert [(hit.id, hit.traits, hit.body) for hit in met] == [(facts[1].fact.id, around[1].traits, None)]
    assert [(hit.id, hit.traits) for hit in bare] == [(facts[3].fact.id, None)]
    with pytest.raises(ValueError, match="did not carry"):
        assert bare[0].item
    assert {hit.id for hit in either} == {facts[at].fact.id for at in (0, 2, 3)}
    assert [hit.id for hit in one] == [facts[0].fact.id]
    assert none == []
    assert [(hit.item, hit.traits) for hit in both] == [(facts[3], around[3].traits)]


def test_a_census_counts_over_all_tenants_and_pages(store: QdrantStore) -> None:
    put_episodes(store, an_episode("d1"), an_episode("d1", 1), an_episode("d2"))
    put_episodes(store, an_episode("d9", owner=owner("t2")))
    assert store.census(EPISODES) == {("t1", "d1"): 2, ("t1", "d2"): 1, ("t2", "d9"): 1}
    items = [a_fact(position=at, text=f"fact {at}") for at in range(1200)]
    store.put_facts(items, [None] * len(items), [sparse(item.fact.text) for item in items])
    assert store.census(FACTS) == {("t1", "doc-1"): 1200}


def test_another_encoder_gets_collections_of_its_own(
    store: QdrantStore, client: QdrantClient, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["client"] == "server":
        pytest.skip("it would drop retired collections that are not ours")
    put_facts(store, a_fact(text="apple"))
    later = QdrantStore(client, f"later-{uuid4()}", 8)
    later.prepare()
    assert later.count(FACTS, "t1") == 0
    assert store.active()
    assert not later.active()
    later.activate()
    assert later.active()
    assert not store.active()
    store.activate()
    later_names = {real_name(kind, later.fingerprint, 8) for kind in Collection}
    assert set(store.drop_retired()) == later_names
    assert store.drop_retired() == []
    assert found(store, ANYTHING) == {"apple"}
