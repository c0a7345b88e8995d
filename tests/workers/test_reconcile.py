"""The reconciler and the publisher, without a broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.workers.conftest import Clock, Fates, due, upload
from workers.holder import Fate
from workers.ledger.ledger import Ledger
from workers.model import Stage
from workers.queue import Publisher, QueueUnavailable
from workers.reconcile import Reconciler, serve
from workers.run import pause_before_retry


class Broker:
    """A queue for each stage that can be away or flushed."""

    def __init__(self) -> None:
        self.queues: dict[Stage, list[str]] = {stage: [] for stage in Stage}
        self.away = False

    def send(self, stage: Stage, document_id: str) -> None:
        if self.away:
            raise QueueUnavailable
        self.queues[stage].append(document_id)

    def depths(self) -> dict[Stage, int]:
        if self.away:
            raise QueueUnavailable
        return {stage: len(ids) for stage, ids in self.queues.items()}

    def flush(self) -> None:
        for ids in self.queues.values():
            ids.clear()


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def purged() -> list[str]:
    return []


@pytest.fixture
def make(ledger: Ledger, broker: Broker, purged: list[str]) -> Callable[[], Reconciler]:
    def purge(sha256: str) -> None:
        purged.append(sha256)
        ledger.purges.finish(sha256)

    def build() -> Reconciler:
        publish = Publisher(ledger.outbox, broker.send, window=10)
        return Reconciler(ledger, publish, broker.depths, purge, lambda: 0, every_s=2, resend_after_s=10)

    return build


def accept(ledger: Ledger, content: str = "a") -> str:
    return ledger.documents.accept(upload(content)).document.id


def test_messages_are_sent_once(ledger: Ledger, broker: Broker, make) -> None:
    identity = accept(ledger)
    reconciler = make()
    for _ in range(3):
        reconciler.tick()
    assert broker.queues[Stage.PARSE] == [identity]


def test_a_broker_that_is_away_loses_nothing(ledger: Ledger, broker: Broker, make) -> None:
    ids = {accept(ledger, content) for content in "abc"}
    broker.away = True
    reconciler = make()
    reconciler.tick()
    assert len(due(ledger)) == 3
    broker.away = False
    reconciler.tick()
    assert set(broker.queues[Stage.PARSE]) == ids


def test_a_broker_that_goes_in_the_middle_keeps_what_it_took(ledger: Ledger, broker: Broker) -> None:
    for content in "abcd":
        accept(ledger, content)

    def send(stage: Stage, document_id: str) -> None:
        broker.away = len(broker.queues[stage]) == 2
        broker.send(stage, document_id)

    assert Publisher(ledger.outbox, send, window=10)() == 2
    assert len(due(ledger)) == 2
    broker.away = False
    assert Publisher(ledger.outbox, broker.send, window=10)() == 2
    assert len(set(broker.queues[Stage.PARSE])) == 4


def test_a_flushed_broker_is_filled_again_but_not_at_once(
    ledger: Ledger, broker: Broker, make, clock: Clock
) -> None:
    ids = {accept(ledger, content) for content in "abc"}
    reconciler = make()
    reconciler.tick()
    broker.flush()
    reconciler.tick()
    assert broker.queues[Stage.PARSE] == [], "just sent: may be on its way"
    clock.forward(11)
    reconciler.tick()
    assert set(broker.queues[Stage.PARSE]) == ids


def test_waiting_long_is_not_taken_for_a_loss(ledger: Ledger, broker: Broker, make, clock: Clock) -> None:
    ids = [accept(ledger, content) for content in "abc"]
    reconciler = make()
    reconciler.tick()
    for _ in range(5):
        clock.forward(10_000)
        reconciler.tick()
    assert broker.queues[Stage.PARSE] == ids


def test_only_what_is_missing_is_sent_again(ledger: Ledger, broker: Broker, make, clock: Clock) -> None:
    ids = [accept(ledger, content) for content in "abc"]
    reconciler = make()
    reconciler.tick()
    clock.forward(11)
    broker.queues[Stage.PARSE].pop(0)
    reconciler.tick()
    assert sorted(broker.queues[Stage.PARSE]) == sorted(ids)


def test_the_stage_of_a_dead_worker_is_sent_again(ledger: Ledger, broker: Broker, make, fates: Fates) -> None:
    identity = accept(ledger)
    reconciler = make()
    reconciler.tick()
    ledger.stages.claim(broker.queues[Stage.PARSE].pop(), Stage.PARSE)
    reconciler.tick()
    assert broker.queues[Stage.PARSE] == []
    fates.known["me"] = Fate.DIED_WITH_PARENT
    reconciler.tick()
    assert broker.queues[Stage.PARSE] == [identity]


def test_one_of_two_reconcilers_has_the_duty_until_it_ends(ledger: Ledger, broker: Broker, make) -> None:
    first, second = make(), make()
    first.tick()
    accept(ledger)
    second.tick()
    assert broker.queues[Stage.PARSE] == []
    first.drop_duty()
    second.tick()
    assert len(broker.queues[Stage.PARSE]) == 1


def test_half_done_removals_of_bytes_are_finished(
    ledger: Ledger, make, clock: Clock, purged: list[str]
) -> None:
    ledger.purges.mark_unused("e" * 64)
    reconciler = make()
    reconciler.tick()
    assert purged == []
    clock.forward(61)
    reconciler.tick()
    assert purged == ["e" * 64]
    reconciler.tick()
    assert len(purged) == 1


def test_serving_looks_until_told_to_end(ledger: Ledger, broker: Broker, make) -> None:
    accept(ledger)
    waits = iter([False, False, True])
    serve(make(), 0.01, lambda _: next(waits))
    assert list(waits) == []
    assert len(broker.queues[Stage.PARSE]) == 1


def test_pauses_grow_are_bounded_and_honour_what_a_service_asks_for() -> None:
    for attempt in range(1, 60):
        pause = pause_before_retry(attempt, None, longest_s=900)
        assert 0 < pause <= min(900, 2 * 3 ** (attempt - 1))
    assert pause_before_retry(1, 120.0, longest_s=900) == 120.0
