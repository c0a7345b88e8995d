"""Fixtures for all rooms."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

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


@pytest.fixture
def redis_url() -> str:
    # A database by process: two runs side by side must not empty each other's queues.
    url = os.environ.get("TEST_REDIS_URL", f"redis://127.0.0.1:6379/{1 + os.getpid() % 15}")
    require_server(url)
    return url


@pytest.fixture
def rabbitmq_url() -> str:
    url = os.environ.get("TEST_RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")
    require_server(url)
    return url
