"""Conversations in the ledger: what is sent again, late, edited or taken out, and how sessions are cut."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ingest.model import Owner
from ingest.sources.conversation import Message
from tests.workers.conftest import Clock, due
from workers.conversation import ConversationKnobs, Fate
from workers.errors import StageStopped
from workers.ledger.conversations import Conversations
from workers.ledger.ledger import Ledger
from workers.model import Stage, State

ANNA = Owner(tenant="acme", user_id="anna", session_id="s1")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def said(text: str, minutes: float = 0, **changes: Any) -> Message:
    sent_at = NOON + timedelta(minutes=minutes)
    values = {"message_id": text, "sender_id": "anna", "sent_at": sent_at, "content": text}
    return Message(**(values | changes))


def talks(ledger: Ledger, **knobs: Any) -> Conversations:
    return Conversations(ledger.database, ConversationKnobs(**knobs))


def homes(ledger: Ledger, *messages: Message, owner: Owner = ANNA, **knobs: Any) -> list[str]:
    return [one.document_id for one in talks(ledger, **knobs).add(owner, messages)]


def read_all(ledger: Ledger, document_id: str) -> list[str]:
    """Run the stages of a document as the pipeline does; return the words it read."""
    lease = ledger.stages.claim(document_id, Stage.PARSE)
    assert lease is not None
    stretch = ledger.conversations.snapshot(lease)
    ledger.stages.complete(lease, revision=stretch.revision)
    for stage in (Stage.EXTRACT, Stage.INDEX):
        lease = ledger.stages.claim(document_id, stage)
        assert lease is not None
        ledger.stages.complete(lease)
    return [message.content for message in stretch.messages]


def pending(ledger: Ledger, tenant: str = "acme", **owner: Any) -> list[str]:
    return [one.message.content for one in ledger.messages.pending(tenant, **owner)]


def test_a_message_that_is_sent_again_changes_nothing(ledger: Ledger, clock: Clock) -> None:
    (first,) = ledger.conversations.add(ANNA, [said("hello")])
    asked = ledger.outbox.waiting()
    clock.forward(60)
    (again,) = ledger.conversations.add(ANNA, [said("hello")])
    assert (first.fate, again.fate) == (Fate.ACCEPTED, Fate.UNCHANGED)
    assert again.document_id == first.document_id
    assert ledger.outbox.waiting() == asked
    assert len(ledger.messages.of_document("acme", first.document_id)) == 1


def test_the_same_id_in_one_request_and_in_another_session(ledger: Ledger) -> None:
    taken = ledger.conversations.add(ANNA, [said("a"), said("a"), said("a", content="b")])
    assert [one.fate for one in taken] == [Fate.ACCEPTED, Fate.UNCHANGED, Fate.UPDATED]
    other = ANNA.model_copy(update={"session_id": "s2"})
    assert ledger.conversations.add(other, [said("a")])[0].fate is Fate.ACCEPTED


def test_an_open_stretch_waits_for_its_pause_and_is_put_off_by_what_follows(
    ledger: Ledger, clock: Clock
) -> None:
    homes(ledger, said("a"))
    assert due(ledger) == []
    clock.forward(3000)
    homes(ledger, said("b", minutes=50))
    clock.forward(3000)
    assert due(ledger) == []
    clock.forward(601)
    assert [one.stage for one in due(ledger)] == [Stage.PARSE]


def test_an_open_stretch_does_not_count_as_waiting(ledger: Ledger, clock: Clock) -> None:
    homes(ledger, said("a"))
    assert ledger.listing.summary().oldest_waiting_at is None
    clock.forward(3601)
    assert ledger.listing.summary().oldest_waiting_at is not None


def test_old_messages_wait_for_a_moment_only(ledger: Ledger, clock: Clock) -> None:
    homes(ledger, said("long ago", minutes=-100_000))
    assert due(ledger) == []
    clock.forward(5)
    assert len(due(ledger)) == 1


def test_messages_from_the_future_wait_no_longer_than_a_pause(ledger: Ledger, clock: Clock) -> None:
    homes(ledger, said("soon", minutes=10_000))
    clock.forward(3600)
    assert len(due(ledger)) == 1


def test_a_session_is_cut_by_pause_by_day_and_by_size(ledger: Ledger) -> None:
    a, b, c = homes(ledger, said("a"), said("b", 59), said("c", 120))
    assert a == b != c
    late, early = homes(ledger, said("d", 719), said("e", 721))
    assert late != early
    found = homes(ledger, *(said(f"m{at}", 2000 + at) for at in range(5)), max_messages=2)
    assert [found.count(one) for one in dict.fromkeys(found)] == [2, 2, 1]
    found = homes(
        ledger, *(said(f"x{at}", 4000 + at, content="y" * 60) for at in range(4)), max_characters=100
    )
    assert [found.count(one) for one in dict.fromkeys(found)] == [2, 2]


def test_the_day_is_that_of_the_sender(ledger: Ledger) -> None:
    east = timezone(timedelta(hours=8))
    before, after = homes(
        ledger,
        said("a", sent_at=datetime(2026, 3, 1, 23, 59, tzinfo=east)),
        said("b", sent_at=datetime(2026, 3, 2, 0, 1, tzinfo=east)),
    )
    assert before != after
    known = ledger.messages.of_document("acme", after)
    assert known[0].message.sent_at.isoformat() == "2026-03-02T00:01:00+08:00"


def test_messages_in_any_order_are_read_in_theirs(ledger: Ledger) -> None:
    (home,) = set(homes(ledger, said("c", 20), said("a", 0), said("d", 30), said("b", 10)))
    ledger.conversations.flush("acme", user_id="anna")
    assert read_all(ledger, home) == ["a", "b", "c", "d"]


def test_messages_of_one_moment_stay_as_they_came(ledger: Ledger) -> None:
    (home,) = set(homes(ledger, *(said(text) for text in "zyx")))
    ledger.conversations.flush("acme")
    assert read_all(ledger, home) == ["z", "y", "x"]


def test_what_follows_a_stretch_that_was_read_leaves_it_alone(ledger: Ledger, clock: Clock) -> None:
    (first,) = homes(ledger, said("a"))
    ledger.conversations.flush("acme", user_id="anna", session_id="s1")
    read_all(ledger, first)
    clock.forward(10)
    (second,) = homes(ledger, said("b", 10))
    assert second != first
    assert ledger.documents.get("acme", first).state is State.READY
    assert pending(ledger) == ["b"]


def test_a_late_message_has_its_own_stretch_read_again(ledger: Ledger, clock: Clock) -> None:
    first, _, second = homes(ledger, said("a"), said("c", 20), said("far", 300))
    ledger.conversations.flush("acme")
    read_all(ledger, first)
    read_all(ledger, second)
    assert homes(ledger, said("b", 10)) == [first]
    assert pending(ledger) == ["b"]
    clock.forward(5)
    assert [one.document_id for one in due(ledger)] == [first]
    assert read_all(ledger, first) == ["a", "b", "c"]
    assert pending(ledger) == []


def test_an_edited_message_is_a_new_version(ledger: Ledger) -> None:
    (home,) = homes(ledger, said("a"))
    ledger.conversations.flush("acme")
    read_all(ledger, home)
    (taken,) = ledger.conversations.add(ANNA, [said("a", content="other words")])
    assert (taken.fate, taken.document_id) == (Fate.UPDATED, home)
    (known,) = ledger.messages.pending("acme")
    assert (known.version, known.message.content) == (2, "other words")
    assert ledger.documents.get("acme", home).state is State.QUEUED


def test_a_message_that_moves_to_another_day_leaves_nothing_behind(ledger: Ledger) -> None:
    (home,) = homes(ledger, said("a"))
    (moved,) = homes(ledger, said("a", minutes=-5000))
    assert moved != home
    assert ledger.documents.get("acme", home).state is State.DELETING
    assert len(ledger.messages.of_document("acme", moved)) == 1


def test_what_arrives_while_a_stretch_is_read_is_read_next(ledger: Ledger) -> None:
    home, _ = homes(ledger, said("a"), said("c", 20))
    ledger.conversations.flush("acme")
    lease = ledger.stages.claim(home, Stage.PARSE)
    assert lease is not None
    stretch = ledger.conversations.snapshot(lease)
    assert homes(ledger, said("b", 10)) == [home]
    ledger.stages.complete(lease, revision=stretch.revision)
    for stage in (Stage.EXTRACT, Stage.INDEX):
        lease = ledger.stages.claim(home, stage)
        assert lease is not None
        ledger.stages.complete(lease)
    assert pending(ledger) == ["b"]
    assert ledger.documents.get("acme", home).state is State.QUEUED
    assert read_all(ledger, home) == ["a", "b", "c"]
    assert pending(ledger) == []


def test_a_flush_ends_what_is_open_and_no_more(ledger: Ledger) -> None:
    other = ANNA.model_copy(update={"session_id": "s2"})
    strangers = Owner(tenant="acme", user_id="ben", session_id="s1"), Owner(tenant="foe", user_id="anna")
    (home,) = homes(ledger, said("a"))
    for owner in (other, *strangers):
        homes(ledger, said("a"), owner=owner)
    assert ledger.conversations.flush("acme", user_id="anna", session_id="s1") == [home]
    assert [one.document_id for one in due(ledger)] == [home]
    assert homes(ledger, said("b", 1)) != [home]


def test_only_the_holder_of_the_stage_reads(ledger: Ledger, clock: Clock) -> None:
    (home,) = homes(ledger, said("a"))
    ledger.conversations.flush("acme")
    lease = ledger.stages.claim(home, Stage.PARSE)
    assert lease is not None
    clock.forward(61)
    assert ledger.recovery.lost_leases() == 1
    with pytest.raises(StageStopped):
        ledger.conversations.snapshot(lease)


def test_a_stretch_that_fails_stays_visible_and_is_tried_again_with_the_next_message(ledger: Ledger) -> None:
    (home,) = homes(ledger, said("a"), said("c", 20))[:1]
    ledger.documents.cancel("acme", home)
    assert pending(ledger) == ["c", "a"]
    homes(ledger, said("b", 10))
    assert ledger.documents.get("acme", home).state is State.QUEUED


def test_messages_of_a_deleted_stretch_are_gone_at_once_and_can_come_again(ledger: Ledger) -> None:
    (home,) = homes(ledger, said("a"))
    ledger.documents.mark_deleting("acme", home)
    assert pending(ledger) == []
    (again,) = ledger.conversations.add(ANNA, [said("a")])
    assert again.fate is Fate.ACCEPTED
    assert again.document_id != home
    lease = ledger.stages.claim(home, Stage.DELETE)
    assert lease is not None
    ledger.stages.remove(lease)
    assert pending(ledger) == ["a"]


def test_a_message_taken_out_hides_its_stretch_until_that_is_read_without_it(ledger: Ledger) -> None:
    home, _ = homes(ledger, said("a"), said("secret", 5))
    ledger.conversations.flush("acme")
    read_all(ledger, home)
    (secret,) = (
        one.id for one in ledger.messages.of_document("acme", home) if one.message.content == "secret"
    )
    assert ledger.conversations.take_out("foe", [secret]) == 0
    assert ledger.conversations.take_out("acme", [secret], user_id="ben") == 0
    assert ledger.conversations.take_out("acme", [secret, "unknown"], user_id="anna") == 1
    assert ledger.documents.hidden_ids("acme") == [home]
    assert pending(ledger) == ["a"]
    assert read_all(ledger, home) == ["a"]
    assert ledger.documents.hidden_ids("acme") == []
    (last,) = (one.id for one in ledger.messages.of_document("acme", home))
    assert ledger.conversations.take_out("acme", [last]) == 1
    assert ledger.documents.get("acme", home).state is State.DELETING


def test_nobody_sees_another_s_messages(ledger: Ledger) -> None:
    homes(ledger, said("mine"))
    homes(ledger, said("ben's"), owner=Owner(tenant="acme", user_id="ben"))
    homes(ledger, said("theirs"), owner=Owner(tenant="foe", user_id="anna"))
    homes(ledger, said("ours"), owner=Owner(tenant="acme", group_id="g"))
    assert pending(ledger, user_id=("anna",)) == ["mine"]
    assert pending(ledger, tenant="foe") == ["theirs"]
    assert pending(ledger, group_id=("g",)) == ["ours"]
    assert pending(ledger, user_id=("anna", "ben"), group_id=("g",)) == []


def test_more_than_one_database_statement_of_messages(ledger: Ledger) -> None:
    messages = [said(f"m{at}", at / 100) for at in range(1200)]
    first = homes(ledger, *messages)
    assert homes(ledger, *reversed(messages)) == first[::-1]
    assert max(first.count(one) for one in set(first)) <= 200
