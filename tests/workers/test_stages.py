"""Leases: who may write, and what happens when a holder is gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ingest.model import ParseWarning
from tests.workers.conftest import Clock, Fates, due, upload
from workers.errors import StageStopped
from workers.holder import Fate
from workers.ledger.ledger import Ledger
from workers.model import Counts, ErrorRecord, Lease, Stage, State

AWAY = ErrorRecord(code="unavailable", detail="The store is away.", next_step="Wait.")


@pytest.fixture
def identity(ledger: Ledger) -> str:
    return ledger.documents.accept(upload("a")).document.id


def claim(ledger: Ledger, identity: str, stage: Stage = Stage.PARSE) -> Lease:
    lease = ledger.stages.claim(identity, stage)
    assert lease is not None
    return lease


def state(ledger: Ledger, identity: str) -> State:
    return ledger.documents.get("acme", identity).state


def test_the_stages_follow_each_other_to_ready(ledger: Ledger, identity: str) -> None:
    for stage, working, waiting in (
        (Stage.PARSE, State.PARSING, State.EXTRACTING),
        (Stage.EXTRACT, State.EXTRACTING, State.INDEXING),
        (Stage.INDEX, State.INDEXING, State.READY),
    ):
        lease = claim(ledger, identity, stage)
        document = ledger.documents.get("acme", identity)
        assert (document.state, document.running, document.attempts) == (working, True, 1)
        assert due(ledger) == []
        following = ledger.stages.complete(lease)
        document = ledger.documents.get("acme", identity)
        assert (document.state, document.running) == (waiting, False)
        assert [one.stage for one in due(ledger)] == ([following] if following else [])
    assert ledger.documents.get("acme", identity).finished_at is not None


def test_completing_writes_counts_warnings_and_type(ledger: Ledger, identity: str) -> None:
    warning = ParseWarning(code="hidden_sheet", detail="Sheet 2 is hidden.")
    ledger.stages.complete(
        claim(ledger, identity), counts=Counts(elements=7), warnings=[warning], media_type="text/csv"
    )
    document = ledger.documents.get("acme", identity)
    assert document.counts == Counts(elements=7)
    assert document.warnings == (warning,)
    assert document.media_type == "text/csv"


def test_a_doubled_message_finds_nothing_to_do(ledger: Ledger, identity: str) -> None:
    lease = claim(ledger, identity)
    assert ledger.stages.claim(identity, Stage.PARSE) is None
    assert due(ledger) == []
    ledger.stages.complete(lease)
    assert ledger.stages.claim(identity, Stage.PARSE) is None
    assert ledger.stages.claim("no such document", Stage.PARSE) is None


def test_of_many_workers_one_gets_the_stage(ledger: Ledger, identity: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        leases = list(pool.map(lambda _: ledger.stages.claim(identity, Stage.PARSE), range(24)))
    assert sum(lease is not None for lease in leases) == 1


def test_a_lapsed_lease_goes_to_another_and_the_first_holder_is_fenced(
    ledger: Ledger, identity: str, clock: Clock
) -> None:
    first = claim(ledger, identity)
    clock.forward(61)
    second = claim(ledger, identity)
    assert second.document.attempts == 2
    for write in (
        lambda: ledger.stages.heartbeat(first, done=1, total=2),
        lambda: ledger.stages.complete(first, counts=Counts(elements=99)),
        lambda: ledger.stages.fail(first, AWAY, retry_in_s=1),
    ):
        with pytest.raises(StageStopped):
            write()
    ledger.stages.hand_back(first)
    assert ledger.documents.get("acme", identity).running
    ledger.stages.complete(second)
    assert ledger.documents.get("acme", identity).counts == Counts()


def test_a_heartbeat_keeps_the_lease_and_shows_progress(ledger: Ledger, identity: str, clock: Clock) -> None:
    lease = claim(ledger, identity)
    for done in (1, 2, 3):
        clock.forward(50)
        ledger.stages.heartbeat(lease, done=done, total=3)
    document = ledger.documents.get("acme", identity)
    assert (document.done, document.total, document.running) == (3, 3, True)
    assert ledger.recovery.lost_leases() == 0


def test_a_transient_error_waits_and_shows_why(ledger: Ledger, identity: str, clock: Clock) -> None:
    assert ledger.stages.fail(claim(ledger, identity), AWAY, retry_in_s=30)
    document = ledger.documents.get("acme", identity)
    assert document.state is State.QUEUED
    assert document.error == AWAY
    assert document.retry_at is not None
    assert due(ledger) == []
    assert ledger.stages.claim(identity, Stage.PARSE) is None, "an old message must not jump the wait"
    clock.forward(31)
    assert len(due(ledger)) == 1
    ledger.stages.complete(claim(ledger, identity))
    assert ledger.documents.get("acme", identity).error is None


def test_transient_errors_become_final_after_the_last_attempt(
    ledger: Ledger, identity: str, clock: Clock
) -> None:
    again = []
    for _ in range(3):
        again.append(ledger.stages.fail(claim(ledger, identity), AWAY, retry_in_s=1))
        clock.forward(2)
    assert again == [True, True, False]
    document = ledger.documents.get("acme", identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert (document.error.code, document.error.detail) == (AWAY.code, AWAY.detail)
    assert "tried 3 times" in document.error.next_step, "waiting helps no more, so it is not advised"
    assert "/retry" in document.error.next_step


def test_a_removal_is_tried_for_ever(ledger: Ledger, identity: str, clock: Clock) -> None:
    ledger.documents.mark_deleting("acme", identity)
    for _ in range(10):
        assert ledger.stages.fail(claim(ledger, identity, Stage.DELETE), AWAY, retry_in_s=1)
        clock.forward(2)


def test_cancel_reaches_the_running_stage_and_a_retry_waits_for_it(
    ledger: Ledger, identity: str, clock: Clock
) -> None:
    lease = claim(ledger, identity)
    ledger.documents.cancel("acme", identity)
    ledger.documents.requeue("acme", identity)
    assert ledger.stages.claim(identity, Stage.PARSE) is None, "the old worker may still write"
    with pytest.raises(StageStopped):
        ledger.stages.heartbeat(lease)
    ledger.stages.hand_back(lease)
    assert state(ledger, identity) is State.QUEUED
    clock.forward(1)
    claim(ledger, identity)


def test_a_removal_waits_until_nobody_writes(ledger: Ledger, identity: str, clock: Clock) -> None:
    lease = claim(ledger, identity)
    ledger.documents.mark_deleting("acme", identity)
    assert ledger.stages.claim(identity, Stage.DELETE) is None
    assert due(ledger) == [], "put off, not lost"
    ledger.stages.hand_back(lease)
    clock.forward(1)
    assert [one.stage for one in due(ledger)] == [Stage.DELETE]
    claim(ledger, identity, Stage.DELETE)


def test_handing_back_costs_no_attempt(ledger: Ledger, identity: str) -> None:
    for _ in range(10):
        ledger.stages.hand_back(claim(ledger, identity))
    assert claim(ledger, identity).document.attempts == 1


def test_a_retry_by_hand_can_begin_earlier_than_it_failed(ledger: Ledger, identity: str) -> None:
    ledger.stages.complete(claim(ledger, identity))
    ledger.stages.fail(claim(ledger, identity, Stage.EXTRACT), AWAY, resume=Stage.PARSE)
    assert ledger.documents.requeue("acme", identity).state is State.QUEUED
    claim(ledger, identity, Stage.PARSE)


def test_a_dead_holder_is_found_before_its_lease_lapses(ledger: Ledger, identity: str, fates: Fates) -> None:
    claim(ledger, identity)
    assert ledger.recovery.lost_leases() == 0
    fates.known["me"] = Fate.DIED_WITH_PARENT
    assert ledger.recovery.lost_leases() == 1
    assert [one.stage for one in due(ledger)] == [Stage.PARSE]
    assert ledger.recovery.lost_leases() == 0


def test_what_ends_its_worker_twice_is_set_aside(ledger: Ledger, identity: str, fates: Fates) -> None:
    for holder in ("one", "two"):
        fates.me = holder
        claim(ledger, identity)
        fates.known[holder] = Fate.DIED
        ledger.recovery.lost_leases()
    document = ledger.documents.get("acme", identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.code == "poison"
    assert due(ledger) == []
    fates.me = "three"
    ledger.documents.requeue("acme", identity)
    claim(ledger, identity)


def test_a_redelivered_message_takes_over_from_a_dead_worker_and_sets_poison_aside(
    ledger: Ledger, identity: str, fates: Fates
) -> None:
    for holder in ("one", "two"):
        fates.me = holder
        claim(ledger, identity)
        fates.known[holder] = Fate.DIED
    assert ledger.stages.claim(identity, Stage.PARSE) is None
    assert state(ledger, identity) is State.FAILED


def test_losing_whole_workers_is_not_held_against_a_document_until_attempts_run_out(
    ledger: Ledger, identity: str, fates: Fates
) -> None:
    for holder in ("one", "two", "three"):
        fates.me = holder
        claim(ledger, identity)
        fates.known[holder] = Fate.DIED_WITH_PARENT
        assert ledger.recovery.lost_leases() == 1
    assert state(ledger, identity) is State.FAILED


def test_a_document_without_message_or_worker_is_asked_for_again(ledger: Ledger, identity: str) -> None:
    lease = claim(ledger, identity)
    with ledger.database.write() as session:  # as after a crash of a kind we did not think of
        session.connection().exec_driver_sql("UPDATE documents SET lease_token = NULL")
    with pytest.raises(StageStopped):
        ledger.stages.heartbeat(lease)
    assert ledger.recovery.lost_messages() == 1
    assert ledger.recovery.lost_messages() == 0
    claim(ledger, identity)
