"""The HTTP contract: keys, uploads, batches, search, problems."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.conftest import KeyMaker
from tests.workers.parts import drain
from workers.services import Services

DOCUMENTS = "/api/v1/documents"
SEARCH = "/api/v1/memories/search"


def upload(
    client: FlaskClient, headers: dict[str, str], text: str = "Rent is 900 euros.", **form: Any
) -> Any:
    data = {"files": (io.BytesIO(text.encode()), form.pop("name", "a.txt")), "user_id": "ana", **form}
    return client.post(DOCUMENTS, headers=headers, data={k: v for k, v in data.items() if v is not None})


def ask(client: FlaskClient, headers: dict[str, str], **body: Any) -> Any:
    return client.post(SEARCH, headers=headers, json={"query": "rent", "filters": {"user_id": "ana"}, **body})


def is_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.content_type == "application/problem+json"
    body: dict[str, Any] = response.json
    assert body["code"] == code
    assert body["status"] == status
    assert {"type", "title", "detail", "instance", "request_id"} <= set(body)
    return body


def test_a_file_is_followed_from_upload_to_answer(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    accepted = upload(client, headers)
    assert accepted.status_code == 202
    batch = accepted.json["batch_id"]
    assert accepted.headers["Location"].endswith(f"/api/v1/batches/{batch}")
    assert accepted.json["documents"][0]["status"] == "queued"
    drain(services)
    state = client.get(f"/api/v1/batches/{batch}", headers=headers).json
    assert state["done"] is True
    assert state["counts"] == {"ready": 1}
    document = client.get(f"{DOCUMENTS}/{state['documents'][0]['document_id']}", headers=headers).json
    assert (document["status"], document["facts"]) == ("ready", 1)
    assert ask(client, headers).json["facts"][0]["quote"] == "Rent is 900 euros."


@pytest.mark.parametrize("part", ["elements", "episodes", "facts", "content"])
def test_what_came_of_a_document_can_be_looked_at(
    client: FlaskClient, key: KeyMaker, services: Services, part: str
) -> None:
    headers = key()
    identity = upload(client, headers).json["documents"][0]["document_id"]
    drain(services)
    found = client.get(f"{DOCUMENTS}/{identity}/{part}", headers=headers)
    assert found.status_code == 200
    assert "Rent is 900 euros." in found.text
    is_problem(client.get(f"{DOCUMENTS}/{identity}/{part}", headers=key(tenant="other")), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", DOCUMENTS),
        ("GET", DOCUMENTS),
        ("POST", SEARCH),
        ("GET", "/api/v1/batches/x"),
        ("GET", "/api/v1/status"),
    ],
)
def test_without_a_key_nothing_is_served(client: FlaskClient, method: str, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer strata_wrong"}, {"X-API-Key": "wrong"}):
        kwargs = {"json": {"query": "x"}} if path == SEARCH else {}
        response = client.open(path, method=method, headers=headers, **kwargs)
        is_problem(response, 401, "unauthorized")
        assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_reading_key_cannot_write(client: FlaskClient, key: KeyMaker) -> None:
    is_problem(upload(client, key("read")), 403, "forbidden")


def test_a_bound_key_reaches_its_owner_only(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    admin, bound = key(), key(user_id="bob")
    upload(client, admin)
    drain(services)
    is_problem(upload(client, bound), 403, "forbidden")
    mine = upload(client, bound, user_id=None, text="Bob's rent is 700 euros.")
    assert mine.status_code == 202
    drain(services)
    found = client.post(SEARCH, headers=bound, json={"query": "rent"}).json
    assert [fact["quote"] for fact in found["facts"]] == ["Bob's rent is 700 euros."]
    is_problem(ask(client, bound), 403, "forbidden")
    owners = {one["user_id"] for one in client.get(DOCUMENTS, headers=bound).json["documents"]}
    assert owners == {"bob"}


def test_tenants_do_not_see_each_other(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    ours, theirs = key(tenant="a"), key(tenant="b")
    batch = upload(client, ours).json["batch_id"]
    drain(services)
    assert ask(client, ours).json["facts"]
    for method in ("keyword", "vector", "hybrid"):
        answer = ask(client, theirs, method=method).json
        assert answer["facts"] == answer["episodes"] == []
    is_problem(client.get(f"/api/v1/batches/{batch}", headers=theirs), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "code", "named"),
    [
        ({"filters": {}}, "invalid_query", "user_id"),
        ({"filters": {"OR": [{"user_id": "ana"}, {"topic": "x"}]}}, "invalid_query", "user_id"),
        ({"filters": {"user_id": "ana", "colour": "red"}}, "invalid_query", "colour"),
        ({"filters": {"user_id": "ana", "topic": {"like": "x"}}}, "invalid_query", "like"),
        ({"top_k": 0}, "invalid_request", "top_k"),
        ({"query": ""}, "invalid_request", "query"),
        ({"method": "magic"}, "invalid_request", "method"),
        ({"colour": "red"}, "invalid_request", "colour"),
    ],
)
def test_what_is_wrong_with_a_search_is_named(
    client: FlaskClient, key: KeyMaker, body: dict[str, Any], code: str, named: str
) -> None:
    assert named in is_problem(ask(client, key(), **body), 422, code)["detail"]


def test_an_upload_needs_files_an_owner_and_sound_metadata(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    is_problem(client.post(DOCUMENTS, headers=headers, data={"user_id": "ana"}), 422, "invalid_request")
    is_problem(upload(client, headers, user_id=None), 422, "invalid_request")
    is_problem(upload(client, headers, metadata="{"), 422, "invalid_request")
    is_problem(upload(client, headers, metadata="[1]"), 422, "invalid_request")
    is_problem(upload(client, headers, batch_id="nobody's"), 404, "not_found")


def test_a_repeated_upload_is_answered_the_same(client: FlaskClient, key: KeyMaker) -> None:
    headers = {**key(), "Idempotency-Key": "k1"}
    first, again = upload(client, headers), upload(client, headers)
    assert (again.status_code, again.json) == (first.status_code, first.json)
    is_problem(upload(client, headers, text="Something else."), 422, "key_reused")
    fresh = upload(client, {**headers, "Idempotency-Key": "k2"})
    assert fresh.json["documents"][0]["duplicate_of"] == first.json["documents"][0]["document_id"]


def test_a_document_can_be_cancelled_and_run_again(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    identity = upload(client, headers).json["documents"][0]["document_id"]
    assert client.post(f"{DOCUMENTS}/{identity}/cancel", headers=headers).json["status"] == "cancelled"
    is_problem(client.post(f"{DOCUMENTS}/{identity}/cancel", headers=headers), 409, "state_conflict")
    assert client.post(f"{DOCUMENTS}/{identity}/retry", headers=headers).status_code == 202
    drain(services)
    assert client.get(f"{DOCUMENTS}/{identity}", headers=headers).json["status"] == "ready"


def test_a_deleted_document_is_hidden_at_once_and_gone_later(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    identity = upload(client, headers).json["documents"][0]["document_id"]
    drain(services)
    assert client.delete(f"{DOCUMENTS}/{identity}", headers=headers).json["status"] == "deleting"
    for method in ("keyword", "vector", "hybrid"):
        answer = ask(client, headers, method=method).json
        assert answer["facts"] == answer["episodes"] == []
    drain(services)
    is_problem(client.get(f"{DOCUMENTS}/{identity}", headers=headers), 404, "not_found")


def test_pages_follow_each_other_without_gaps(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    handed_in = {
        upload(client, headers, text=f"Note {n}.").json["documents"][0]["document_id"] for n in range(7)
    }
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": 3, **({"cursor": cursor} if cursor else {})}
        page = client.get(DOCUMENTS, headers=headers, query_string=query).json
        seen += [one["id"] for one in page["documents"]]
        cursor = page["cursor"]
        if not page["has_more"]:
            break
    assert len(seen) == len(set(seen)) == 7
    assert set(seen) == handed_in
    is_problem(client.get(DOCUMENTS, headers=headers, query_string={"cursor": "x"}), 422, "bad_cursor")


def test_health_and_the_openapi_document(client: FlaskClient) -> None:
    assert client.get("/healthz").json == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert set(ready.json["checks"]) == {"ledger", "store", "broker"}
    spec = client.get("/openapi.json").json
    assert spec["openapi"].startswith("3.1")
    assert {DOCUMENTS, SEARCH, "/api/v1/batches/{batch_id}"} <= set(spec["paths"])
    fields = spec["components"]["schemas"]["SearchResponse"]["properties"]
    assert {"episodes", "facts", "profiles", "raw_messages", "agent_memory", "query"} <= set(fields)


def test_unknown_paths_and_request_ids(client: FlaskClient) -> None:
    response = client.get("/nowhere", headers={"X-Request-ID": "abc-1"})
    assert is_problem(response, 404, "not_found")["request_id"] == "abc-1"
    assert response.headers["X-Request-ID"] == "abc-1"
    forged = client.get("/healthz", headers={"X-Request-ID": "a b"})
    assert forged.headers["X-Request-ID"] != "a b"


def test_too_much_at_once_is_refused(client: FlaskClient, key: KeyMaker) -> None:
    client.application.config["MAX_CONTENT_LENGTH"] = 1000
    is_problem(upload(client, key(), text="x" * 5000), 413, "too_large")


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"NOT":' * 1200, b'{"query": "rent"', b"", "é".encode("latin-1")]
)
def test_a_body_that_is_no_json_is_said_to_be_none(client: FlaskClient, key: KeyMaker, body: bytes) -> None:
    headers = {**key(), "Content-Type": "application/json"}
    assert is_problem(client.post(SEARCH, headers=headers, data=body), 400, "bad_request")["next_step"]


def test_the_key_comes_before_the_body(client: FlaskClient) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"{}", b"[" * 100_000):
        is_problem(client.post(SEARCH, headers=headers, data=body), 401, "unauthorized")


@pytest.mark.parametrize("query", ["   ", "!!! ??? ---", "。"])
def test_a_question_says_something(client: FlaskClient, key: KeyMaker, query: str) -> None:
    is_problem(ask(client, key(), query=query), 422, "invalid_request")


def test_a_bound_key_is_told_when_it_asks_for_another(client: FlaskClient, key: KeyMaker) -> None:
    is_problem(ask(client, key(user_id="bob")), 403, "forbidden")


def test_an_upload_that_is_no_form_is_told_so(client: FlaskClient, key: KeyMaker) -> None:
    for options in ({"json": {"files": []}}, {"data": b"x", "content_type": "multipart/form-data"}):
        body = is_problem(client.post(DOCUMENTS, headers=key(), **options), 422, "invalid_request")
        assert "multipart/form-data" in body["detail"]
