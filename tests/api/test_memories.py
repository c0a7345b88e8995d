"""Conversations over HTTP: remembered, shown while fresh, searched afterwards, seen by nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.conftest import KeyMaker
from tests.api.test_api import is_problem
from tests.workers.parts import drain
from workers.services import Services

MEMORIES = "/api/v1/memories"
NOON = 1_772_366_400_000  # 1 March 2026, 12:00 UTC


def message(content: str, minutes: int = 0, **more: Any) -> dict[str, Any]:
    return {"sender_id": "ana", "timestamp": NOON + minutes * 60_000, "content": content, **more}


def remember(client: FlaskClient, headers: dict[str, str], *messages: Any, **owner: Any) -> Any:
    body = {"user_id": "ana", "session_id": "s1", "messages": list(messages), **owner}
    return client.post(MEMORIES, headers=headers, json={k: v for k, v in body.items() if v is not None})


def flush(client: FlaskClient, headers: dict[str, str], services: Services, user: str = "ana") -> Any:
    answer = client.post(f"{MEMORIES}/flush", headers=headers, json={"user_id": user})
    drain(services)
    return answer


def ask(client: FlaskClient, headers: dict[str, str], query: str, user: str = "ana", **more: Any) -> Any:
    filters = {"user_id": user, **more.pop("filters", {})}
    body = {"query": query, "filters": filters, **more}
    return client.post(f"{MEMORIES}/search", headers=headers, json=body).json


def fresh(answer: Any) -> list[str]:
    return [one["content"] for one in answer["raw_messages"]]


def test_a_message_is_seen_from_the_first_moment_on(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    taken = remember(client, headers, message("The rent is 900 euros.", message_id="m1"))
    assert taken.status_code == 202
    assert (taken.json["accepted"], taken.json["updated"], taken.json["unchanged"]) == (1, 0, 0)
    answer = ask(client, headers, "rent")
    assert fresh(answer) == ["The rent is 900 euros."]
    assert answer["raw_messages"][0]["message_id"] == "m1"
    assert answer["facts"] == answer["episodes"] == []
    state = flush(client, headers, services)
    assert client.get(state.headers["Location"], headers=headers).json["counts"] == {"ready": 1}
    answer = ask(client, headers, "rent")
    assert fresh(answer) == []
    assert answer["facts"][0]["anchors"][0]["message_id"] == "m1"
    assert answer["facts"][0]["document"]["media_type"] == "application/vnd.strata.conversation+jsonl"


def test_sending_again_changes_nothing(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    named, unnamed = message("a b", message_id="m1"), message("c d")
    remember(client, headers, named, unnamed)
    flush(client, headers, services)
    before = client.get("/api/v1/status", headers=headers).json
    again = remember(client, headers, named, unnamed).json
    assert (again["accepted"], again["updated"], again["unchanged"]) == (0, 0, 2)
    drain(services)
    assert client.get("/api/v1/status", headers=headers).json == before
    assert fresh(ask(client, headers, "a b")) == []


def test_an_edited_message_takes_the_place_of_what_it_said(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    remember(client, headers, message("The rent is 900 euros.", message_id="m1"))
    flush(client, headers, services)
    assert remember(client, headers, message("The rent is 950 euros.", message_id="m1")).json["updated"] == 1
    assert fresh(ask(client, headers, "rent")) == ["The rent is 950 euros."]
    flush(client, headers, services)
    answer = ask(client, headers, "rent")
    assert [one["atomic_fact"] for one in answer["facts"]] == ["The rent is 950 euros."]
    assert fresh(answer) == []


def test_fresh_messages_pass_the_same_filters(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    remember(client, headers, message("old", minutes=0), message("new", minutes=30, sender_name="Ana Roca"))
    remember(client, headers, message("elsewhere", minutes=10), session_id="s2")

    def found(**filters: Any) -> list[str]:
        return fresh(ask(client, headers, "what", filters=filters))

    assert found() == ["new", "elsewhere", "old"]
    assert found(session_id="s1") == ["new", "old"]
    assert found(timestamp={"gte": NOON + 60_000 * 20}) == ["new"]
    assert found(participants={"contains": "roca"}) == ["new"]
    assert found(NOT={"session_id": "s1"}) == ["elsewhere"]
    assert found(OR=[{"timestamp": {"lt": NOON + 1}}, {"session_id": "s2"}]) == ["elsewhere", "old"]
    assert found(media_type="application/pdf") == []
    assert fresh(ask(client, headers, "what", as_of="2026-03-01T12:15:00Z")) == ["elsewhere", "old"]
    assert fresh(ask(client, headers, "what", memory_types=["profile"])) == []
    assert fresh(ask(client, headers, "what", memory_types=["raw_message"])) == ["new", "elsewhere", "old"]


def test_of_many_fresh_messages_those_that_answer_are_shown(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    many = [message(f"chatter number {at}", at) for at in range(1, 50)]
    remember(client, headers, message("The quokka is called Bob."), *many)
    shown = fresh(ask(client, headers, "What is the quokka called?"))
    assert len(shown) == 20
    assert "The quokka is called Bob." in shown
    assert shown[0] == "chatter number 49"


def test_a_long_message_is_spread_over_elements(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    taken = remember(client, headers, message("A sentence of some words. " * 400, message_id="m1")).json
    flush(client, headers, services)
    path = f"/api/v1/documents/{taken['document_ids'][0]}"
    elements = client.get(f"{path}/elements", headers=headers).json["items"]
    assert len(elements) > 3
    assert {one["place"] for one in elements} == {"message m1 ana"}
    document = client.get(path, headers=headers).json
    assert (document["kind"], document["status"], document["warnings"]) == ("conversation", "ready", [])
    lines = client.get(f"{path}/content", headers=headers).data.splitlines()
    assert [json.loads(line)["message_id"] for line in lines] == ["m1"]


def test_times_are_read_as_they_are_meant(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    times = [NOON, "2026-03-01T13:10:00+01:00", "2026-03-01T12:20:00Z", "2026-03-01T12:30:00"]
    answer = remember(
        client, headers, *({**message(f"m{at}"), "timestamp": time} for at, time in enumerate(times))
    )
    assert [one["code"] for one in answer.json["warnings"]] == ["naive_time"]
    shown = ask(client, headers, "m")["raw_messages"][::-1]
    assert [one["timestamp"] for one in shown] == [
        "2026-03-01T12:00:00Z", "2026-03-01T13:10:00+01:00", "2026-03-01T12:20:00Z", "2026-03-01T12:30:00Z",
    ]  # fmt: skip


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"timestamp": NOON // 1000}, "looks like seconds"),
    ({"timestamp": "yesterday"}, "ISO 8601"),
    ({"timestamp": 10**18}, "timestamp"),
    ({"timestamp": "9999-01-01"}, "far future"),
    ({"timestamp": None}, "timestamp"),
    ({"content": "  "}, "content"),
    ({"content": 7}, "content"),
    ({"sender_id": ""}, "sender_id"),
    ({"sender_id": "x" * 300}, "sender_id"),
    ({"role": "boss"}, "role"),
    ({"tool_calls": []}, "tool_calls"),
    ({"message_id": "x" * 300}, "message_id"),
]


def test_a_message_that_cannot_be_kept_is_refused_by_name(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    for wrong, named in WRONG:
        answer = remember(client, headers, message("fine"), {**message("x"), **wrong})
        assert named in is_problem(answer, 422, "invalid_request")["detail"], wrong
    assert fresh(ask(client, headers, "fine")) == []


def test_hostile_requests_end_in_a_sentence(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    is_problem(remember(client, headers), 422, "invalid_request")
    is_problem(remember(client, headers, message("x"), user_id=None), 422, "invalid_request")
    is_problem(remember(client, headers, *[message("x")] * 1001), 413, "too_much")
    is_problem(remember(client, headers, message("x" * 50_001)), 413, "too_much")
    big = client.post(MEMORIES, headers=headers, data=b"[" * (17 * 2**20), content_type="application/json")
    assert big.status_code == 413
    nested = client.post(MEMORIES, headers=headers, data="[" * 10**5, content_type="application/json")
    assert nested.status_code in (400, 422)
    body = {"user_id": "ana", "messages": [message("nul \x00 and \ud800 half", message_id="m1")]}
    kept = client.post(MEMORIES, headers=headers, data=json.dumps(body), content_type="application/json")
    assert kept.status_code == 202
    flush(client, headers, services)
    assert ask(client, headers, "half")["facts"]


def test_an_idempotency_key_repeats_the_answer(client: FlaskClient, key: KeyMaker) -> None:
    headers = {**key(), "Idempotency-Key": "k1"}
    first = remember(client, headers, message("a"))
    assert remember(client, headers, message("a")).json == first.json
    is_problem(remember(client, headers, message("b")), 422, "key_reused")


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid", "agentic"])
def test_nobody_sees_another_s_conversation(
    client: FlaskClient, key: KeyMaker, services: Services, method: str
) -> None:
    mine, foreign = key(), key(tenant="foe")
    remember(client, mine, message("The rent is 900 euros."))
    remember(client, mine, message("Rent: secret of ben."), user_id="ben")
    remember(client, foreign, message("Rent: secret of foe."))

    def told(headers: dict[str, str], user: str) -> str:
        return json.dumps(ask(client, headers, "rent", user, method=method), ensure_ascii=False)

    for _ in range(2):
        assert "secret" not in told(mine, "ana")
        assert "900" not in told(mine, "ben")
        assert "900" not in told(foreign, "ana")
        assert "900" in told(mine, "ana")
        for headers, user in ((mine, "ana"), (mine, "ben"), (foreign, "ana")):
            flush(client, headers, services, user)


def test_a_bound_key_speaks_for_its_owner_only(client: FlaskClient, key: KeyMaker) -> None:
    bound = key(user_id="ana")
    assert remember(client, bound, message("x"), user_id=None).status_code == 202
    is_problem(remember(client, bound, message("x"), user_id="ben"), 403, "forbidden")
    is_problem(client.post(f"{MEMORIES}/flush", headers=bound, json={"user_id": "ben"}), 403, "forbidden")
    reader = key("read")
    is_problem(remember(client, reader, message("x")), 403, "forbidden")
    assert client.post(MEMORIES, json={}).status_code == 401


def test_a_key_of_idempotency_is_its_callers_own(client: FlaskClient, key: KeyMaker) -> None:
    body = {"session_id": "s1", "messages": [message("Mine.", message_id="m1")]}
    answers = []
    for user in ("ana", "ben"):
        headers = {**key(user_id=user), "Idempotency-Key": "same-1"}
        answers.append(client.post(MEMORIES, headers=headers, json=body))
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json["accepted"] for answer in answers] == [1, 1]
    assert answers[0].json["document_ids"] != answers[1].json["document_ids"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search", {"query": "rent", "filters": {"user_id": "\ud800"}}),
        ("/search", {"query": "rent", "filters": {"user_id": "ana", "\ud800": "x"}}),
        ("/get", {"ids": ["\ud800"]}),
        ("/delete", {"ids": ["a\u0000b"]}),
        ("", {"user_id": "ana", "messages": [message("Hi", message_id="\ud83d")]}),
        ("", {"user_id": "a\u0000b", "messages": [message("Hi")]}),
        ("", {"user_id": "  ", "messages": [message("Hi")]}),
        ("", {"user_id": "ana", "messages": [{**message("Hi"), "timestamp": "0001-01-01T00:00:00+23:59"}]}),
        ("/search", {"query": "rent", "filters": {"user_id": "ana"}, "as_of": "0001-01-01T00:00:00Z"}),
        ("/search", {"query": "ﷺ" * 4000, "filters": {"user_id": "ana"}}),
    ],
)
def test_what_cannot_be_kept_or_compared_is_refused(
    client: FlaskClient, key: KeyMaker, path: str, body: dict[str, Any]
) -> None:
    sent = json.dumps(body)
    answer = client.post(MEMORIES + path, headers=key(), data=sent, content_type="application/json")
    assert answer.status_code == 422, answer.text
    assert answer.content_type == "application/problem+json"
    assert answer.json["detail"]
