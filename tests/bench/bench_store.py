"""How fast the store process answers, through QdrantStore and HTTP, on synthetic facts.

Run from the checkout: ``python -m tests.bench.bench_store --facts 20000``. Vectors are clustered random
numbers of 384 dimensions, terms follow Zipf's law; times are those one caller sees.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from retrieval.filters import AllOf, Compare
from retrieval.model import IndexedFact
from retrieval.protocols import Carry, Collection, Lane, SparseVector, Vector
from retrieval.qdrant.connection import connect
from retrieval.qdrant.store import QdrantStore
from tests.retrieval.builders import a_fact, day, owner
from tests.retrieval.store_process import StoreProcess

DIMENSION = 384
WORDS = [f"w{at}" for at in range(30_000)]
USERS = 20
BATCH = 512


class Synthetic:
    """Facts of 30 words in 200 clusters, for 20 users of one tenant."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = self._random.standard_normal((200, DIMENSION))

    def vectors(self, count: int) -> Vector:
        near = self._centres[self._random.integers(0, 200, count)]
        found = near + 0.7 * self._random.standard_normal((count, DIMENSION))
        unit: Vector = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def words(self, count: int) -> list[int]:
        return [int(word) % len(WORDS) for word in self._random.zipf(1.3, count)]

    def terms(self, words: list[int]) -> SparseVector:
        unique = sorted(set(words))
        return SparseVector(tuple(unique), tuple(float(1 + words.count(at) / 10) for at in unique))

    def batch(
        self, first: int, count: int
    ) -> tuple[list[IndexedFact], list[Vector | None], list[SparseVector]]:
        drawn = [self.words(30) for _ in range(count)]
        items = [
            a_fact(
                f"doc-{at // 1000}", (at % 1000) // 20, at % 20, text=" ".join(WORDS[word] for word in words),
                owner=owner(user=f"user-{at % USERS}"), occurred=day(at % 365), language="en",
            )
            for at, words in enumerate(drawn, first)
        ]  # fmt: skip
        return items, list(self.vectors(count)), [self.terms(words) for words in drawn]


def spread(ask: Callable[[], object], times: int, store: psutil.Process) -> dict[str, float]:
    """Wall-clock times depend on what else runs; processor times of caller and store hardly do."""
    for _ in range(3):
        ask()
    own, theirs = time.process_time(), sum(store.cpu_times()[:2])
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - began) * 1000)
    return {
        "p50_ms": round(float(np.median(taken)), 2),
        "p95_ms": round(float(np.percentile(taken, 95)), 2),
        "caller_cpu_ms": round((time.process_time() - own) / times * 1000, 2),
        "store_cpu_ms": round((sum(store.cpu_times()[:2]) - theirs) / times * 1000, 2),
    }


def lanes(source: Synthetic, depth: int, carry: Carry) -> list[Lane]:
    dense = source.vectors(1)[0]
    return [
        Lane(depth, dense=dense, carry=carry),
        Lane(depth, sparse=source.terms(source.words(8)), carry=carry),
    ]


def questions(store: QdrantStore, source: Synthetic) -> Iterator[tuple[str, Callable[[], object]]]:
    everyone = AllOf(parts=())
    one_user = AllOf(parts=(Compare(field="user_id", operator="eq", value="user-3"),))
    early = Compare(field="timestamp", operator="lt", value=day(60).start)
    dated = AllOf(parts=(*one_user.parts, early))
    ids = [a_fact("doc-1", 0, at).fact.id for at in range(20)]
    facts = Collection.FACTS

    def ask(
        where: AllOf, depth: int, which: slice = slice(None), carry: Carry = Carry.TRAITS
    ) -> Callable[[], object]:
        return lambda: store.search(facts, "t1", where, lanes(source, depth, carry)[which])

    yield "two lanes of 100, one user", ask(one_user, 100)
    yield "the same, ids and scores only", ask(one_user, 100, carry=Carry.NOTHING)
    yield "the same, whole items", ask(one_user, 100, carry=Carry.ITEM)
    yield "two lanes of 10, one user", ask(one_user, 10)
    yield "two lanes of 100, one user, dates", ask(dated, 100)
    yield "two lanes of 100, whole tenant", ask(everyone, 100)
    yield "dense lane of 100, one user", ask(one_user, 100, slice(0, 1))
    yield "sparse lane of 100, one user", ask(one_user, 100, slice(1, 2))
    yield "fetch 20 by id", lambda: store.fetch(facts, "t1", ids)
    yield "vectors of 20 by id", lambda: store.vectors(facts, "t1", ids)
    yield "count of a document", lambda: store.count(facts, "t1", "doc-1")


def run(count: int, times: int, folder: Path) -> dict[str, object]:
    process = StoreProcess(folder)
    process.start()
    assert process.process is not None
    source, client = Synthetic(1), connect(process.url, process.key)
    store = QdrantStore(client, "bench", DIMENSION)
    began = time.perf_counter()
    store.prepare()
    report: dict[str, object] = {"facts": count, "prepare_s": round(time.perf_counter() - began, 2)}
    writing, own = 0.0, time.process_time()
    for first in range(0, count, BATCH):
        batch = source.batch(first, min(BATCH, count - first))
        began = time.perf_counter()
        store.put_facts(*batch)
        writing += time.perf_counter() - began
    report["put_facts_per_s"] = round(count / writing)
    report["caller_cpu_s_with_making_facts"] = round(time.process_time() - own, 1)
    watched = psutil.Process(process.process.pid)
    report["searches"] = {name: spread(ask, times, watched) for name, ask in questions(store, source)}
    report["rss_mb"] = round(watched.memory_info().rss / 2**20)
    client.close()
    process.stop()
    report["disk_mb"] = round(
        sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 2**20
    )
    began = time.perf_counter()
    process.start()
    report["restart_s"] = round(time.perf_counter() - began, 2)
    process.stop()
    report["load_average"] = round(os.getloadavg()[0], 1)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    try:
        print(json.dumps(run(options.facts, options.times, folder), indent=2))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
