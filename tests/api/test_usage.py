"""What a tenant has spent, as it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api.cli.files import show_batch, usage_line
from extract.chat.limiter import Unlimited
from tests.api.conftest import KeyMaker
from tests.fault_server import Fault, FaultServer, serving
from tests.workers.parts import ANNA, drain, hand_in
from workers.bookkeeping import bookkeeper
from workers.budget import BudgetedLimiter, BudgetGuard
from workers.services import Services
from workers.settings import Settings
from workers.usage import Prices
from workers.writer import make_chat, make_extractor


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


@pytest.fixture
def paying(services: Services, server: FaultServer, tmp_path: Path) -> Services:
    """The services with a model that costs 10 per million tokens in and 20 out."""
    llm = {
        "base_url": server.url,
        "model": "m",
        "tries": 3,
        "price_in": 10,
        "price_out": 20,
        "concurrency": 1,
    }
    settings = Settings.model_validate({"strata_home": tmp_path, "llm": llm})
    on_call = bookkeeper(services.ledger.usages, Prices(settings.llm.price_in, settings.llm.price_out))
    chat = make_chat(settings, on_call=on_call)
    assert chat is not None
    return replace(services, settings=settings, extractor=make_extractor(settings, chat, on_call), chat=chat)


def test_documents_batches_and_days_show_what_they_cost(
    services: Services, paying: Services, client: FlaskClient, key: KeyMaker, server: FaultServer
) -> None:
    server.script = [Fault(503, {"message": "overloaded"}, {"retry-after-ms": "1"})]
    batch = services.ledger.batches.create("acme")
    text = "\n".join(f"Room {number} costs {number * 100} euros a month." for number in range(1, 7))
    body = {"files": (BytesIO(text.encode()), "a.txt"), "user_id": "anna", "batch_id": batch}
    given = client.post("/api/v1/documents", data=body, headers=key()).json["documents"][0]
    drain(paying)
    shown = client.get(f"/api/v1/documents/{given['document_id']}", headers=key()).json
    assert shown["usage"] == {
        "calls": 7, "cached": 0, "failed": 1, "prompt_tokens": 600, "completion_tokens": 300, "price": 0.012,
    }  # fmt: skip
    status = client.get(f"/api/v1/batches/{batch}", headers=key()).json
    assert status["usage"] == shown["usage"]
    assert status["documents"][0]["tokens"] == 900
    usage = client.get("/api/v1/usage", headers=key()).json
    assert [(row["model"], row["stage"], row["calls"]) for row in usage["rows"]] == [("m", "extract", 7)]
    numbers = client.get("/api/v1/status", headers=key()).json["usage"]
    assert usage["total"] == shown["usage"] == numbers["today"] == numbers["total"]


def test_the_same_text_again_is_not_paid_for(
    paying: Services, client: FlaskClient, key: KeyMaker, server: FaultServer
) -> None:
    hand_in(paying, "Rent is 900 euros.")
    drain(paying)
    again = hand_in(paying, "Rent is 900 euros.", owner=ANNA.model_copy(update={"user_id": "ben"}))
    drain(paying)
    usage = client.get(f"/api/v1/documents/{again.document.id}", headers=key()).json["usage"]
    assert (usage["calls"], usage["cached"], usage["price"]) == (0, 1, 0)
    assert len(server.calls) == 1
    narrowed = client.get("/api/v1/usage", headers=key(user_id="ben")).json["total"]
    assert (narrowed["calls"], narrowed["cached"]) == (0, 1)
    assert client.get("/api/v1/usage", headers=key(tenant="other")).json["rows"] == []


def test_days_out_of_order_are_refused(client: FlaskClient, key: KeyMaker) -> None:
    asked = "/api/v1/usage?first=2026-03-02&last=2026-03-01"
    assert client.get(asked, headers=key()).status_code == 422
    assert client.get("/api/v1/usage?last=yesterday", headers=key()).status_code == 422


def test_the_command_line_tells_it_in_one_line() -> None:
    spent = {
        "calls": 12, "cached": 3, "failed": 1, "prompt_tokens": 12345, "completion_tokens": 678, "price": 0.5,
    }  # fmt: skip
    assert usage_line(spent) == (
        "12 model calls (3 more cached, 1 failed), 12,345 tokens in, 678 out, price 0.5"
    )
    assert usage_line({**spent, "calls": 0, "cached": 0}) == ""


def test_a_batch_waits_for_its_budget_and_goes_on_when_it_is_raised(
    services: Services, paying: Services, client: FlaskClient, key: KeyMaker, server: FaultServer
) -> None:
    check = BudgetGuard(services.ledger, paying.settings.budget).check
    on_call = bookkeeper(services.ledger.usages, Prices(10, 20))
    chat = make_chat(paying.settings, BudgetedLimiter(Unlimited(), check), on_call)
    poor = replace(paying, extractor=make_extractor(paying.settings, chat, on_call))
    text = "\n".join(f"Room {number} costs {number * 100} euros a month." for number in range(1, 7))
    body = {"files": (BytesIO(text.encode()), "a.txt"), "user_id": "anna", "budget": "0.004"}
    given = client.post("/api/v1/documents", data=body, headers=key()).json
    drain(poor)
    place = f"/api/v1/batches/{given['batch_id']}"
    status = client.get(place, headers=key()).json
    assert (status["waits_for"], status["done"]) == ({"budget_batch": 1}, False)
    assert status["budget"] == {"price": 0.004, "tokens": 0}
    (row,) = status["documents"]
    assert (row["error"], row["waiting"]["code"]) == (None, "budget_batch")
    document = client.get(f"/api/v1/documents/{row['document_id']}", headers=key()).json
    assert document["error"] is None
    assert document["waiting"]["detail"] == "The budget of the batch is used up (0.004 of 0.004)."
    raising = {"budget": 1}
    assert client.put(f"{place}/budget", json=raising, headers=key(user_id="ben")).status_code == 404
    assert client.put(f"{place}/budget", json=raising, headers=key(tenant="other")).status_code == 404
    assert client.put(f"{place}/budget", json={"budget": -1}, headers=key()).status_code == 422
    assert client.put(f"{place}/budget", json=raising, headers=key("read")).status_code == 403
    assert client.put(f"{place}/budget", json=raising, headers=key()).json["budget"]["price"] == 1
    assert BudgetGuard(services.ledger, paying.settings.budget).release() == 1
    drain(poor)
    assert client.get(place, headers=key()).json["counts"] == {"ready": 1}
    assert len(server.calls) == 6


@pytest.mark.parametrize("changes", [{"budget": "much"}, {"budget": "-1"}, {"budget": "1", "batch_id": "x"}])
def test_a_budget_that_cannot_be_set_is_refused(
    client: FlaskClient, key: KeyMaker, changes: dict[str, str]
) -> None:
    body = {"files": (BytesIO(b"a"), "a.txt"), "user_id": "anna", **changes}
    answer = client.post("/api/v1/documents", data=body, headers=key())
    assert answer.status_code in (400, 422)
    assert "budget" in answer.json["detail"]


def test_the_command_line_tells_what_a_batch_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = {"code": "budget_batch", "detail": "It is used up.", "next_step": "Raise it.", "until": None}
    row = {"filename": "a.txt", "duplicate_of": None, "error": None, "waiting": waiting}
    none = {"calls": 0, "cached": 0, "failed": 0, "prompt_tokens": 0, "completion_tokens": 0, "price": 0}
    state = {
        "total": 1, "counts": {"extracting": 1}, "waits_for": {"budget_batch": 1}, "usage": none,
        "documents": [row],
    }  # fmt: skip
    show_batch(state)
    assert "1 wait (budget_batch): It is used up. Raise it." in capsys.readouterr().out


def test_the_command_line_tells_that_a_service_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    away = {"code": "llm_unavailable", "detail": "No answer.", "next_step": "Start it.", "until": None}
    rows = [
        {"filename": name, "duplicate_of": None, "error": None, "waiting": waiting}
        for name, waiting in (("a.txt", away), ("b.txt", away), ("c.txt", None))
    ]
    none = {"calls": 0, "cached": 0, "failed": 0, "prompt_tokens": 0, "completion_tokens": 0, "price": 0}
    show_batch({"total": 3, "counts": {"extracting": 3}, "waits_for": {}, "usage": none, "documents": rows})
    assert "2 wait (llm_unavailable): No answer. Start it." in capsys.readouterr().out
