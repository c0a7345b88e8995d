"""Batches."""

from __future__ import annotations

import pytest

from tests.workers.conftest import Clock, due, upload
from workers.errors import NotFound
from workers.ledger.ledger import Ledger
from workers.model import ErrorRecord, Stage

REFUSED = ErrorRecord(code="too_large", detail="Too large.", next_step="Split it.")


def run(ledger: Ledger, identity: str) -> None:
    for stage in (Stage.PARSE, Stage.EXTRACT, Stage.INDEX):
        lease = ledger.stages.claim(identity, stage)
        assert lease is not None
        ledger.stages.complete(lease)


def test_a_batch_lists_accepted_doubled_and_refused_files(ledger: Ledger) -> None:
    batch = ledger.batches.create("acme")
    first = ledger.documents.accept(upload("a"), batch_id=batch).document.id
    ledger.documents.accept(upload("a", name="copy.txt"), batch_id=batch)
    ledger.batches.refuse("acme", batch, "big.bin", REFUSED)
    status = ledger.batches.status("acme", batch)
    assert [(one.filename, one.document_id, one.duplicate_of) for one in status.files] == [
        ("a.txt", first, None),
        ("copy.txt", first, first),
        ("big.bin", None, None),
    ]
    assert status.files[2].error == REFUSED
    assert status.counts == {"queued": 2, "refused": 1}
    assert (status.waiting, status.running, status.done) == (1, 0, False)


def test_a_batch_is_done_when_the_inner_documents_are(ledger: Ledger) -> None:
    batch = ledger.batches.create("acme")
    parent = ledger.documents.accept(upload("a"), batch_id=batch).document.id
    child = ledger.documents.accept(upload("b"), parent=(parent, "2")).document.id
    inner = ledger.documents.accept(upload("c"), parent=(child, "1")).document.id
    run(ledger, parent)
    run(ledger, child)
    lease = ledger.stages.claim(inner, Stage.PARSE)
    assert lease is not None
    status = ledger.batches.status("acme", batch)
    assert (status.waiting, status.running, status.done) == (0, 1, False)
    assert {one.document_id for one in status.files} == {parent, child, inner}
    ledger.stages.fail(lease, REFUSED)
    status = ledger.batches.status("acme", batch)
    assert status.done
    assert status.counts == {"ready": 2, "failed": 1}


def test_a_deleted_document_stays_visible_in_its_batch(ledger: Ledger) -> None:
    batch = ledger.batches.create("acme")
    identity = ledger.documents.accept(upload("a"), batch_id=batch).document.id
    ledger.documents.mark_deleting("acme", identity)
    assert not ledger.batches.status("acme", batch).done
    lease = ledger.stages.claim(identity, Stage.DELETE)
    assert lease is not None
    ledger.stages.remove(lease)
    status = ledger.batches.status("acme", batch)
    assert status.counts == {"deleted": 1}
    assert status.done


def test_another_tenant_sees_no_batch(ledger: Ledger) -> None:
    batch = ledger.batches.create("acme")
    with pytest.raises(NotFound):
        ledger.batches.status("other", batch)
    with pytest.raises(NotFound):
        ledger.batches.refuse("other", batch, "x", REFUSED)


def test_a_document_for_a_foreign_batch_is_not_recorded(ledger: Ledger) -> None:
    batch = ledger.batches.create("other")
    with pytest.raises(NotFound):
        ledger.documents.accept(upload("a"), batch_id=batch)
    assert due(ledger) == []


def test_waiting_ends_with_the_batch_or_with_the_time(ledger: Ledger, clock: Clock) -> None:
    batch = ledger.batches.create("acme")
    identity = ledger.documents.accept(upload("a"), batch_id=batch).document.id
    slept: list[float] = []
    assert not ledger.batches.wait("acme", batch, 1.0, sleep=slept.append).done
    assert sum(slept) == pytest.approx(1.0)
    assert ledger.batches.wait("acme", batch, 60, sleep=lambda _: run(ledger, identity)).done
