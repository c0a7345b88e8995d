from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from qdrant_client import QdrantClient

from extract.model import AtomicFact, Extraction, SegmentKind
from ingest.anchors import RowAnchor, SectionAnchor, SheetAnchor
from ingest.model import Document, DocumentMeta, Source
from retrieval.embedders.fake import HashEmbedder
from retrieval.filters import AllOf, Compare
from retrieval.index import IndexReport, index_document
from retrieval.index_texts import episode_dense_text, fact_dense_text, fact_terms
from retrieval.model import IndexedFact
from retrieval.protocols import Collection, Lane, Vector
from retrieval.qdrant.store import QdrantStore
from retrieval.sparse import encode_query
from tests.fakes import MemoryStore
from tests.retrieval.builders import NOW, a_fact, an_episode, day, owner

EPISODES, FACTS = Collection.EPISODES, Collection.FACTS
DOCUMENT = Document(
    id="doc-1",
    owner=owner(),
    source=Source(name="note.txt", media_type="text/plain", sha256="0" * 64, size_bytes=1),
    received_at=NOW,
    metadata=DocumentMeta(title="A note"),
)


class CountingEmbedder(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.batches.append(list(texts))
        return super().embed_passages(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def store(embedder: CountingEmbedder) -> Iterator[QdrantStore]:
    client = QdrantClient(":memory:")
    made = QdrantStore(client, embedder.fingerprint, embedder.dimension)
    made.prepare()
    yield made
    client.close()


def extraction(position: int, *texts: str, kind: SegmentKind = SegmentKind.PROSE) -> Extraction:
    episode = an_episode(position=position, text=f"episode {position}", kind=kind, occurred=day(2)).episode
    return Extraction(episode=episode, facts=tuple(fact(position, at, text) for at, text in enumerate(texts)))


def fact(episode: int, position: int, text: str, **more: object) -> AtomicFact:
    return a_fact(episode=episode, position=position, text=text, **more).fact


def test_everything_is_written_in_batches_and_progress_is_told(
    store: QdrantStore, embedder: CountingEmbedder
) -> None:
    told: list[int] = []
    source = [extraction(at, *(f"fact {at}.{number}" for number in range(4))) for at in range(3)]
    report = index_document(store, embedder, DOCUMENT, iter(source), batch=4, on_progress=told.append)
    assert report == IndexReport(episodes=3, facts=12, embedded=15)
    assert told == [0, 5, 10, 15]
    assert max(len(batch) for batch in embedder.batches) == 4
    assert store.count(EPISODES, "t1", "doc-1") == 3
    assert store.count(FACTS, "t1", "doc-1") == 12


def test_a_fact_is_found_with_its_document_and_its_episode_s_time(
    store: QdrantStore, embedder: CountingEmbedder
) -> None:
    index_document(store, embedder, DOCUMENT, [extraction(0, "the cat sleeps")])
    where = AllOf(parts=(Compare(field="timestamp", operator="eq", value=day(2).start),))
    (hits,) = store.search(FACTS, "t1", where, [Lane(limit=3, sparse=encode_query("cats"))])
    assert isinstance(hits[0].item, IndexedFact)
    assert hits[0].item.document.title == "A note"
    assert hits[0].item.context is not None
    assert hits[0].item.context.recorded_at == NOW


def test_a_second_run_writes_the_same_points_and_removes_what_is_gone(
    store: QdrantStore, embedder: CountingEmbedder
) -> None:
    other = extraction(0).episode.model_copy(update={"document_id": "doc-2", "id": a_fact("doc-2").fact.id})
    other_document = DOCUMENT.model_copy(update={"id": "doc-2"})
    index_document(store, embedder, other_document, [Extraction(episode=other)])
    index_document(store, embedder, DOCUMENT, [extraction(0, "a", "b", "c"), extraction(1, "d")])
    again = index_document(store, embedder, DOCUMENT, [extraction(0, "a", "b")])
    assert (again.facts, again.removed) == (2, 3)
    assert store.count(FACTS, "t1", "doc-1") == 2
    assert store.count(EPISODES, "t1") == 2
    assert index_document(store, embedder, DOCUMENT, []).removed == 3


def test_equal_texts_of_a_batch_are_encoded_once(store: QdrantStore, embedder: CountingEmbedder) -> None:
    report = index_document(store, embedder, DOCUMENT, [extraction(0, "same", "same", "other")])
    assert report.embedded == 3
    assert sorted(embedder.batches[0]).count("same") == 1
    assert store.count(FACTS, "t1") == 3


def test_ungrounded_facts_are_counted_and_left_out(store: QdrantStore, embedder: CountingEmbedder) -> None:
    doubtful = Extraction(
        episode=extraction(0).episode, facts=(fact(0, 0, "kept"), fact(0, 1, "doubtful", grounded=False))
    )
    assert index_document(store, embedder, DOCUMENT, [doubtful]).ungrounded == 1
    assert store.count(FACTS, "t1") == 1
    report = index_document(store, embedder, DOCUMENT, [doubtful], ungrounded=True)
    assert (report.facts, report.ungrounded) == (2, 0)


def test_rows_beyond_the_quota_of_their_table_are_found_by_words_only(
    store: QdrantStore, embedder: CountingEmbedder
) -> None:
    def rows(position: int, sheet: str) -> Extraction:
        anchor = SheetAnchor(sheet=sheet, cells="A1:B1")
        episode = an_episode(position=position, kind=SegmentKind.TABLE, anchors=(anchor,)).episode
        facts = tuple(fact(position, at, f"{sheet} row {at}", anchors=(anchor,)) for at in range(3))
        return Extraction(episode=episode, facts=facts)

    source = [rows(0, "one"), rows(1, "one"), rows(2, "two"), extraction(3, "prose")]
    report = index_document(store, embedder, DOCUMENT, source, dense_rows_per_table=2)
    assert report.facts == 10
    assert report.embedded == 2 + 2 + 1 + 3 - 1  # rows, prose, and the episodes' equal texts once
    gone = source[1].facts[0].id
    vectors = store.vectors(FACTS, "t1", [gone])[gone]
    assert vectors.dense is None
    assert vectors.sparse is not None
    assert store.vectors(EPISODES, "t1", [source[1].episode.id])[source[1].episode.id].dense is None


def test_a_stopped_run_can_be_run_again(store: QdrantStore, embedder: CountingEmbedder) -> None:
    source = [extraction(at, "x", "y") for at in range(4)]

    def stop(written: int) -> None:
        if written >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_document(store, embedder, DOCUMENT, source, batch=3, on_progress=stop)
    assert index_document(store, embedder, DOCUMENT, source, batch=3).facts == 8
    assert store.count(FACTS, "t1") == 8


def test_headings_and_topic_count_as_words_of_a_fact() -> None:
    anchors = (SectionAnchor(heading_path=("Zebra", "Yak"), line_start=1),)
    terms = set(fact_terms(fact(0, 0, "plain", topic_name="Xenon", anchors=anchors)).indices)
    assert set(encode_query("zebra yak xenon plain").indices) == terms
    assert set(fact_terms(fact(0, 0, "plain", anchors=(RowAnchor(row=2),))).indices) < terms | set(
        encode_query("topic").indices
    )


def test_the_lead_joins_short_summaries_only() -> None:
    short = an_episode(text="lead", title="T", summary="S").episode
    assert episode_dense_text(short) == "T\nS\nlead"
    long = an_episode(text="lead", title="T", summary="S" * 300).episode
    assert episode_dense_text(long) == "T\n" + "S" * 300


def test_surroundings_do_not_depend_on_how_a_talk_was_cut_or_batched() -> None:
    texts = [f"word{at} said" for at in range(7)]

    def stored(sizes: tuple[int, ...], batch: int) -> dict[str, object]:
        kept: dict[str, object] = {}

        class Watching(MemoryStore):
            def put_facts(self, items, dense, sparse, around=()) -> None:  # type: ignore[no-untyped-def]
                for item, one in zip(items, around, strict=True):
                    kept[item.fact.text] = (one.dense.tolist(), one.sparse, one.traits.answers)
                super().put_facts(items, dense, sparse, around)

        source, start = [], 0
        for position, size in enumerate(sizes):
            part = extraction(position, *texts[start : start + size], kind=SegmentKind.CONVERSATION)
            places = {"first": start, "last": start + size - 1}
            source.append(part.model_copy(update={"episode": part.episode.model_copy(update=places)}))
            start += size
        index_document(Watching(), CountingEmbedder(), DOCUMENT, source, batch=batch)
        return kept

    whole = stored((7,), 64)
    assert len(whole) == 7
    for sizes in ((4, 3), (3, 4), (3, 3, 1)):
        assert stored(sizes, 2) == stored(sizes, 64) == whole


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Zoë (8 May 2023): I left (in 2 days).", "Zoë: I left (in 2 days)."),
        ("王芳（2023年5月8日）：我走了", "王芳：我走了"),
        ("Bo (8 May 2023): Why? Zoë: Because.", "Bo: Why? Zoë: Because."),
        ("Zoë (the cook): soup", "Zoë (the cook): soup"),
        ("On 8 May (2023): soup", "On 8 May (2023): soup"),
    ],
)
def test_the_encoder_does_not_read_when_something_was_told(text: str, read: str) -> None:
    assert fact_dense_text(fact(0, 0, text, speaker="Zoë", participants=("Bo", "王芳"))) == read
