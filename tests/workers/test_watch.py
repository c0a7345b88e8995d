"""The watch over a running stage."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tests.workers.conftest import Clock, upload
from workers.errors import StageStopped
from workers.ledger.ledger import Ledger
from workers.model import Lease, Stage
from workers.watch import Interrupted, Watch, lasting


@pytest.fixture
def lease(ledger: Ledger) -> Lease:
    identity = ledger.documents.accept(upload("a")).document.id
    found = ledger.stages.claim(identity, Stage.PARSE)
    assert found is not None
    return found


def watch(ledger: Ledger, lease: Lease, **changes: object) -> Watch:
    values = {"renew_s": 60.0, "slice_s": 60.0, "look_s": 0.05, "stopping": lambda: False}
    return Watch(ledger.stages, lease, **(values | changes))  # type: ignore[arg-type]


def until(condition, seconds: float = 5) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_the_lease_of_a_long_step_is_renewed(ledger: Ledger, lease: Lease, clock: Clock) -> None:
    with watch(ledger, lease, renew_s=0.0):
        for _ in range(4):
            clock.forward(40)
            time.sleep(0.15)
        until(lambda: ledger.documents.get("acme", lease.document.id).running)
    assert ledger.recovery.lost_leases() == 0


def test_progress_is_shown_while_the_stage_runs(ledger: Ledger, lease: Lease) -> None:
    with watch(ledger, lease) as running:
        running.tell(3, 9)
        until(lambda: ledger.documents.get("acme", lease.document.id).done == 3)
        assert ledger.documents.get("acme", lease.document.id).total == 9


def test_a_stage_that_was_cancelled_is_told_at_its_next_step(ledger: Ledger, lease: Lease) -> None:
    with watch(ledger, lease) as running:
        running.tell(1, 9)
        ledger.documents.cancel("acme", lease.document.id)

        def stopped() -> bool:
            try:
                running.check()
            except StageStopped:
                return True
            return False

        until(stopped)
        with pytest.raises(StageStopped):
            running.tell(2, 9)


def test_the_reader_of_a_cancelled_file_is_ended(ledger: Ledger, lease: Lease) -> None:
    with watch(ledger, lease):
        reader = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        ledger.documents.cancel("acme", lease.document.id)
        assert reader.wait(timeout=10) == -9


def test_a_child_that_serves_the_process_outlives_a_stage(ledger: Ledger, lease: Lease) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleep) as server:
        lasting(server.pid)
        with watch(ledger, lease):
            reader = subprocess.Popen(sleep)
            ledger.documents.cancel("acme", lease.document.id)
            assert reader.wait(timeout=10) == -9
        assert server.poll() is None
        server.kill()


def test_a_stage_makes_room_when_its_slice_is_over(ledger: Ledger, lease: Lease) -> None:
    with watch(ledger, lease, slice_s=0.0) as running:
        running.check()
        with pytest.raises(Interrupted):
            running.tell(1, 9)


def test_a_stage_is_asked_to_end_when_the_worker_stops(ledger: Ledger, lease: Lease) -> None:
    with watch(ledger, lease, stopping=lambda: True) as running, pytest.raises(Interrupted):
        running.check()
