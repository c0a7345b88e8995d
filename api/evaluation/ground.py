"""The Strata that an evaluation in this process runs on: a folder and a store process of its own.

Ledger, blobs, stages, store, search and API are the very ones of a server; only the queue is missing: what
the outbox holds is worked off right here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import httpx
from qdrant_client import QdrantClient

from api.app import create_app
from api.auth import Principal, Scope
from api.cli.client import Address, Client
from api.evaluation.errors import Unavailable
from api.launcher.children import Child, ChildSpec
from api.launcher.home import Home
from api.launcher.parts import LOOPBACK, free_port
from retrieval.embedders.table import make_embedder
from retrieval.embedding_cache import CachedEmbedder, VectorCache
from retrieval.evaluation.replay import ReplayEmbedder, ReplayStore
from retrieval.protocols import Embedder
from retrieval.qdrant.connection import connect
from retrieval.search import Searcher
from workers.asking import make_extras
from workers.run import run_stage
from workers.services import Services, build_services
from workers.settings import Settings
from workers.watch import lasting

TENANT = "default"
_START_S = 60.0
_WINDOW = 100
_PAUSE_S = 0.5
CACHE_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Ground:
    """What a set is measured on.

    Attributes:
        client: the API, in this process.
        store, embedder: what searchers of all configurations share.
        encoder: counts the texts that had to be encoded.
        work: does what the API has accepted.
        between: to be called before each question.
    """

    services: Services
    client: Client
    store: ReplayStore
    embedder: ReplayEmbedder
    encoder: ReplayEmbedder
    work: Callable[[Callable[[int], None]], None]
    between: Callable[[], None]


@contextmanager
def ground(settings: Settings, folder: Path, cache: Path, environ: Mapping[str, str]) -> Iterator[Ground]:
    """Have a Strata of one's own for the length of a block.

    Args:
        settings: encoder, extractor and knobs are taken over; URLs are not, so nobody's memory is touched.
        folder: where it lives.
        cache: file of vectors that were encoded before.
        environ: of the store process.

    Raises:
        AlreadyRunning: the folder is in use.
        Unavailable: the store does not start.
    """
    home = Home(settings.model_copy(update={"strata_home": folder}))
    home.prepare()
    with home.lock():
        url, key = f"http://{LOOPBACK}:{free_port()}", home.secrets().store_key
        child = Child(_store(home, url, environ, key), home.logs / "store.log")
        child.start()

        def tend() -> None:
            child.tend()
            if child.process is not None:
                lasting(child.process.pid)

        tend()
        try:
            _await_store(child, url)
            own = own_settings(settings, folder, url, key)
            with connected(own, connect(url, key), cache, tend=tend) as made:
                yield made
        finally:
            child.stop()


def own_settings(settings: Settings, folder: Path, url: str, key: str) -> Settings:
    """Return the settings of a Strata in a folder of its own."""
    values = {
        **settings.model_dump(),
        "strata_home": folder,
        "database_url": "",
        "celery_broker_url": "memory://",
        "qdrant_url": url,
        "qdrant_api_key": key,
        "blob_url": "",
        "artifacts_dir": None,
    }
    return Settings.model_validate(values)


@contextmanager
def connected(
    settings: Settings,
    qdrant: QdrantClient,
    cache: Path,
    encoder: Embedder | None = None,
    tend: Callable[[], object] = lambda: None,
) -> Iterator[Ground]:
    """Put the parts together around a store that runs.

    Args:
        settings: of this Strata alone.
        qdrant: where the store is.
        cache: file of vectors that were encoded before.
        encoder: instead of the one the settings name.
        tend: called now and then, to start the store again if it died.
    """
    counted = ReplayEmbedder(encoder or make_embedder(settings.embedder, settings.embed))
    embedder = ReplayEmbedder(CachedEmbedder(counted, VectorCache(cache, CACHE_BYTES)))
    store = ReplayStore(qdrant, embedder.fingerprint, embedder.dimension)
    built = build_services(settings)
    services = replace(
        built,
        store=store,
        embedder=embedder,
        searcher=Searcher(store, embedder, settings.mrag, extras=make_extras(settings, built.chat)),
        enqueue=lambda: 0,
        depths=dict,
    )
    services.ledger.migrate()
    store.prepare()
    app = create_app(services, settings, lambda _: Principal(tenant=TENANT, scope=Scope.ADMIN))
    client = Client(Address("http://strata", None), httpx.WSGITransport(app=app))
    try:
        steps = count(1)

        def work(tell: Callable[[int], None]) -> None:
            _work(services, steps, tend, tell)

        def between() -> None:
            tend()
            store.forget()

        yield Ground(services, client, store, embedder, counted, work, between)
    finally:
        services.ledger.close()
        qdrant.close()


def _work(
    services: Services, steps: Iterator[int], tend: Callable[[], object], tell: Callable[[int], None]
) -> None:
    """Work off the outbox; what failed for the moment is tried again when it is due."""
    outbox = services.ledger.outbox
    while True:
        tend()
        entries = outbox.take(_WINDOW)
        for entry in entries:
            run_stage(services, entry.stage, entry.document_id)
            tell(next(steps))
        if not entries and not outbox.waiting():
            return
        if not entries:
            time.sleep(_PAUSE_S)


def _store(home: Home, url: str, environ: Mapping[str, str], key: str) -> ChildSpec:
    port = url.rpartition(":")[2]
    command = (sys.executable, "-m", "retrieval.edge.server", "--data", str(home.root / "store"),
               "--host", LOOPBACK, "--port", port, "--log-level", "info")  # fmt: skip
    return ChildSpec("store", command, {**environ, "STRATA_STORE_KEY": key}, stop_s=20.0)


def _await_store(child: Child, url: str) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and child.running() is not None:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False, timeout=5.0).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise Unavailable(f"The store did not start; see {child.log_path}.")
