"""The outbox."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ingest.model import Owner
from tests.workers.conftest import Clock, due, upload
from workers.ledger.ledger import Ledger
from workers.model import ErrorRecord, Stage

AWAY = ErrorRecord(code="unavailable", detail="Away.", next_step="Wait.")


def accept(ledger: Ledger, content: str, user: str = "anna") -> str:
    owner = Owner(tenant="acme", user_id=user)
    return ledger.documents.accept(upload(content, owner=owner)).document.id


def test_what_was_sent_is_counted_until_a_worker_takes_it(ledger: Ledger) -> None:
    first = accept(ledger, "a")
    accept(ledger, "b")
    assert ledger.outbox.sent_counts() == {}
    assert len(ledger.outbox.take(10)) == 2
    assert ledger.outbox.sent_counts() == {Stage.PARSE: 2}
    assert ledger.outbox.take(10) == []
    ledger.stages.claim(first, Stage.PARSE)
    assert ledger.outbox.sent_counts() == {Stage.PARSE: 1}


def test_what_could_not_be_sent_is_taken_again(ledger: Ledger) -> None:
    accept(ledger, "a")
    taken = ledger.outbox.take(10)
    ledger.outbox.put_back(taken)
    assert [one.id for one in ledger.outbox.take(10)] == [one.id for one in taken]


def test_a_message_is_taken_by_one_of_many(ledger: Ledger) -> None:
    ids = {accept(ledger, content) for content in "abcdef0123"}
    with ThreadPoolExecutor(6) as pool:
        parts = list(pool.map(lambda _: ledger.outbox.take(100), range(6)))
    taken = [one.document_id for part in parts for one in part]
    assert len(taken) == len(ids)
    assert set(taken) == ids


def test_a_queue_holds_no_more_than_its_window(ledger: Ledger) -> None:
    ids = [accept(ledger, content) for content in "abcdef"]
    assert len(ledger.outbox.take(4)) == 4
    assert ledger.outbox.take(4) == []
    ledger.stages.claim(ids[0], Stage.PARSE)
    assert len(ledger.outbox.take(4)) == 1


def test_an_owner_with_many_files_does_not_keep_others_waiting(ledger: Ledger, clock: Clock) -> None:
    many = [accept(ledger, content) for content in "abcdef"]
    clock.forward(5)
    one = accept(ledger, "0", user="ben")
    assert [entry.document_id for entry in ledger.outbox.take(2)] == [many[0], one]


def test_lost_messages_are_sent_again_oldest_first(ledger: Ledger, clock: Clock) -> None:
    ids = []
    for content in "abc":
        ids.append(accept(ledger, content))
        ledger.outbox.take(10)
        clock.forward(10)
    assert ledger.outbox.resend(Stage.PARSE, limit=5, older_than_s=15) == 2
    assert {one.document_id for one in due(ledger)} == set(ids[:2])
    assert ledger.outbox.resend(Stage.INDEX, limit=5, older_than_s=0) == 0


def test_a_message_put_off_is_not_taken_before_its_time(ledger: Ledger, clock: Clock) -> None:
    identity = accept(ledger, "a")
    ledger.outbox.take(10)
    lease = ledger.stages.claim(identity, Stage.PARSE)
    assert lease is not None
    ledger.stages.fail(lease, AWAY, retry_in_s=5)
    assert ledger.outbox.take(10) == []
    clock.forward(6)
    assert [one.document_id for one in ledger.outbox.take(10)] == [identity]
