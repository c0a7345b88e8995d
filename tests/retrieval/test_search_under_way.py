"""Searches beside each other, beside writing, and beside a store that goes away: right, or an error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.errors import StoreUnavailable
from retrieval.knobs import Fusion, MragKnobs
from retrieval.model import SearchAnswer, SearchMethod
from retrieval.qdrant.connection import connect
from retrieval.qdrant.store import QdrantStore
from retrieval.search import Searcher
from tests.retrieval.store_process import StoreProcess
from tests.retrieval.test_search import EMBEDDER, ask, fill

pytestmark = pytest.mark.integration
BEST = "Zoë took the night train to Lyon."
METHODS = [SearchMethod.HYBRID, SearchMethod.AGENTIC, SearchMethod.KEYWORD, SearchMethod.VECTOR]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[StoreProcess]:
    made = StoreProcess(tmp_path)
    made.start()
    yield made
    assert made.process is not None
    if made.process.poll() is None:
        made.stop()


@pytest.fixture
def store(process: StoreProcess) -> Iterator[QdrantStore]:
    client = connect(process.url, process.key)
    made = QdrantStore(client, EMBEDDER.fingerprint, EMBEDDER.dimension)
    made.prepare()
    fill(made)
    yield made
    client.close()


def search(store: QdrantStore, method: SearchMethod = SearchMethod.HYBRID) -> SearchAnswer:
    searcher = Searcher(store, EMBEDDER, MragKnobs(fusion=Fusion.RRF))
    return searcher.search(ask("Who took the night train to Lyon?", method=method))


def says(answer: SearchAnswer) -> bool:
    texts = [hit.indexed.fact.text for hit in answer.facts]
    return BEST in texts or any(BEST in hit.indexed.episode.text for hit in answer.episodes)


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.indexed.fact.id for hit in answer.facts] + [hit.indexed.episode.id for hit in answer.episodes]


def test_searches_beside_each_other_answer_as_alone(store: QdrantStore) -> None:
    alone = {method: ids(search(store, method)) for method in METHODS}
    asked = METHODS * 6
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda method: ids(search(store, method)), asked))
    assert answers == [alone[method] for method in asked]


def test_what_is_there_is_found_while_more_is_written(store: QdrantStore) -> None:
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(12):
                fill(store, f"doc-{number + 2}", user="bob")
                fill(store, "doc-1")  # the same once more
        finally:
            done.set()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        seen = 0
        while not done.is_set() or seen < 4:
            answer = search(store, METHODS[seen % len(METHODS)])
            assert says(answer)
            assert {hit.indexed.document.id for hit in answer.episodes} == {"doc-1"}
            seen += 1
        writing.result()


def test_a_store_that_goes_away_is_an_error_and_never_an_empty_answer(
    process: StoreProcess, store: QdrantStore
) -> None:
    stop = threading.Event()
    outcomes: list[str] = []

    def keep_asking(method: SearchMethod) -> None:
        while not stop.is_set():
            try:
                outcomes.append("right" if says(search(store, method)) else f"empty {method}")
            except StoreUnavailable:
                outcomes.append("error")
                stop.wait(0.05)

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(keep_asking, method) for method in METHODS[:2]]
        try:
            process.stop(signal.SIGKILL)
            with pytest.raises(StoreUnavailable):
                search(store)
            process.start()
            assert says(search(store))
        finally:
            stop.set()
        for one in asking:
            one.result()
    assert set(outcomes) <= {"right", "error"}
    assert "error" in outcomes
