"""Real workers on a real Redis: what they do together, and what survives when they die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from tests.conftest import start_redis
from tests.integration.stack import Stack
from workers.model import State

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


@pytest.fixture
def broker(redis_url: str) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(redis_url)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


@pytest.fixture
def stack(tmp_path: Path, redis_url: str, broker: redis.Redis) -> Iterator[Stack]:
    with Stack(tmp_path, redis_url) as made:
        yield made


def test_files_and_the_files_inside_them_become_ready(stack: Stack) -> None:
    batch = stack.services.ledger.batches.create("acme")
    for number in range(6):
        text = f"Text {number}\nfile inner{number}.txt: Inner {number}"
        stack.hand_in(text, f"{number}.txt", batch)
    stack.worker()
    stack.until(lambda: stack.services.ledger.batches.status("acme", batch).done)
    status = stack.services.ledger.batches.status("acme", batch)
    assert status.counts == {"ready": 12}
    assert set(stack.diary().values()) == {1}


def test_of_two_workers_one_does_each_stage(stack: Stack) -> None:
    stack.worker()
    stack.worker()
    ids = [stack.hand_in(f"Text {number}\nMore {number}", f"{number}.txt") for number in range(20)]
    # Doubled messages, as after a visibility timeout.
    for identity in ids:
        stack.services.ledger.outbox.resend(stage="parse", limit=100, older_than_s=0)  # type: ignore[arg-type]
        stack.services.enqueue()
        assert identity
    stack.until(lambda: all(stack.get(identity).state is State.READY for identity in ids))
    assert set(stack.diary().values()) == {1}
    assert len(stack.diary()) == 40


def test_a_killed_pool_process_is_replaced_and_its_stage_goes_on(stack: Stack) -> None:
    stack.worker()
    identity = stack.hand_in("First\nsleep 60\nLast")
    stack.until(lambda: stack.extracting("sleep 60"))
    (stack.home / "quick").touch()
    os.kill(stack.holder(identity), signal.SIGKILL)
    stack.until(lambda: stack.diary()["sleep 60"] == 2)
    assert stack.diary()["First"] == 1, "what was extracted is kept"
    assert stack.get(identity).attempts == 2


def test_a_killed_worker_loses_nothing(stack: Stack) -> None:
    worker = stack.worker()
    slow = stack.hand_in("First\nsleep 3\nLast", "slow.txt")
    stack.until(lambda: stack.extracting("sleep 3"))
    waiting = [stack.hand_in(f"Waiting {number}", f"{number}.txt") for number in range(5)]
    stack.kill(worker)
    stack.worker()
    stack.until(lambda: all(stack.get(one).state is State.READY for one in (slow, *waiting)))
    assert stack.diary()["First"] == 1


def test_what_ends_its_worker_twice_is_set_aside_and_others_go_on(stack: Stack) -> None:
    stack.worker()
    poison = stack.hand_in("First\nkill\nLast", "poison.txt")
    unlucky = stack.hand_in(f"Hello\nkill once {stack.home / 'killed'}", "unlucky.txt")
    good = stack.hand_in("Good", "good.txt")
    stack.until_state(poison, State.FAILED)
    stack.until_state(unlucky, State.READY)
    stack.until_state(good, State.READY)
    error = stack.get(poison).error
    assert error is not None
    assert error.code == "poison"
    assert stack.diary()["kill"] == 2
    assert stack.diary()["First"] == 1


def test_a_flushed_broker_is_filled_again(stack: Stack, broker: redis.Redis) -> None:
    ids = [stack.hand_in(f"Text {number}", f"{number}.txt") for number in range(8)]
    assert broker.llen("parse") == 8
    broker.flushdb()
    stack.worker()
    stack.until(lambda: all(stack.get(identity).state is State.READY for identity in ids))
    busy = stack.hand_in("sleep 2\nAfter", "busy.txt")
    stack.until(lambda: stack.extracting("sleep 2"))
    late = stack.hand_in("Late", "late.txt")
    broker.flushdb()
    stack.until_state(busy, State.READY)
    stack.until_state(late, State.READY)


def test_a_broker_that_dies_while_every_hand_is_full_is_found_again(tmp_path: Path) -> None:
    broker, url = start_redis(tmp_path)
    port = urlsplit(url).port
    try:
        with Stack(tmp_path / "home", url) as stack:
            stack.worker(concurrency=2)
            ids = [stack.hand_in(f"First {number}\nsleep 2.{number}\nLast") for number in range(2)]
            stack.until(lambda: all(stack.extracting(f"sleep 2.{number}") for number in range(2)))
            broker.kill()
            broker.wait()
            # Now the worker holds all it may, reads nothing, and what it wants to confirm cannot be.
            log = stack.home / "worker0.log"
            stack.until(lambda: log.read_text(errors="replace").count("Couldn't ack") >= 2, 60)
            broker, _ = start_redis(tmp_path, port)
            ids.append(stack.hand_in("Late", "late.txt"))
            stack.until(lambda: all(stack.get(one).state is State.READY for one in ids), 90)
            assert {stack.diary()[f"sleep 2.{number}"] for number in range(2)} == {1}
    finally:
        broker.kill()
        broker.wait()


def test_cancel_ends_a_running_stage_within_seconds(stack: Stack) -> None:
    stack.worker()
    identity = stack.hand_in("\n".join("sleep 0.3" for _ in range(200)))
    stack.until(lambda: stack.diary()["sleep 0.3"] > 2)
    stack.services.ledger.documents.cancel("acme", identity)
    assert stack.until(lambda: stack.holder_gone(identity), 30) < 10
    assert stack.get(identity).state is State.CANCELLED


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["worker", "group"])
def test_a_worker_that_is_asked_to_stop_hands_its_work_back(
    stack: Stack, send: Callable[[int, int], None]
) -> None:
    worker = stack.worker()
    identity = stack.hand_in("\n".join(f"sleep 0.{number:04d}" for number in range(2000, 2040)))
    stack.until(lambda: len(stack.diary()) > 2)
    send(worker.pid, signal.SIGTERM)
    worker.wait(timeout=120)
    document = stack.get(identity)
    assert document.state is State.EXTRACTING
    assert not document.running
    assert document.attempts == 0
    stack.worker()
    stack.until_state(identity, State.READY)
    assert set(stack.diary().values()) == {1}


def test_delete_while_a_stage_runs_leaves_nothing(stack: Stack) -> None:
    stack.worker()
    identity = stack.hand_in("First\n" + "\n".join("sleep 0.3" for _ in range(100)))
    stack.until(lambda: stack.diary()["sleep 0.3"] > 2)
    stack.services.ledger.documents.mark_deleting("acme", identity)
    stack.services.enqueue()
    stack.until(lambda: not stack.services.ledger.listing.known([identity]))
    assert not [path for path in (stack.home / "points").rglob("*") if path.is_file()]
    assert not [path for path in (stack.home / "blobs").rglob("*") if path.is_file()]
    assert not [path for path in (stack.home / "artifacts").rglob("*") if path.is_file()]
