"""Several pieces of a stage at the same time."""

from __future__ import annotations

import threading
import time

import pytest

from extract.chat.errand import Errand, current, pause, running
from extract.errors import CallAbandoned
from workers.lanes import Lanes


def nothing() -> None:
    return None


def test_no_more_run_at_once_than_there_are_lanes_and_all_are_done() -> None:
    busy, most, lock = [0], [0], threading.Lock()

    def work(item: int) -> int:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.01)
        with lock:
            busy[0] -= 1
        return item * item

    ended = []
    with Lanes(work, 3, nothing) as lanes:
        for item in range(20):
            lanes.put(item)
            ended += lanes.finished()
        while rest := lanes.rest():
            ended += rest
    assert sorted((item, future.result()) for item, future in ended) == [(at, at * at) for at in range(20)]
    assert most[0] == 3


def test_one_lane_works_in_the_callers_thread() -> None:
    with Lanes(lambda _: threading.current_thread(), 1, nothing) as lanes:
        lanes.put(0)
        ((_, future),) = lanes.finished()
    assert future.result() is threading.current_thread()


def test_the_work_knows_whose_it_is() -> None:
    with Lanes(lambda _: current().tenant, 2, nothing) as lanes, running(Errand(tenant="acme")):
        lanes.put(0)
        ((_, future),) = lanes.rest()
    assert future.result() == "acme"


def test_leaving_the_block_does_not_wait_and_ends_what_waits() -> None:
    gone = threading.Event()

    def wait_long(_: int) -> None:
        try:
            pause(60)
        except CallAbandoned:
            gone.set()
            raise

    def stop() -> None:
        raise KeyError("stop")

    def run() -> None:
        with Lanes(wait_long, 2, stop) as lanes, running(Errand(over=lanes.over)):
            lanes.put(0)
            lanes.rest()

    started = time.monotonic()
    with pytest.raises(KeyError):
        run()
    assert time.monotonic() - started < 5
    assert gone.wait(5)


def test_an_error_belongs_to_its_item() -> None:
    def work(item: int) -> int:
        if item == 1:
            raise ValueError("one")
        return item

    with Lanes(work, 1, nothing) as lanes:
        for item in range(2):
            lanes.put(item)
        ended = dict(lanes.finished())
    assert ended[0].result() == 0
    assert isinstance(ended[1].exception(), ValueError)
