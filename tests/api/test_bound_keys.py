"""A key bound to a user or group sees, counts and fills that memory alone."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.conftest import KeyMaker
from tests.api.test_api import ask, is_problem, upload
from tests.workers.parts import drain
from workers.services import Services

MESSAGE = {"sender_id": "ana", "timestamp": "2026-03-01T13:10:00+01:00", "content": "The flat costs 900."}


def told(response: Any) -> Any:
    return response.json


def listed(client: FlaskClient, headers: dict[str, str]) -> int:
    return len(told(client.get("/api/v1/documents", headers=headers))["documents"])


@pytest.mark.parametrize(
    ("bound", "named"),
    [
        ({"user_id": "ana"}, {"user_id": "ana", "group_id": "team"}),
        ({"user_id": "ana"}, {"group_id": "team"}),
        ({"group_id": "team"}, {"group_id": "team", "user_id": "ben"}),
        ({"group_id": "team"}, {"user_id": "ben"}),
    ],
)
def test_it_adds_to_no_other_memory(
    client: FlaskClient, key: KeyMaker, bound: dict[str, str], named: dict[str, str]
) -> None:
    headers = key(**bound)
    owner = {"user_id": "", **named}
    problem = upload(client, headers, "The rent is 900 euros.", **owner)
    is_problem(problem, 403, "forbidden")
    assert "bound to both" in problem.json["next_step"]
    said = client.post("/api/v1/memories", json={**named, "messages": [MESSAGE]}, headers=headers)
    is_problem(said, 403, "forbidden")
    assert listed(client, key()) == 0


def test_it_adds_to_its_own_without_being_told_whose(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    both = key(user_id="ana", group_id="team")
    assert upload(client, both, "The rent is 900 euros.", user_id="", group_id="team").status_code == 202
    drain(services)
    (document,) = told(client.get("/api/v1/documents", headers=both))["documents"]
    assert (document["user_id"], document["group_id"]) == ("ana", "team")


def test_it_fills_no_batch_of_others(client: FlaskClient, key: KeyMaker) -> None:
    ana, ben = key(user_id="ana"), key(user_id="ben")
    batch = upload(client, ana, "The rent is 900 euros.", user_id="ana").json["batch_id"]
    is_problem(upload(client, ben, "Mine.", user_id="ben", batch_id=batch), 404, "not_found")
    assert listed(client, ben) == 0
    assert told(client.get(f"/api/v1/batches/{batch}", headers=ana))["total"] == 1
    assert upload(client, ana, "More.", user_id="ana", batch_id=batch).status_code == 202


def test_status_counts_its_own(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    upload(client, key(), "The rent is 900 euros.", user_id="ana")
    upload(client, key(), "The train leaves at nine. It is late.", user_id="ben")
    drain(services)

    def numbers(**bound: str) -> tuple[Any, Any, Any]:
        state = told(client.get("/api/v1/status", headers=key(**bound)))
        return state["documents"].get("ready", 0), state["size_bytes"], state["memory"]

    whole, ana, ben = numbers(), numbers(user_id="ana"), numbers(user_id="ben")
    assert (whole[0], ana[0], ben[0]) == (2, 1, 1)
    assert ana[1] == len("The rent is 900 euros.")
    assert whole[2] == {name: ana[2][name] + ben[2][name] for name in whole[2]}
    assert numbers(group_id="team")[0] == 0


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": {"in": ["ben"]}},
        {"user_id": {"in": ["ana", "ben"]}},
        {"user_id": {"eq": "ben"}},
        {"OR": [{"user_id": "ben"}, {"language": "en"}]},
        {"AND": [{"user_id": {"in": ["ben", "cleo"]}}]},
    ],
)
def test_asking_for_others_is_refused_wherever_it_stands(
    client: FlaskClient, key: KeyMaker, filters: dict[str, Any]
) -> None:
    is_problem(ask(client, key(user_id="ana"), filters=filters), 403, "forbidden")


def test_naming_itself_and_leaving_out_others_is_answered(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key(user_id="ana")
    upload(client, headers, "The rent is 900 euros.", user_id="ana")
    drain(services)
    for filters in ({"user_id": {"in": ["ana"]}}, {"NOT": {"user_id": "ben"}}):
        answer = ask(client, headers, filters=filters)
        assert [one["atomic_fact"] for one in answer.json["facts"]] == ["The rent is 900 euros."]


def test_no_kind_of_memory_is_no_question(client: FlaskClient, key: KeyMaker) -> None:
    problem = ask(client, key(), memory_types=[])
    is_problem(problem, 422, "invalid_request")
    assert "memory_types" in problem.json["detail"]


def test_an_unknown_key_is_told_apart_from_a_missing_one(client: FlaskClient) -> None:
    missing = client.get("/api/v1/status")
    wrong = client.get("/api/v1/status", headers={"Authorization": "Bearer wrong"})
    assert (missing.status_code, wrong.status_code) == (401, 401)
    assert missing.json["detail"] == "This call needs an API key."
    assert wrong.json["detail"] == "This API key is not known, or was revoked."
