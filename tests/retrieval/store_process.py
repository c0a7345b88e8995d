"""A store process of our own on a free loopback port."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]


class StoreProcess:
    def __init__(self, data: Path) -> None:
        self.data = data
        self.key = secrets.token_hex(16)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    def spawn(self, *more: str, key: str | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "retrieval.edge.server", "--data", str(self.data)]
        return subprocess.Popen(
            [*command, "--port", str(self.port), *more],
            cwd=ROOT,
            env={**os.environ, "STRATA_STORE_KEY": self.key if key is None else key},
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self) -> None:
        self.process = self.spawn("--log-level", "warning")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
            assert self.process.poll() is None, self.process.communicate()[1]
        raise AssertionError("the store did not start within 30 s")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=30)
        if said:
            print(said)
        return self.process.returncode
