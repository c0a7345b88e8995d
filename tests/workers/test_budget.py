"""Work that waits for a budget: visible, without loss, and going on by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from extract.chat.errand import Errand
from tests.fault_server import Fault, FaultServer, serving
from tests.workers.conftest import Clock
from tests.workers.parts import drain, hand_in, make_services
from workers.bookkeeping import bookkeeper
from workers.budget import BudgetedLimiter, BudgetGuard
from workers.errors import BudgetUsedUp, NotFound
from workers.ledger.batches import add_item
from workers.ledger.ledger import Ledger
from workers.model import DocumentRecord, State
from workers.services import Services
from workers.settings import Settings
from workers.usage import Budget, PaidCall, Prices
from workers.writer import make_chat, make_extractor, make_limiter

LINES = [f"Room {number} costs {number * 100} euros a month." for number in range(1, 7)]
TEXT = "\n".join(LINES)
CALL = 150  # tokens of a call of the fault server, in and out; its price is 1 a million


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    made = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}", clock=clock)
    made.migrate()
    yield made
    made.close()


Spending = Callable[..., Services]


@pytest.fixture
def spending(ledger: Ledger, server: FaultServer, tmp_path: Path) -> Spending:
    """Return services with a model and these budgets of the settings."""

    def make(**budget: object) -> Services:
        llm = {
            "base_url": server.url,
            "model": "m",
            "concurrency": 1,
            "price_in": 1,
            "price_out": 1,
            "tries": 1,
        }
        settings = Settings.model_validate({"strata_home": tmp_path, "llm": llm, "budget": budget})
        note = bookkeeper(ledger.usages, Prices(1, 1))
        check = BudgetGuard(ledger, settings.budget).check
        chat = make_chat(settings, BudgetedLimiter(make_limiter(settings), check), note)
        extractor = make_extractor(settings, chat, note)
        made = make_services(ledger, tmp_path, extractor=extractor, chat=chat)
        return replace(made, settings=settings)

    return make


def shown(services: Services, identity: str) -> DocumentRecord:
    return services.ledger.documents.get("acme", identity)


def guard(services: Services) -> BudgetGuard:
    return BudgetGuard(services.ledger, services.settings.budget)


def accept(services: Services, text: str = TEXT) -> str:
    return hand_in(services, text, stored_at=services.ledger.database.now()).document.id


def test_a_used_up_day_makes_the_stage_wait_and_a_new_day_lets_it_go_on(
    spending: Spending, clock: Clock, server: FaultServer
) -> None:
    services = spending(tenant_tokens_per_day=2 * CALL)
    identity = accept(services)
    drain(services)
    waiting = shown(services, identity)
    assert (waiting.state, waiting.waits_for, waiting.running) == (State.EXTRACTING, "budget_day", False)
    assert waiting.error is not None
    assert waiting.error.detail == "The budget of the day is used up (300 of 300 tokens)."
    assert "00:00 UTC" in waiting.error.next_step
    assert waiting.retry_at is not None
    assert waiting.retry_at >= datetime(2026, 3, 2, tzinfo=UTC)
    assert (waiting.attempts, len(server.calls)) == (0, 2)
    assert guard(services).release() == 0
    clock.forward(12 * 3600 + 60)
    drain(services)
    assert shown(services, identity).waits_for == "budget_day"  # the next day's is used up too
    assert len(server.calls) == 4
    clock.forward(24 * 3600)
    drain(services)
    ready = shown(services, identity)
    assert (ready.state, ready.waits_for, ready.error, ready.counts.facts) == (State.READY, None, None, 6)
    assert max(server.by_content.values()) == 1


def test_a_raised_budget_of_the_day_lets_it_go_on_at_once(spending: Spending, server: FaultServer) -> None:
    services = spending(tenant_per_day=2 * CALL / 10**6)
    identity = accept(services)
    drain(services)
    assert shown(services, identity).waits_for == "budget_day"
    raised = spending(tenant_per_day=100)
    assert guard(raised).release() == 1
    drain(raised)
    assert shown(raised, identity).state is State.READY
    assert len(server.calls) == len(LINES)


def test_a_batch_keeps_to_its_own_budget_until_that_is_raised(
    spending: Spending, server: FaultServer
) -> None:
    services = spending(per_batch=1000)
    ledger = services.ledger
    batch = ledger.batches.create("acme", Budget(tokens=2 * CALL))
    other = ledger.batches.create("acme")
    identities = [
        hand_in_batch(services, text, into) for text, into in ((TEXT, batch), ("Other text.", other))
    ]
    drain(services)
    assert [shown(services, one).state for one in identities] == [State.EXTRACTING, State.READY]
    status = ledger.batches.status("acme", batch)
    assert (status.waits_for, status.waiting, status.done) == ({"budget_batch": 1}, 1, False)
    error = shown(services, identities[0]).error
    assert error is not None
    assert f"/api/v1/batches/{batch}/budget" in error.next_step
    assert guard(services).release() == 0
    ledger.budgets.set("acme", batch, Budget(tokens=100 * CALL))
    assert guard(services).release() == 1
    drain(services)
    assert shown(services, identities[0]).state is State.READY
    assert len(server.calls) == len(LINES) + 1


def hand_in_batch(services: Services, text: str, batch: str) -> str:
    given = hand_in(services, text, stored_at=services.ledger.database.now())
    with services.ledger.database.write() as session:
        add_item(session, batch, "acme", "a.txt", given.document.id, None)
    return given.document.id


def test_answers_that_are_there_need_no_budget(spending: Spending, server: FaultServer) -> None:
    services = spending()
    accept(services)
    drain(services)
    poor = spending(tenant_tokens_per_day=1)
    again = hand_in(poor, TEXT + "\n", stored_at=poor.ledger.database.now()).document.id
    drain(poor)
    assert shown(poor, again).state is State.READY
    assert len(server.calls) == len(LINES)


def test_a_waiting_document_can_be_cancelled_and_run_again(spending: Spending) -> None:
    services = spending(tenant_tokens_per_day=CALL)
    identity = accept(services)
    drain(services)
    services.ledger.documents.cancel("acme", identity)
    assert shown(services, identity).waits_for is None
    assert guard(spending()).release() == 0
    services.ledger.documents.requeue("acme", identity)
    drain(spending())
    assert shown(services, identity).state is State.READY


def test_a_provider_that_is_busy_is_waited_for_and_counts_no_attempt(
    spending: Spending, clock: Clock, server: FaultServer
) -> None:
    services = spending()
    busy = Fault(429, {"message": "Rate limit reached"}, {"retry-after": "600"})
    server.script = [busy]
    identity = accept(services)
    drain(services)
    waiting = shown(services, identity)
    assert (waiting.waits_for, waiting.attempts) == ("llm_rate_limited", 0)
    assert waiting.retry_at is not None
    assert 600 <= (waiting.retry_at - clock()).total_seconds() <= 700


def test_questions_are_never_kept_waiting_and_strangers_set_no_budget(spending: Spending) -> None:
    services = spending(tenant_tokens_per_day=1)
    services.ledger.usages.enter(
        PaidCall(tenant="acme", document_id=None, stage="search", model="m", outcome="ok", prompt_tokens=9)
    )
    guard(services).check(Errand("acme", stage="search"))
    with pytest.raises(BudgetUsedUp):
        guard(services).check(Errand("acme", stage="extract"))
    batch = services.ledger.batches.create("acme")
    with pytest.raises(NotFound):
        services.ledger.budgets.set("other", batch, Budget())
    with pytest.raises(NotFound):
        services.ledger.budgets.of_batch("other", batch)
