"""Handing in a new version of a file: the old one answers until the switch, and afterwards for its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from retrieval.errors import StoreUnavailable
from tests.api.conftest import KeyMaker
from tests.api.test_api import ask, is_problem, upload
from tests.api.test_items import get
from tests.workers.parts import drain
from workers.doctor import examine
from workers.model import Stage
from workers.run import run_stage
from workers.services import Services

OLD, NEW = "The rent is 900 euros.", "The rent is 950 euros."


def told(client: FlaskClient, headers: dict[str, str], **more: Any) -> list[str]:
    answer = ask(client, headers, **more).json
    return sorted(one["atomic_fact"] for one in answer["facts"])


def hand_in(
    client: FlaskClient, headers: dict[str, str], services: Services, text: str, **form: Any
) -> dict[str, Any]:
    answer = upload(client, headers, text, name="rent.txt", **form)
    assert answer.status_code == 202
    drain(services)
    (document,) = answer.json["documents"]
    shown = client.get(f"/api/v1/documents/{document['document_id']}", headers=headers).json
    return dict(shown)


def test_the_new_version_takes_over_and_the_old_one_answers_for_its_time(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    old = hand_in(client, headers, services, OLD)
    between = services.ledger.database.now().isoformat()
    new = hand_in(client, headers, services, NEW, replace="true")
    assert told(client, headers) == [NEW]
    assert told(client, headers, as_of=between) == [OLD]
    assert services.ledger.documents.hidden_ids("acme") == []
    shown = client.get(f"/api/v1/documents/{old['id']}", headers=headers).json
    assert (shown["status"], shown["superseded_by"]) == ("ready", new["id"])
    listed = get(client, headers, memory_type="atomic_fact", filters={"user_id": "ana"}).json["facts"]
    assert [one["atomic_fact"] for one in listed] == [NEW]
    assert examine(services).findings == ()


def test_without_the_word_both_stay(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    hand_in(client, headers, services, OLD)
    hand_in(client, headers, services, NEW)
    assert told(client, headers) == [OLD, NEW]
    hand_in(client, headers, services, NEW, replace="yes")
    assert told(client, headers) == [NEW]
    is_problem(upload(client, headers, NEW, replace="perhaps"), 422, "invalid_request")


def test_going_back_to_an_earlier_version(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    for text in (OLD, NEW, OLD):
        hand_in(client, headers, services, text, replace="true")
        assert told(client, headers) == [text]
    again = hand_in(client, headers, services, OLD, replace="true")
    assert told(client, headers) == [OLD]
    assert again["superseded_by"] is None
    assert examine(services).findings == ()


def test_others_keep_their_files_of_the_same_name(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    hand_in(client, headers, services, OLD, user_id="ben")
    hand_in(client, headers, services, OLD, session_id="s1")
    hand_in(client, key(tenant="foe"), services, OLD)
    hand_in(client, headers, services, NEW, replace="true")
    assert told(client, headers) == [OLD, NEW]
    assert told(client, headers, filters={"user_id": "ben"}) == [OLD]
    assert told(client, key(tenant="foe")) == [OLD]


@pytest.mark.parametrize("step", ["supersede", "hold_from"])
def test_a_switch_that_breaks_off_is_finished(
    client: FlaskClient, key: KeyMaker, services: Services, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = key()
    hand_in(client, headers, services, OLD)
    upload(client, headers, NEW, name="rent.txt", replace="true")
    asked: list[list[str]] = []

    def breaks(*_: object) -> None:
        asked.append(told(client, headers))
        raise StoreUnavailable

    real = getattr(services.store, step)
    monkeypatch.setattr(services.store, step, breaks)
    while entries := services.ledger.outbox.take(9):
        for entry in entries:
            if entry.stage is Stage.PARSE:
                assert told(client, headers) == [OLD]
            run_stage(services, entry.stage, entry.document_id)
    # From the moment of the switch on the new one answers, although the store does not know yet.
    assert asked == [[NEW]]
    assert told(client, headers) == [NEW]
    monkeypatch.setattr(services.store, step, real)
    (waiting,) = services.ledger.outbox.waiting()
    later = replace(services, ledger=services.ledger)
    now = services.ledger.database.now
    monkeypatch.setattr(services.ledger.database, "now", lambda: max(now(), waiting.available_at))
    drain(later)
    assert services.ledger.documents.hidden_ids("acme") == []
    assert told(client, headers) == [NEW]


def test_a_replaced_file_that_is_read_anew_stays_in_the_shade(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    old = hand_in(client, headers, services, OLD)
    hand_in(client, headers, services, NEW, replace="true")
    services.ledger.documents.requeue("acme", old["id"], from_start=True)
    assert told(client, headers) == [NEW]
    drain(services)
    assert told(client, headers) == [NEW]
    client.delete(f"/api/v1/documents/{old['id']}", headers=headers)
    drain(services)
    assert told(client, headers) == [NEW]
    assert examine(services).findings == ()
