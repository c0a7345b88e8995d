"""A worker with the real queue, ledger and blobs, and stand-ins for what takes long or needs a server.

The text of a file says how its worker fares: a line "sleep SECONDS" takes that long to extract, "kill" ends
the process that extracts it, "kill once PATH" does so unless the path exists, and makes it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from extract.model import Segment
from ingest.blobs import BlobStore
from retrieval.embedders.fake import HashEmbedder
from retrieval.protocols import Collection
from tests.workers.stand_ins import LineExtractor, parse_lines, split_lines
from workers.companion import start_companion
from workers.lifetime import follow_lifetime
from workers.queue import Publisher, make_celery, queue_depths, sender
from workers.receipts import watch_receipts
from workers.services import Services, open_ledger
from workers.settings import Settings
from workers.tasks import register_tasks


class FolderStore:
    """A store of empty files, one for each point, so that several processes share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def put_episodes(self, items: Sequence, *_: object) -> None:
        self._put(Collection.EPISODES, [item.episode for item in items])

    def put_facts(self, items: Sequence, *_: object) -> None:
        self._put(Collection.FACTS, [item.fact for item in items])

    def ids(self, collection: Collection, tenant: str, document_id: str) -> Iterator[str]:
        for path in self._place(collection, tenant, document_id).glob("*"):
            yield path.name

    def count(self, collection: Collection, tenant: str, document_id: str | None = None) -> int:
        return len(list(self.ids(collection, tenant, document_id or "*")))

    def delete(self, collection: Collection, tenant: str, ids: Sequence[str]) -> None:
        for identity in ids:
            for path in self._folder.glob(f"{collection}/{tenant}/*/{identity}"):
                path.unlink()

    def delete_document(self, tenant: str, document_id: str) -> int:
        found = [path for kind in Collection for path in self._place(kind, tenant, document_id).glob("*")]
        for path in found:
            path.unlink()
        return len(found)

    def _put(self, collection: Collection, things: Sequence) -> None:
        for thing in things:
            place = self._place(collection, thing.owner.tenant, thing.document_id)
            place.mkdir(parents=True, exist_ok=True)
            (place / thing.id).touch()

    def _place(self, collection: Collection, tenant: str, document_id: str) -> Path:
        return self._folder / collection / tenant / document_id


class Acting(LineExtractor):
    """Does what the text says, and notes each segment it extracts in a file that all workers share."""

    def __init__(self, diary: Path) -> None:
        super().__init__(self.act)
        self._diary = diary

    def act(self, segment: Segment) -> None:
        text = segment.elements[0].text
        with self._diary.open("a") as diary:
            diary.write(f"{os.getpid()} {text}\n")
        match text.split():
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["kill"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["kill", "once", path] if not Path(path).exists():
                Path(path).touch()
                os.kill(os.getpid(), signal.SIGKILL)


def build(settings: Settings) -> Services:
    """Build the parts for one process."""
    home = settings.strata_home
    ledger = open_ledger(settings)
    celery = make_celery(settings)
    embedder = HashEmbedder()
    return Services(
        settings=settings,
        ledger=ledger,
        blobs=BlobStore(settings.blobs_url),
        artifacts=settings.artifacts,
        store=FolderStore(home / "points"),  # type: ignore[arg-type]
        embedder=embedder,
        extractor=Acting(home / "diary"),
        searcher=None,  # type: ignore[arg-type]
        parse=parse_lines,
        split=split_lines,
        enqueue=Publisher(ledger.outbox, sender(celery, settings), settings.worker_queue_window),
        depths=lambda: queue_depths(celery, settings),
    )


if "CELERY_BROKER_URL" in os.environ:
    settings = Settings.from_env(os.environ)
    app = make_celery(settings)
    register_tasks(app, settings, build)
    start_companion(app, "workers.reconcile", settings.reconcile_every_s)
    watch_receipts(app)
    follow_lifetime(lambda: None)
