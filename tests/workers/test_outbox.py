"""The outbox."""

from __future__ import annotations

from tests.workers.conftest import Clock, upload
from workers.ledger.ledger import Ledger
from workers.model import ErrorRecord, Stage

AWAY = ErrorRecord(code="unavailable", detail="Away.", next_step="Wait.")


def accept(ledger: Ledger, content: str) -> str:
    return ledger.documents.accept(upload(content)).document.id


def test_what_was_sent_is_counted_until_it_is_taken(ledger: Ledger) -> None:
    first = accept(ledger, "a")
    accept(ledger, "b")
    assert ledger.outbox.sent_counts() == {}
    ledger.outbox.mark_sent(ledger.outbox.due(10))
    assert ledger.outbox.sent_counts() == {Stage.PARSE: 2}
    assert ledger.outbox.due(10) == []
    ledger.stages.claim(first, Stage.PARSE)
    assert ledger.outbox.sent_counts() == {Stage.PARSE: 1}


def test_due_can_be_asked_for_one_document(ledger: Ledger) -> None:
    accept(ledger, "a")
    second = accept(ledger, "b")
    assert [one.document_id for one in ledger.outbox.due(10, second)] == [second]
    assert len(ledger.outbox.due(1)) == 1


def test_lost_messages_are_sent_again_oldest_first(ledger: Ledger, clock: Clock) -> None:
    ids = []
    for content in "abc":
        ids.append(accept(ledger, content))
        ledger.outbox.mark_sent(ledger.outbox.due(10))
        clock.forward(10)
    assert ledger.outbox.resend(Stage.PARSE, limit=5, older_than_s=15) == 2
    assert [one.document_id for one in ledger.outbox.due(10)] == ids[:2]
    assert ledger.outbox.resend(Stage.INDEX, limit=5, older_than_s=0) == 0


def test_a_late_mark_does_not_hide_a_message_that_was_put_off(ledger: Ledger, clock: Clock) -> None:
    identity = accept(ledger, "a")
    seen = ledger.outbox.due(10)
    lease = ledger.stages.claim(identity, Stage.PARSE)
    assert lease is not None
    ledger.stages.fail(lease, AWAY, retry_in_s=5)
    ledger.outbox.mark_sent(seen)
    clock.forward(6)
    assert len(ledger.outbox.due(10)) == 1
