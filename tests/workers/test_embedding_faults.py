"""Everything an embedding service does wrong, and what becomes of the document (see docs/extraction.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from retrieval.embedders.openai import OpenAIEmbedder
from retrieval.embedding_cache import CachedEmbedder, VectorCache
from retrieval.knobs import EmbedKnobs
from retrieval.protocols import Collection
from retrieval.qdrant.store import QdrantStore
from tests.fault_server import TOO_FAST, Fault, FaultServer, serving
from tests.workers.parts import drain, hand_in
from workers.model import State
from workers.services import Services

DOCS = Path(__file__).parents[2] / "docs" / "extraction.md"
LINES = [f"Station {number} reported {number * 37} units in week {number}." for number in range(6)]
DIMENSION, BATCH = 8, 4
EMBEDDED = "embedded"
WAITS = "waits and goes on by itself; meanwhile the document shows `{}`"
FAILS = "the document fails with `{}`; a retry goes on where it ended"


@dataclass(frozen=True)
class Row:
    """A fault of the second request for vectors, and what comes of it."""

    fault: str
    faults: tuple[Fault, ...]
    outcome: str = EMBEDDED
    code: str = ""
    timeout_s: float = 60  # long where nothing is said about time, so that a busy machine is no fault

    @property
    def shown(self) -> str:
        """The outcome as the documentation tells it."""
        return self.outcome.format(self.code)


def refusal(status: int, message: str) -> Fault:
    return Fault(status, {"message": message})


def changed(pattern: str, to: str) -> Fault:
    return Fault(wrap=lambda text: re.sub(pattern, to, text, count=1))


SLOW_DOWN = replace(TOO_FAST, headers={"retry-after-ms": "10"})
NOT_ALL = changed(r'(?s)"data": \[\{.*?\}, ', '"data": [')
TABLE = (
    Row("vectors: 429 with `Retry-After`", (SLOW_DOWN,)),
    Row("vectors: 429 again and again", (SLOW_DOWN,) * 2, WAITS, "embedder_unavailable"),
    Row("vectors: the account is used up", (refusal(402, "out of credit"),), WAITS, "embedder_quota"),
    Row("vectors: 5xx once", (refusal(503, "busy"),)),
    Row("vectors: 5xx for longer", (refusal(500, "broken"),) * 2, WAITS, "embedder_unavailable"),
    Row("vectors: no answer in time", (Fault(delay_s=3),), timeout_s=2),
    Row("vectors: an answer that drips byte by byte", (Fault(drip_s=0.02),), WAITS, "embedder_unavailable",
        timeout_s=2),
    Row("vectors: a connection that breaks off", (Fault(drop=True),), WAITS, "embedder_unavailable"),
    Row("vectors: a web page instead of an answer", (Fault(raw=b"<html>"),), WAITS, "embedder_unavailable"),
    Row("vectors: a refusal inside an answer of 200", (Fault(raw=b'{"error": {"code": 503}}'),), WAITS,
        "embedder_unavailable"),
    Row("vectors: of another length", (changed(r'"embedding": \[[^,]+, ', '"embedding": ['),), FAILS,
        "fingerprint_mismatch"),
    Row("vectors: fewer than texts", (NOT_ALL,), FAILS, "embedder_refused"),
    Row("vectors: no numbers", (changed(r'"embedding": \[[^,]+', '"embedding": [NaN'),), FAILS,
        "embedder_refused"),
    Row("vectors: an unknown model", (refusal(404, "no such model"),), FAILS, "embedder_refused"),
)  # fmt: skip


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture
def embedding(row: Row, services: Services, server: FaultServer, tmp_path: Path) -> Iterator[Services]:
    knobs = EmbedKnobs(
        model="e", dimension=DIMENSION, base_url=server.url, retries=1, timeout_s=row.timeout_s,
        batch_texts=BATCH, document_instruction="passage: ",
    )  # fmt: skip
    asked = OpenAIEmbedder(knobs)
    store = QdrantStore(QdrantClient(":memory:"), asked.fingerprint, DIMENSION)
    cached = CachedEmbedder(asked, VectorCache(tmp_path / "vectors.db", 2**20))
    index = services.settings.index.model_copy(update={"batch": BATCH})
    settings = services.settings.model_copy(update={"index": index})
    yield replace(services, settings=settings, embedder=cached, store=store)
    asked.close()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.fault)
def test_a_fault_ends_as_the_table_says(row: Row, embedding: Services, server: FaultServer) -> None:
    server.embedding_script = [Fault(), *row.faults]
    identity = hand_in(embedding, "\n".join(LINES)).document.id
    drain(embedding)
    document = embedding.ledger.documents.get("acme", identity)
    if row.outcome == EMBEDDED:
        assert document.state is State.READY
    else:
        assert document.error is not None
        assert document.error.code == row.code
        assert document.state is (State.INDEXING if row.outcome == WAITS else State.FAILED)
        go_on(embedding, identity)
    assert embedding.store.count(Collection.FACTS, "acme", identity) == len(LINES)
    assert embedding.store.count(Collection.EPISODES, "acme", identity) == len(LINES)
    sent = [text for texts in server.embedded for text in texts]
    assert {text.startswith("passage: ") for text in sent} == {True}
    # What the first request was answered is not asked for again.
    assert not set(server.embedded[0]) & {text for texts in server.embedded[1:] for text in texts}


def go_on(services: Services, identity: str) -> None:
    if services.ledger.documents.get("acme", identity).state is State.FAILED:
        services.ledger.documents.requeue("acme", identity)
    with services.ledger.database.write() as session:
        session.connection().exec_driver_sql("UPDATE outbox SET available_at = '2020-01-01 00:00:00.000000'")
    drain(services)
    assert services.ledger.documents.get("acme", identity).state is State.READY


def test_the_documentation_shows_this_table() -> None:
    shown = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", DOCS.read_text("utf-8"), re.MULTILINE))
    assert {row.fault: shown.get(row.fault) for row in TABLE} == {row.fault: row.shown for row in TABLE}
