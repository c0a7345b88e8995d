"""The same worker on RabbitMQ, with quorum queues."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError

from tests.integration.stack import Stack
from workers.model import Stage, State
from workers.queue import MAINTENANCE

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def forget_queues(url: str, prefix: str) -> None:
    with Connection(url) as connection:
        for name in (*Stage, MAINTENANCE):
            try:
                with connection.channel() as channel:
                    channel.queue_delete(f"{prefix}{name}")
            except ChannelError:
                continue


@pytest.fixture
def prefix(rabbitmq_url: str) -> Iterator[str]:
    made = f"test-{uuid.uuid4().hex[:8]}-"
    yield made
    forget_queues(rabbitmq_url, made)


def test_files_become_ready_and_a_purged_queue_is_filled_again(
    tmp_path: Path, rabbitmq_url: str, prefix: str
) -> None:
    with Stack(tmp_path, rabbitmq_url, QUEUE_PREFIX=prefix) as stack:
        ids = [stack.hand_in(f"Text {number}", f"{number}.txt") for number in range(4)]
        stack.until(lambda: stack.services.depths() == {**dict.fromkeys(Stage, 0), Stage.PARSE: 4})
        with Connection(rabbitmq_url) as connection, connection.channel() as channel:
            channel.queue_purge(f"{prefix}parse")
        stack.worker()
        stack.until(lambda: all(stack.get(identity).state is State.READY for identity in ids))
        assert set(stack.diary().values()) == {1}
