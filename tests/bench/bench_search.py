"""How long a search takes over HTTP, split into encoding the question, the store, and our own time.

Run from the checkout: ``python -m tests.bench.bench_search --facts 100000 --tenant-facts 20000``. The facts
are synthetic sentences with clustered random vectors (encoding them is not measured); questions are encoded
by the real encoder. Beside the searches, in turns with them, stands what they build on: one hybrid query to
the store as a program without mRAG would send it, dense and sparse fused by the store, same filter, whole
payload. ``allowed`` is twice that query and the encoding of the question.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from qdrant_client import QdrantClient, models

from extract.model import AtomicFact, Episode, Extraction, Origin, SegmentKind
from ingest.anchors import SectionAnchor
from ingest.ids import document_id, episode_id, fact_id
from ingest.model import Document, Owner, Source
from retrieval.embedders.e5 import E5Embedder
from retrieval.filters import AllOf, AsOf, Compare
from retrieval.index import index_document
from retrieval.protocols import Collection, Vector
from retrieval.qdrant.connection import connect
from retrieval.qdrant.filter import bound_filter
from retrieval.qdrant.schema import real_name
from retrieval.qdrant.store import QdrantStore
from retrieval.sparse import encode_query
from tests.e2e.instance import Instance
from tests.retrieval.store_process import StoreProcess

FACTS_PER_EPISODE = 20
EPISODES_PER_DOCUMENT = 10
DEPTH = 100  # of each lane
WARM = 250  # till the store remembers most of what this tenant has
TURN = 50
USER = "bench"
NOW = datetime(2026, 3, 12, tzinfo=UTC)
SUBJECTS = ("station", "turbine", "warehouse", "clinic", "ferry", "archive", "laboratory", "orchard")
PARTS = ("embed_ms", "store_ms", "own_ms", "round_trips")
VERBS = ("reported", "shipped", "rejected", "measured", "ordered", "repaired", "audited", "sold")


class RandomEmbedder(E5Embedder):
    """The encoder's name and size, but clustered random vectors for what is stored."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = np.random.default_rng(seed)
        self._centres = self._random.standard_normal((200, self.dimension))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        near = self._centres[self._random.integers(0, 200, len(texts))]
        found = near + 0.7 * self._random.standard_normal((len(texts), self.dimension))
        unit: Vector = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return unit


def sentence(number: int) -> str:
    subject, verb = SUBJECTS[number % 8], VERBS[number // 8 % 8]
    amount, week = number * 7 % 997, number % 52
    return f"The {subject} {number % 311} {verb} {amount} units of item {number} in week {week}."


def extractions(document: Document, first: int) -> Iterator[Extraction]:
    for position in range(EPISODES_PER_DOCUMENT):
        own = episode_id(document.id, position)
        start = first + position * FACTS_PER_EPISODE
        said = [sentence(start + at) for at in range(FACTS_PER_EPISODE)]
        episode = Episode(
            id=own, document_id=document.id, owner=document.owner, position=position, kind=SegmentKind.PROSE,
            title=f"Log {start}", summary=" ".join(said[:2]), text="\n".join(said), recorded_at=NOW,
            first=0, last=FACTS_PER_EPISODE - 1, language="en",
        )  # fmt: skip
        facts = tuple(
            AtomicFact(
                id=fact_id(own, at), episode_id=own, document_id=document.id, owner=document.owner,
                position=at, text=text, topic_name="log", quote=text, language="en",
                anchors=(SectionAnchor(line_start=at + 1),), origin=Origin.EXTRACTIVE,
            )
            for at, text in enumerate(said)
        )  # fmt: skip
        yield Extraction(episode=episode, facts=facts)


def fill(store: QdrantStore, count: int, of_tenant: int) -> None:
    """Store facts; every so many documents one is the searching tenant's, the rest are others'."""
    store.prepare()
    embedder = RandomEmbedder(1)
    step = FACTS_PER_EPISODE * EPISODES_PER_DOCUMENT
    others = max(1, round(count / of_tenant))
    for number, first in enumerate(range(0, count, step)):
        turn = number % others
        owner = Owner(user_id=USER, tenant=f"other-{turn}") if turn else Owner(user_id=USER)
        sha = f"{first:064x}"
        source = Source(name=f"log-{first}.txt", media_type="text/plain", sha256=sha, size_bytes=1)
        made = document_id(owner, sha)
        document = Document(id=made, owner=owner, source=source, received_at=NOW)
        index_document(store, embedder, document, extractions(document, first), 256)


def spread(values: list[float]) -> dict[str, float]:
    return {"p50": round(float(np.median(values)), 2), "p95": round(float(np.percentile(values, 95)), 2)}


def question(number: int) -> str:
    return f"what did the {SUBJECTS[number % 8]} {number} do in week {number % 52}?"


def raw_hybrid(connection: QdrantClient, name: str, dense: Vector, text: str) -> None:
    """The query of a program that leaves ranking to the store."""
    mine = Compare(field="user_id", operator="eq", value=USER)
    where = bound_filter(Owner(user_id=USER).tenant, AllOf(parts=(mine, AsOf())))
    terms = encode_query(text)
    words = models.SparseVector(indices=list(terms.indices), values=list(terms.values))
    connection.query_points(
        name,
        prefetch=[
            models.Prefetch(query=dense.tolist(), using="dense", filter=where, limit=DEPTH),
            models.Prefetch(query=words, using="sparse", filter=where, limit=DEPTH),
        ],
        query=models.FusionQuery(fusion=models.Fusion.RRF),
        query_filter=where,
        limit=10,
        with_payload=True,
    )


def beside_raw(
    connection: QdrantClient, embedder: E5Embedder, client: httpx.Client, times: int
) -> dict[str, object]:
    """Raw queries and searches in turns of fifty, so that what slows the machine down slows both down."""
    name = real_name(Collection.FACTS, embedder.fingerprint, embedder.dimension)
    for number in range(WARM):
        search(client, question(number), "hybrid")
        raw_hybrid(connection, name, embedder.embed_query(question(number)), question(number))
    taken: dict[str, list[float]] = {"embed": [], "raw": [], "hybrid": [], "hybrid_http": []}
    for first in range(WARM, WARM + times, TURN):
        for number in range(first, first + TURN):
            dense, spent = timed(lambda at=number: embedder.embed_query(question(at)))
            _, raw = timed(lambda at=number, by=dense: raw_hybrid(connection, name, by, question(at)))
            taken["embed"].append(spent)
            taken["raw"].append(raw)
        for number in range(first, first + TURN):
            answer, http_ms = timed(lambda at=number: search(client, question(at), "hybrid"))
            inside = sum(answer["trace"][part] for part in ("embed_ms", "store_ms", "own_ms"))
            taken["hybrid"].append(inside)
            taken["hybrid_http"].append(http_ms)
    middle = {part: float(np.median(values)) for part, values in taken.items()}
    allowed = 2 * middle["raw"] + middle["embed"]
    return {
        **{f"{part}_ms": spread(values) for part, values in taken.items()},
        "allowed_ms": round(allowed, 2),
        "hybrid_of_allowed": round(middle["hybrid"] / allowed, 2),
        "hybrid_http_of_allowed": round(middle["hybrid_http"] / allowed, 2),
    }


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    found = call()
    return found, (time.perf_counter() - began) * 1000


def search(client: httpx.Client, query: str, method: str) -> dict[str, Any]:
    """Over a kept connection, as programs that search often do."""
    asked = {"query": query, "filters": {"user_id": USER}, "method": method, "include": ["trace"]}
    answer = client.post("/api/v1/memories/search", json=asked).raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def cpu_s(process: psutil.Process) -> float:
    """Processor time so far; other work on the machine hardly changes it."""
    return float(sum(process.cpu_times()[:2]))


def searches(client: httpx.Client, method: str, store: psutil.Process, times: int) -> dict[str, object]:
    parts: dict[str, list[float]] = {"http_ms": [], **{name: [] for name in PARTS}}
    used = 0.0
    for number in range(times + WARM):
        used = used if number != WARM else cpu_s(store)
        answer, taken = timed(lambda at=number: search(client, question(at), method))
        if number >= WARM:  # the first ones load the encoder, open connections and read what is remembered
            parts["http_ms"].append(taken)
            for name in PARTS:
                parts[name].append(float(answer["trace"].get(name, 0)))
    store_cpu_ms = round((cpu_s(store) - used) / times * 1000, 1)
    return {**{name: spread(values) for name, values in parts.items()}, "store_cpu_ms": store_cpu_ms}


def run(count: int, of_tenant: int, times: int, folder: Path) -> dict[str, object]:
    process = StoreProcess(folder / "store")
    (folder / "store").mkdir(exist_ok=True)
    process.start()
    assert process.process is not None
    store = psutil.Process(process.process.pid)
    instance = Instance(folder / "home", QDRANT_URL=process.url, QDRANT_API_KEY=process.key)
    embedder = E5Embedder()
    connection = connect(process.url, process.key)
    report: dict[str, object] = {"facts": count, "facts_of_tenant": of_tenant, "searches": times}
    try:
        if not (folder / "filled").exists():
            fill(QdrantStore(connection, embedder.fingerprint, embedder.dimension), count, of_tenant)
            (folder / "filled").touch()
        started = instance.start()
        client = httpx.Client(
            base_url=started.url, headers={"Authorization": f"Bearer {instance.home.api_key()}"}
        )
        report["beside_raw"] = beside_raw(connection, embedder, client, times)
        for method in ("keyword", "vector", "hybrid", "agentic"):
            # Each is a good many searches.
            often = max(10, times // 5) if method == "agentic" else times
            report[method] = searches(client, method, store, often)
    finally:
        instance.stop()
        connection.close()
        process.stop()
    report["load_average"] = round(os.getloadavg()[0], 1)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--tenant-facts", type=int, help="how many are the searcher's; all by default")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a folder to fill once and use again")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="bench-search-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        of_tenant = options.tenant_facts or options.facts
        print(json.dumps(run(options.facts, of_tenant, options.times, folder), indent=2))
    finally:
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
