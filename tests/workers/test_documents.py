"""Accepting, cancelling, running again and deleting documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from ingest.errors import StrataError
from ingest.model import Owner
from tests.workers.conftest import ANNA, Clock, due, upload
from workers.errors import BlobLeaving, NotFound, StateConflict
from workers.ledger.ledger import Ledger
from workers.model import ErrorRecord, Stage, State

BROKEN = ErrorRecord(code="corrupt", detail="It is damaged.", next_step="Send another.")


def fail(ledger: Ledger, identity: str, stage: Stage = Stage.PARSE) -> None:
    lease = ledger.stages.claim(identity, stage)
    assert lease is not None
    ledger.stages.fail(lease, BROKEN)


def finish(ledger: Ledger, identity: str) -> None:
    for stage in (Stage.PARSE, Stage.EXTRACT, Stage.INDEX):
        lease = ledger.stages.claim(identity, stage)
        assert lease is not None, stage
        ledger.stages.complete(lease)


def remove(ledger: Ledger, identity: str) -> str | None:
    lease = ledger.stages.claim(identity, Stage.DELETE)
    assert lease is not None
    return ledger.stages.remove(lease).purge


def test_accepting_records_the_document_and_its_message(ledger: Ledger) -> None:
    accepted = ledger.documents.accept(upload("a", metadata={"project": "x"}))
    document = ledger.documents.get("acme", accepted.document.id)
    assert document.state is State.QUEUED
    assert document.metadata == {"project": "x"}
    assert document.owner == ANNA
    assert not document.running
    assert accepted.duplicate_of is None
    assert [(one.document_id, one.stage) for one in due(ledger)] == [(document.id, Stage.PARSE)]


def test_equal_bytes_of_one_owner_are_one_document(ledger: Ledger) -> None:
    first = ledger.documents.accept(upload("a"))
    second = ledger.documents.accept(upload("a", name="again.txt"))
    assert second.duplicate_of == first.document.id == second.document.id
    assert len(due(ledger)) == 1


@pytest.mark.parametrize(
    "owner",
    [
        Owner(tenant="other", user_id="anna"),
        Owner(tenant="acme", user_id="ben"),
        Owner(tenant="acme", group_id="anna"),
    ],
)
def test_equal_bytes_of_two_owners_are_two_documents(ledger: Ledger, owner: Owner) -> None:
    first = ledger.documents.accept(upload("a"))
    second = ledger.documents.accept(upload("a", owner=owner))
    assert second.duplicate_of is None
    assert second.document.id != first.document.id


def test_many_uploads_of_the_same_bytes_at_once_reserve_one_document(ledger: Ledger) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: ledger.documents.accept(upload("a")), range(24)))
    assert len({one.document.id for one in results}) == 1
    assert sum(one.duplicate_of is None for one in results) == 1
    assert len(due(ledger)) == 1


def test_another_tenant_sees_nothing(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    for call in (
        ledger.documents.get,
        ledger.documents.cancel,
        ledger.documents.requeue,
        ledger.documents.mark_deleting,
    ):
        with pytest.raises(NotFound):
            call("other", identity)
    assert ledger.documents.get("acme", identity).state is State.QUEUED


def test_a_failed_document_handed_in_again_runs_again_and_keeps_its_diagnosis(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    fail(ledger, identity)
    again = ledger.documents.accept(upload("a", name="repaired.txt"))
    assert again.requeued
    assert again.duplicate_of is None
    assert again.document.state is State.QUEUED
    assert again.document.error == BROKEN
    assert again.document.name == "repaired.txt"
    finish(ledger, identity)
    done = ledger.documents.get("acme", identity)
    assert done.state is State.READY
    assert done.error is None


def test_retry_goes_on_at_the_stage_that_failed(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    lease = ledger.stages.claim(identity, Stage.PARSE)
    assert lease is not None
    ledger.stages.complete(lease)
    fail(ledger, identity, Stage.EXTRACT)
    assert ledger.documents.requeue("acme", identity).state is State.EXTRACTING
    assert [one.stage for one in due(ledger)] == [Stage.EXTRACT]


def test_only_ended_documents_can_be_retried(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    with pytest.raises(StateConflict):
        ledger.documents.requeue("acme", identity)
    finish(ledger, identity)
    with pytest.raises(StateConflict):
        ledger.documents.requeue("acme", identity)
    assert ledger.documents.requeue("acme", identity, from_start=True).state is State.QUEUED


def test_cancel_withdraws_the_message_and_reaches_inner_documents(ledger: Ledger) -> None:
    parent = ledger.documents.accept(upload("a")).document.id
    child = ledger.documents.accept(upload("b"), parent=(parent, "2")).document
    assert (child.parent_id, child.root_id, child.depth) == (parent, parent, 1)
    ledger.documents.cancel("acme", parent)
    assert ledger.documents.get("acme", child.id).state is State.CANCELLED
    assert due(ledger) == []
    with pytest.raises(StateConflict):
        ledger.documents.cancel("acme", parent)


def test_cancel_stops_what_is_inside_a_document_that_has_ended(ledger: Ledger) -> None:
    parent = ledger.documents.accept(upload("a")).document.id
    child = ledger.documents.accept(upload("b"), parent=(parent, "2")).document
    finish(ledger, parent)
    ledger.documents.cancel("acme", parent)
    assert ledger.documents.get("acme", parent).state is State.READY
    assert ledger.documents.get("acme", child.id).state is State.CANCELLED


@pytest.mark.parametrize("prepare", [lambda *_: None, fail, finish], ids=["queued", "failed", "ready"])
def test_delete_works_in_every_state_and_hides_at_once(ledger: Ledger, prepare) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    prepare(ledger, identity)
    assert ledger.documents.mark_deleting("acme", identity) == [identity]
    assert ledger.documents.hidden_ids("acme") == [identity]
    assert ledger.documents.hidden_ids("other") == []
    assert remove(ledger, identity) == "a" * 64
    with pytest.raises(NotFound):
        ledger.documents.get("acme", identity)
    assert ledger.documents.hidden_ids("acme") == []


def test_delete_takes_inner_documents_along_but_not_the_parent(ledger: Ledger) -> None:
    parent = ledger.documents.accept(upload("a")).document.id
    child = ledger.documents.accept(upload("b"), parent=(parent, "2")).document.id
    grandchild = ledger.documents.accept(upload("c"), parent=(child, "1")).document.id
    sibling = ledger.documents.accept(upload("d"), parent=(parent, "3")).document.id
    assert ledger.documents.mark_deleting("acme", child) == [child, grandchild]
    assert ledger.documents.get("acme", sibling).state is State.QUEUED
    assert set(ledger.documents.mark_deleting("acme", parent)) == {parent, child, grandchild, sibling}


def test_bytes_stay_while_another_document_has_them(ledger: Ledger) -> None:
    first = ledger.documents.accept(upload("a")).document.id
    ledger.documents.accept(upload("a", owner=Owner(tenant="other", user_id="anna")))
    ledger.documents.mark_deleting("acme", first)
    assert remove(ledger, first) is None


def test_an_upload_that_began_before_its_bytes_were_removed_is_refused(ledger: Ledger, clock: Clock) -> None:
    first = ledger.documents.accept(upload("a")).document.id
    ledger.documents.mark_deleting("acme", first)
    sha256 = remove(ledger, first)
    assert sha256 is not None
    with pytest.raises(BlobLeaving):  # they are leaving
        ledger.documents.accept(upload("a", stored_at=clock()))
    began = clock()
    clock.forward(1)
    ledger.purges.finish(sha256)
    with pytest.raises(BlobLeaving):  # they left while it was storing
        ledger.documents.accept(upload("a", stored_at=began))
    assert not ledger.documents.accept(upload("a", stored_at=clock() + timedelta(seconds=1))).requeued


def test_handed_in_again_while_it_is_deleted_it_comes_back(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    finish(ledger, identity)
    ledger.documents.mark_deleting("acme", identity)
    assert ledger.documents.accept(upload("a")).requeued
    lease = ledger.stages.claim(identity, Stage.DELETE)
    assert lease is not None
    removal = ledger.stages.remove(lease)
    assert removal.restored
    assert removal.purge is None
    assert ledger.documents.get("acme", identity).state is State.QUEUED
    finish(ledger, identity)


def test_deleting_all_of_an_owner_leaves_others(ledger: Ledger) -> None:
    mine = ledger.documents.accept(upload("a")).document.id
    theirs = ledger.documents.accept(upload("b", owner=Owner(tenant="acme", user_id="ben"))).document.id
    assert ledger.documents.mark_all_deleting("acme", user_id="anna") == [mine]
    assert ledger.documents.get("acme", theirs).state is State.QUEUED


def test_names_no_database_takes_are_kept_readable(ledger: Ledger) -> None:
    document = ledger.documents.accept(upload("a", name="a\x00b.txt")).document
    assert document.name == "a\N{REPLACEMENT CHARACTER}b.txt"
    lease = ledger.stages.claim(document.id, Stage.PARSE)
    assert lease is not None
    ledger.stages.fail(lease, ErrorRecord.of(StrataError("No such part: \udc80\x00.")))
    error = ledger.documents.get("acme", document.id).error
    assert error is not None
    assert error.detail == "No such part: ?\N{REPLACEMENT CHARACTER}."
