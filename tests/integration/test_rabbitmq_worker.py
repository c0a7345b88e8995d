"""The same worker on RabbitMQ, with quorum queues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError

from tests.integration.stack import Stack
from workers.model import Stage, State
from workers.queue import MAINTENANCE

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def forget_queues(url: str) -> None:
    with Connection(url) as connection:
        for name in (*(stage.value for stage in Stage), MAINTENANCE):
            try:
                with connection.channel() as channel:
                    channel.queue_delete(name)
            except ChannelError:
                continue


@pytest.fixture
def stack(tmp_path: Path, rabbitmq_url: str) -> Iterator[Stack]:
    forget_queues(rabbitmq_url)
    with Stack(tmp_path, rabbitmq_url) as made:
        yield made
    forget_queues(rabbitmq_url)


def test_files_become_ready_and_a_purged_queue_is_filled_again(stack: Stack, rabbitmq_url: str) -> None:
    ids = [stack.hand_in(f"Text {number}", f"{number}.txt") for number in range(4)]
    stack.until(lambda: stack.services.depths() == {Stage.PARSE: 4, **dict.fromkeys(list(Stage)[1:], 0)})
    with Connection(rabbitmq_url) as connection, connection.channel() as channel:
        channel.queue_purge(Stage.PARSE.value)
    stack.worker()
    stack.until(lambda: all(stack.get(identity).state is State.READY for identity in ids))
    assert set(stack.diary().values()) == {1}
