"""Workers as processes, on a broker and a ledger of a test's own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import psutil

from ingest.model import Owner
from tests.integration.worker_app import build
from workers.model import DocumentRecord, Stage, State, Upload
from workers.queue import MAINTENANCE, queue_name
from workers.settings import Settings

ROOT = Path(__file__).parents[2]
ANNA = Owner(tenant="acme", user_id="anna")


class Stack:
    """A ledger, blobs, and any number of workers."""

    def __init__(self, home: Path, broker_url: str, **settings: object) -> None:
        home.mkdir(exist_ok=True)
        self.home = home
        variables = {
            "STRATA_HOME": home, "CELERY_BROKER_URL": broker_url, "WORKER_LEASE_S": 30,
            "RECONCILE_EVERY_S": 0.3, "RESEND_AFTER_S": 1, **settings,
        }  # fmt: skip
        self._variables = {name: str(value) for name, value in variables.items()}
        self.services = build(Settings.from_env(self._variables))
        self.services.ledger.migrate()
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            self.kill(worker)
        self.services.ledger.close()

    def worker(self, concurrency: int = 2) -> subprocess.Popen[bytes]:
        """Start a worker; it takes a second or two until it works."""
        queues = ",".join(queue_name(self.services.settings, name) for name in (*Stage, MAINTENANCE))
        command = [
            sys.executable, "-m", "celery", "-A", "tests.integration.worker_app", "worker",
            "--loglevel", "info", "--concurrency", str(concurrency),
            "--without-gossip", "--without-mingle", "--without-heartbeat",
            "-n", f"w{len(self._workers)}@%h", "-Q", queues,
        ]  # fmt: skip
        with (self.home / f"worker{len(self._workers)}.log").open("wb") as log:
            worker = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **self._variables}, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker, its pool and its reconciler at once, as a power cut does."""
        try:
            family = [psutil.Process(worker.pid), *psutil.Process(worker.pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            family = []
        for process in family:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        worker.wait(timeout=10)

    def hand_in(self, text: str, name: str = "a.txt", batch_id: str | None = None) -> str:
        """Hand in a text as the API does."""
        began = datetime.now(UTC)
        blob = self.services.blobs.put(io.BytesIO(text.encode()), 10**6)
        upload = Upload(
            owner=ANNA, name=name, sha256=blob.sha256, size_bytes=blob.size_bytes, stored_at=began
        )
        accepted = self.services.ledger.documents.accept(upload, batch_id=batch_id)
        self.services.enqueue()
        return accepted.document.id

    def get(self, identity: str) -> DocumentRecord:
        return self.services.ledger.documents.get("acme", identity)

    def until(self, condition: Callable[[], bool], seconds: float = 240) -> float:
        """Wait for a condition; return how long it took, in seconds."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < seconds, self.report()
            time.sleep(0.05)
        return time.monotonic() - began

    def until_state(self, identity: str, state: State, seconds: float = 240) -> float:
        return self.until(lambda: self.get(identity).state is state, seconds)

    def diary(self) -> Counter[str]:
        """How often each segment's text was extracted."""
        path = self.home / "diary"
        lines = path.read_text().splitlines() if path.exists() else []
        return Counter(line.partition(" ")[2] for line in lines)

    def extracting(self, text: str) -> bool:
        return self.diary()[text] > 0

    def holder(self, identity: str) -> int:
        """The pid of the process that works on a document."""
        with self.services.ledger.database.engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT id, lease_holder FROM documents").all()
        held = dict(found)[identity]
        return int(held.split("|")[-2].partition("@")[0])

    def holder_gone(self, identity: str) -> bool:
        """Whether no process works on a document any more."""
        return not self.get(identity).running

    def report(self) -> str:
        """The end of every log, for a failing test."""
        logs = sorted(self.home.glob("*.log"))
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-4000:]}" for log in logs)
