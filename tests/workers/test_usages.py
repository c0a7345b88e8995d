"""What calls of models cost."""

from __future__ import annotations

from datetime import date

import pytest

from extract.chat.errand import Errand
from extract.chat.model import CallRecord, Usage
from tests.workers.conftest import Clock, upload
from workers.bookkeeping import bookkeeper, paid_call
from workers.ledger.ledger import Ledger
from workers.model import Stage
from workers.usage import PaidCall, Prices, Spent, UsageFilter

DAY_S = 86_400


def enter(ledger: Ledger, document: str | None = None, **changes: object) -> None:
    values = {
        "tenant": "acme", "document_id": document, "stage": "extract", "model": "m", "outcome": "ok",
        "prompt_tokens": 100, "completion_tokens": 10, "price_micro": 250, **changes,
    }  # fmt: skip
    ledger.usages.enter(PaidCall.model_validate(values))


def test_a_documents_calls_are_added_up_by_kind(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    enter(ledger, identity)
    enter(ledger, identity, outcome="cached", prompt_tokens=0, completion_tokens=0, price_micro=0)
    enter(ledger, identity, outcome="llm_unavailable", completion_tokens=0, price_micro=0)
    enter(ledger, identity, outcome="refused", prompt_tokens=0, completion_tokens=0, price_micro=0)
    spent = ledger.usages.of_document(identity)
    assert spent == Spent(calls=3, cached=1, failed=1, prompt_tokens=200, completion_tokens=10, price=0.00025)
    assert spent.tokens == 210
    assert ledger.usages.of_documents([identity, "x"]) == {identity: spent}
    assert ledger.usages.of_document("x") == Spent()


def test_a_batch_pays_for_what_came_in_through_it_inner_files_included(ledger: Ledger) -> None:
    first, second = ledger.batches.create("acme"), ledger.batches.create("acme")
    parent = ledger.documents.accept(upload("a"), batch_id=first).document.id
    child = ledger.documents.accept(upload("b"), parent=(parent, "1")).document.id
    ledger.documents.accept(upload("a"), batch_id=second)  # a copy: nothing is done for it
    enter(ledger, parent)
    enter(ledger, child)
    assert ledger.usages.of_batch(first).calls == 2
    assert ledger.usages.of_batch(second) == Spent()


def test_days_models_and_stages_are_told_apart_and_tenants_kept_apart(ledger: Ledger, clock: Clock) -> None:
    enter(ledger)
    clock.forward(DAY_S)
    enter(ledger, model="n")
    enter(ledger, stage="search")
    enter(ledger, stage="search")
    enter(ledger, tenant="other")
    rows = ledger.usages.table(UsageFilter(tenant="acme"))
    assert [(row.day, row.model, row.stage, row.calls) for row in rows] == [
        (date(2026, 3, 2), "m", "search", 2),
        (date(2026, 3, 2), "n", "extract", 1),
        (date(2026, 3, 1), "m", "extract", 1),
    ]
    assert ledger.usages.of_today("acme").calls == 3
    assert ledger.usages.of_days(UsageFilter(tenant="acme", last=date(2026, 3, 1))).calls == 1
    assert ledger.usages.of_days(UsageFilter(tenant="acme")).price == pytest.approx(0.001)


def test_a_user_sees_what_was_spent_on_that_users_documents(ledger: Ledger) -> None:
    enter(ledger, ledger.documents.accept(upload("a")).document.id)
    enter(ledger)
    assert ledger.usages.of_days(UsageFilter(tenant="acme", user_id="anna")).calls == 1
    assert ledger.usages.of_days(UsageFilter(tenant="acme", user_id="ben")).calls == 0


def test_what_was_spent_stays_known_when_the_document_goes(ledger: Ledger) -> None:
    identity = ledger.documents.accept(upload("a")).document.id
    enter(ledger, identity)
    ledger.documents.mark_deleting("acme", identity)
    lease = ledger.stages.claim(identity, Stage.DELETE)
    assert lease is not None
    ledger.stages.remove(lease)
    assert ledger.usages.of_today("acme").calls == 1


def record(usage: Usage, outcome: str = "ok") -> CallRecord:
    return CallRecord("m", usage, 1.23456, outcome, 2, Errand("acme", "d", "extract"))


def test_a_call_is_priced_in_millionths() -> None:
    call = paid_call(record(Usage(prompt_tokens=1000, completion_tokens=200)), Prices(0.15, 0.6))
    assert call.price_micro == 150 + 120
    assert (call.tenant, call.document_id, call.stage, call.attempt) == ("acme", "d", "extract", 2)
    assert not call.estimated


def test_a_call_that_cannot_be_entered_is_logged_and_its_answer_not_lost(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    with ledger.database.write() as session:
        session.connection().exec_driver_sql("DROP TABLE model_calls")
    bookkeeper(ledger.usages, Prices())(record(Usage(prompt_tokens=7)))
    assert '"prompt_tokens":7' in caplog.text
