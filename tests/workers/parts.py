"""Parts for stages under test: the real ledger, blobs and store, stand-ins for parser and extractor."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from qdrant_client import QdrantClient

from ingest.blobs import BlobStore
from ingest.model import Owner
from retrieval.embedders.fake import HashEmbedder
from retrieval.qdrant.store import QdrantStore
from retrieval.search import Searcher
from tests.workers.stand_ins import LineExtractor, parse_lines, split_lines
from workers.ledger.ledger import Ledger
from workers.model import Accepted, Upload
from workers.run import run_stage
from workers.services import Services
from workers.settings import Settings

ANNA = Owner(tenant="acme", user_id="anna")


def make_services(ledger: Ledger, folder: Path, **changes: object) -> Services:
    """Build parts that need no server; ``changes`` replace fields."""
    embedder = HashEmbedder()
    settings = Settings(strata_home=folder, worker_lease_s=60)
    store = QdrantStore(QdrantClient(":memory:"), embedder.fingerprint, embedder.dimension)
    made = Services(
        settings=settings,
        ledger=ledger,
        blobs=BlobStore(settings.blobs_url),
        artifacts=settings.artifacts,
        store=store,
        embedder=embedder,
        extractor=LineExtractor(),
        searcher=Searcher(store, embedder, settings.mrag),
        parse=parse_lines,
        split=split_lines,
        enqueue=lambda: 0,
        depths=dict,
    )
    return replace(made, **changes)


def hand_in(services: Services, text: str, name: str = "a.txt", **changes: object) -> Accepted:
    """Store a text and have it accepted."""
    began = datetime.now(UTC)
    blob = services.blobs.put(io.BytesIO(text.encode()), 10**6)
    values = {
        "owner": ANNA, "name": name, "sha256": blob.sha256, "size_bytes": blob.size_bytes, "stored_at": began,
    }  # fmt: skip
    return services.ledger.documents.accept(Upload.model_validate(values | changes))


def drain(services: Services, rounds: int = 50) -> None:
    """Work as one worker would until nothing is due."""
    for _ in range(rounds):
        entries = services.ledger.outbox.take(100)
        if not entries:
            return
        for entry in entries:
            run_stage(services, entry.stage, entry.document_id)
    raise AssertionError("the work does not end")
