"""An embedded instance under test: the real command, its own folder, ended whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from api.cli.client import Address, Client
from api.launcher.home import Home, Running
from api.launcher.serve import is_ready
from workers.settings import Settings


class Instance:
    """Starts `strata serve` on a folder and talks to it."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.settings = Settings(strata_home=folder)
        self.home = Home(self.settings)
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR")}
        self.env = {
            **kept,
            "PYTHONPATH": str(Path(__file__).parent.parent.parent),
            "STRATA_HOME": str(folder),
            "STRATA_PORT": "0",
            "RECONCILE_EVERY_S": "2",
            "WORKER_LEASE_S": "20",
            **env,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, patience_s: float = 60.0) -> Client:
        """Start and return a client once it is ready."""
        self.home.prepare()
        with (self.home.logs / "launcher.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "api.cli.main", "serve"],
                env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            running = self.home.server()
            if running and running.launcher.pid == self.process.pid and is_ready(running.url):
                return Client(Address(running.url, self.home.api_key()))
            assert self.process.poll() is None, self.logs()
            time.sleep(0.1)
        raise AssertionError(f"not ready:\n{self.logs()}")

    def logs(self) -> str:
        """Return the end of every log, for a failing test."""
        return "\n".join(
            f"== {path.name}\n{path.read_text(errors='replace')[-3000:]}"
            for path in sorted(self.home.logs.glob("*.log"))
        )

    def run(self, *args: str, timeout_s: float = 300.0) -> subprocess.CompletedProcess[str]:
        """Run a `strata` command against this instance."""
        return subprocess.run(
            [sys.executable, "-m", "api.cli.main", *args],
            env=self.env, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip

    def pid_of(self, name: str) -> int:
        """Return the pid of a child by its name."""
        running = self.home.server()
        assert running is not None
        return next(child.pid for child in running.children if child.name == name)

    def kill(self, name: str, patience_s: float = 60.0) -> None:
        """Kill a child, and the processes it started, with -9; one that was killed before is waited for."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            running = self.home.server()
            child = next((one for one in running.children if one.name == name), None) if running else None
            if child is not None and self._is(child):
                os.killpg(child.pid, signal.SIGKILL)
                return
            time.sleep(0.05)
        raise AssertionError(f"{name} does not come back:\n{self.logs()}")

    @staticmethod
    def _is(child: Running) -> bool:
        """Tell whether a recorded process is the one that runs now, and not a corpse or a stranger."""
        try:
            process = psutil.Process(child.pid)
            return process.create_time() == child.created and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def kill_all(self) -> None:
        """Kill the launcher and every child with -9, as a power cut would."""
        running = self.home.server()
        assert running is not None
        assert self.process is not None
        family = [self.process.pid, *(child.pid for child in running.children)]
        processes = [
            p
            for pid in family
            if psutil.pid_exists(pid)
            for p in (psutil.Process(pid), *psutil.Process(pid).children(True))
        ]
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait(10)

    def stop(self) -> None:
        """Stop cleanly, and by force when that takes too long."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise


def wait_done(client: Client, batch_id: str, timeout_s: float = 240.0) -> dict[str, Any]:
    """Return the state of a batch once it is done."""
    *_, last = client.follow(batch_id, timeout_s)
    return last


def ask(client: Client, query: str, user: str, **more: Any) -> dict[str, Any]:
    """Search one user's memory."""
    answer: dict[str, Any] = client.call(
        "POST", "/api/v1/memories/search", json={"query": query, "filters": {"user_id": user}, **more}
    )
    return answer


def ids_of(client: Client, user: str) -> Sequence[tuple[str, str, int, int]]:
    """Return (document id, state, episodes, facts) of every document of a user, sorted."""
    rows: list[tuple[str, str, int, int]] = []
    cursor: str | None = None
    while True:
        params = {"user_id": user, "limit": 200, **({"cursor": cursor} if cursor else {})}
        page = client.call("GET", "/api/v1/documents", params=params)
        rows += [(d["id"], d["status"], d["episodes"], d["facts"]) for d in page["documents"]]
        cursor = page["cursor"]
        if not page["has_more"]:
            return sorted(rows)
