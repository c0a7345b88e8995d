"""The concrete parts, chosen by the settings and built once per process.

What a part needs is imported when it is built, so that a process which only enqueues stays light. Nothing
is connected or loaded before its first use: a part that is away does not keep the others from starting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from extract.chat.errand import Errand
from extract.chat.model import ChatModel, Limiter
from extract.protocols import Extractor
from ingest.errors import TransientError
from retrieval.protocols import Embedder, VectorStore
from workers.bookkeeping import bookkeeper
from workers.budget import BudgetedLimiter, BudgetGuard
from workers.ledger.leases import LeaseRules
from workers.ledger.ledger import Ledger
from workers.ledger.listing import DocumentFilter
from workers.model import Stage
from workers.protocols import Blobs, ParseFile, Search, SplitSegments
from workers.queue import Publisher, make_celery, queue_depths, sender
from workers.settings import Settings, SettingsError
from workers.usage import Prices, UsageFilter
from workers.writer import (
    MODEL_MODULES,
    TEXT_MODULES,
    make_chat,
    make_extractor,
    make_limiter,
    make_reflector,
    make_viewer,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from extract.chat.cache import AnswerCache
    from extract.reflection.reflector import Reflector
    from extract.vision import Viewer

PRELOADED = (
    "extract.segments",
    "ingest.blobs",
    "ingest.parse",
    "retrieval.embedders.table",
    "retrieval.qdrant.store",
    "retrieval.search",
)


class LedgerUnavailable(TransientError):
    """The ledger's database does not answer."""

    code = "ledger_unavailable"


@dataclass(frozen=True)
class Services:
    """Everything a stage or a request works with.

    Attributes:
        artifacts: folder of what the stages hand to each other.
        enqueue: sends what the outbox holds, as far as the broker takes it; returns how many.
        chat: the language model; None where none is configured.
        viewer: looks at pictures; None where no vision model is configured.
        reflector: learns profiles and agent memory with it, keeping its answers in a cache; None likewise.
    """

    settings: Settings
    ledger: Ledger
    blobs: Blobs
    artifacts: Path
    store: VectorStore
    embedder: Embedder
    extractor: Extractor
    searcher: Search
    parse: ParseFile
    split: SplitSegments
    enqueue: Callable[[], int]
    depths: Callable[[], Mapping[Stage, int]]
    chat: ChatModel | None = None
    viewer: Viewer | None = None
    reflector: Callable[[AnswerCache], Reflector] | None = None

    def ping_ledger(self) -> None:
        """Find out whether the ledger answers.

        Raises:
            LedgerUnavailable: it does not.
        """
        try:
            self.ledger.ping()
        except SQLAlchemyError as error:
            raise LedgerUnavailable from error

    def ping_store(self) -> None:
        """Find out whether the store answers, and create its collections where they are missing.

        Raises:
            StoreUnavailable: it does not.
        """
        self.store.prepare()

    def ping_broker(self) -> None:
        """Find out whether the broker answers.

        Raises:
            QueueUnavailable: it does not.
        """
        self.depths()

    def overview(
        self, tenant: str, *, user_id: str | None = None, group_id: str | None = None
    ) -> dict[str, Any]:
        """Return the numbers of a tenant, or of one user or group of it."""
        usages = self.ledger.usages
        whose = UsageFilter(tenant=tenant, user_id=user_id, group_id=group_id)
        today = whose.model_copy(update={"first": self.ledger.database.now().date()})
        spent = {"today": usages.of_days(today), "total": usages.of_days(whose)}
        narrow = DocumentFilter(user_id=user_id, group_id=group_id)
        numbers = self.ledger.listing.overview(tenant, narrow).model_dump(mode="json")
        return {**numbers, "usage": {name: one.model_dump() for name, one in spent.items()}}


def build_services(settings: Settings) -> Services:
    """Build the parts the settings name. To be called after a fork, never before.

    Raises:
        SettingsError: a setting names a part that cannot be built.
    """
    from extract.chat.errand import current
    from extract.segments import split_segments
    from ingest.parse import parse_file
    from retrieval.beside import StorePasses
    from retrieval.embedders.meter import Meter
    from retrieval.embedders.table import make_embedder
    from retrieval.qdrant.store import QdrantStore
    from retrieval.search import Searcher
    from workers.asking import make_extras

    ledger = open_ledger(settings)
    entering = bookkeeper(ledger.usages, Prices(settings.embed.price_in))
    check = BudgetGuard(ledger, settings.budget).check
    meter = Meter(lambda: check(current()), entering)
    embedder = make_embedder(settings.embedder, settings.embed, settings.vector_cache, meter)
    store = QdrantStore(_qdrant(settings), embedder.fingerprint, embedder.dimension)
    celery = make_celery(settings)
    on_call = bookkeeper(ledger.usages, Prices(settings.llm.price_in, settings.llm.price_out))
    asks = settings.model_writes or settings.vision_model
    limiter = _limiter(settings, ledger, check) if asks else None
    chat = make_chat(settings, limiter, on_call)
    return Services(
        settings=settings,
        ledger=ledger,
        blobs=open_blobs(settings),
        artifacts=settings.artifacts,
        store=store,
        embedder=embedder,
        extractor=make_extractor(settings, chat, on_call),
        searcher=Searcher(
            store, embedder, settings.mrag, extras=make_extras(settings, chat, StorePasses(store))
        ),
        parse=parse_file,
        split=split_segments,
        enqueue=Publisher(ledger.outbox, sender(celery, settings), settings.worker_queue_window),
        depths=lambda: queue_depths(celery, settings),
        chat=chat,
        viewer=make_viewer(settings, limiter, on_call),
        reflector=make_reflector(settings, chat, on_call),
    )


def _limiter(settings: Settings, ledger: Ledger, check: Callable[[Errand], None]) -> Limiter:
    from workers.ledger.paces import LedgerPaces

    paced = make_limiter(settings, lambda name: LedgerPaces(ledger.database, name))
    return BudgetedLimiter(paced, check)


def preload(settings: Settings) -> None:
    """Import what ``build_services`` will need, and do nothing with it.

    Done once before the pool forks: its processes then start at once and share the memory. Importing starts
    no work and opens nothing, so it may be done before a fork.
    """
    for module in (*PRELOADED, *(MODEL_MODULES if settings.model_writes else TEXT_MODULES)):
        import_module(module)


def database_url(settings: Settings) -> str:
    """Return where the ledger is."""
    return settings.ledger_url


def open_ledger(settings: Settings) -> Ledger:
    """Return the ledger the settings name, with their rules for leases."""
    rules = LeaseRules(
        lease_s=settings.worker_lease_s,
        max_attempts=settings.worker_max_attempts,
        max_deaths=settings.worker_max_deaths,
    )
    return Ledger(settings.ledger_url, rules, conversation=settings.conversation)


def open_blobs(settings: Settings) -> Blobs:
    """Return the blob store the settings name."""
    from ingest.blobs import BlobStore

    return BlobStore(settings.blobs_url)


def _qdrant(settings: Settings) -> QdrantClient:
    from qdrant_client import QdrantClient

    from retrieval.qdrant.connection import connect

    if not settings.qdrant_url:
        raise SettingsError("QDRANT_URL: not set; `strata serve` starts a store of its own.")
    if settings.qdrant_url == ":memory:":
        return QdrantClient(":memory:")
    return connect(settings.qdrant_url, settings.qdrant_api_key.get_secret_value())
