"""Memories one by one: listed, shown and deleted, each by its owner only."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.api.conftest import KeyMaker
from tests.api.test_api import is_problem, upload
from tests.api.test_memories import MEMORIES, ask, flush, fresh, message, remember
from tests.workers.parts import drain
from workers.doctor import examine
from workers.services import Services


def get(client: FlaskClient, headers: dict[str, str], **body: Any) -> Any:
    return client.post(f"{MEMORIES}/get", headers=headers, json=body)


def delete(client: FlaskClient, headers: dict[str, str], **body: Any) -> Any:
    return client.post(f"{MEMORIES}/delete", headers=headers, json=body)


def page_through(client: FlaskClient, headers: dict[str, str], memory_type: str, key: str) -> list[Any]:
    found, cursor = [], None
    while True:
        filters = {"user_id": "ana"}
        answer = get(client, headers, memory_type=memory_type, filters=filters, limit=2, cursor=cursor).json
        found += answer[key]
        cursor = answer["cursor"]
        assert answer["has_more"] is (cursor is not None)
        if cursor is None:
            return found


@pytest.fixture
def filled(client: FlaskClient, key: KeyMaker, services: Services) -> dict[str, str]:
    headers = key()
    remember(client, headers, *(message(f"fact number {at}", at, message_id=f"m{at}") for at in range(5)))
    remember(client, headers, message("secret of ben"), user_id="ben")
    remember(client, key(tenant="foe"), message("secret of foe"))
    for user in ("ana", "ben"):
        flush(client, headers, services, user)
    return headers


@pytest.mark.parametrize(
    ("memory_type", "name", "field"),
    [
        ("episodic_memory", "episodes", "episode"),
        ("atomic_fact", "facts", "atomic_fact"),
        ("raw_message", "raw_messages", "content"),
    ],
)
def test_everything_of_an_owner_is_listed_once(
    client: FlaskClient, filled: dict[str, str], memory_type: str, name: str, field: str
) -> None:
    found = page_through(client, filled, memory_type, name)
    assert sorted(one[field] for one in found) == [f"fact number {at}" for at in range(5)]
    ids = [one["id"] for one in found]
    by_id = get(client, filled, ids=[*ids, "nonsense"]).json
    assert {one["id"] for one in by_id[name]} == set(ids)
    assert by_id["unknown"] == ["nonsense"]


def test_nobody_gets_or_deletes_what_is_another_s(
    client: FlaskClient, filled: dict[str, str], key: KeyMaker
) -> None:
    names = {"atomic_fact": "facts", "raw_message": "raw_messages", "episodic_memory": "episodes"}
    ids = [one["id"] for kind, name in names.items() for one in page_through(client, filled, kind, name)]
    for stranger in (key(user_id="ben"), key(tenant="foe")):
        assert get(client, stranger, ids=ids).json["unknown"] == ids
        gone = delete(client, stranger, ids=ids).json
        assert gone["unknown"] == ids
        assert gone["facts"] == gone["episodes"] == gone["messages"] == 0
    bound = key(user_id="ben")
    is_problem(delete(client, bound, filters={"user_id": "ana"}), 403, "forbidden")
    is_problem(get(client, bound, memory_type="atomic_fact", filters={"user_id": "ana"}), 403, "forbidden")
    assert len(page_through(client, filled, "atomic_fact", "facts")) == 5


def test_a_fact_that_was_deleted_stays_away(
    client: FlaskClient, filled: dict[str, str], services: Services
) -> None:
    fact = next(
        one
        for one in page_through(client, filled, "atomic_fact", "facts")
        if one["atomic_fact"] == "fact number 2"
    )
    assert delete(client, filled, ids=[fact["id"]]).json["facts"] == 1
    again = delete(client, filled, ids=[fact["id"]]).json
    assert (again["facts"], again["unknown"]) == (0, [fact["id"]])
    # The stretch is read again, with a message before it, so that every id is another one.
    remember(client, filled, message("something earlier", -1))
    flush(client, filled, services)
    left = {one["atomic_fact"] for one in page_through(client, filled, "atomic_fact", "facts")}
    assert left == {"something earlier", "fact number 0", "fact number 1", "fact number 3", "fact number 4"}
    shown = client.get(f"/api/v1/documents/{fact['document']['id']}/facts", headers=filled).json["items"]
    assert {one["text"] for one in shown} == left
    assert examine(services).findings == ()


def test_an_episode_goes_with_its_facts(
    client: FlaskClient, filled: dict[str, str], services: Services
) -> None:
    episode = page_through(client, filled, "episodic_memory", "episodes")[0]
    gone = delete(client, filled, ids=[episode["id"]]).json
    assert (gone["episodes"], gone["facts"]) == (1, 1)
    answer = ask(client, filled, "number")
    assert len(answer["facts"]) == 4
    assert episode["episode"] not in str({**answer, "query": None})
    assert examine(services).findings == ()


def test_a_message_that_was_deleted_is_gone_at_once(
    client: FlaskClient, filled: dict[str, str], services: Services
) -> None:
    target = next(
        one
        for one in page_through(client, filled, "raw_message", "raw_messages")
        if one["message_id"] == "m3"
    )
    assert delete(client, filled, ids=[target["id"]]).json["messages"] == 1
    answer = ask(client, filled, "fact number 3")
    assert "fact number 3" not in str({**answer, "query": None})
    assert fresh(answer) == ["fact number 4", "fact number 2", "fact number 1", "fact number 0"]
    drain(services)
    answer = ask(client, filled, "fact number 3")
    assert fresh(answer) == []
    assert len(answer["facts"]) == 4
    assert examine(services).findings == ()


def test_a_session_or_an_owner_goes_as_a_whole(
    client: FlaskClient, filled: dict[str, str], services: Services
) -> None:
    upload(client, filled)
    remember(client, filled, message("other session"), session_id="s2")
    drain(services)
    assert delete(client, filled, filters={"user_id": "ana", "session_id": "s1"}).json["documents"] == 1
    answer = ask(client, filled, "fact number 1")
    assert not any("fact number" in one["atomic_fact"] for one in answer["facts"])
    assert fresh(answer) == ["other session"]
    gone = delete(client, filled, filters={"user_id": "ana", "kind": "conversation"}).json
    assert gone["documents"] >= 1
    drain(services)
    answer = ask(client, filled, "rent")
    assert [one["atomic_fact"] for one in answer["facts"]] == ["Rent is 900 euros."]
    assert delete(client, filled, filters={"user_id": "ana"}).json["documents"] == 1
    drain(services)
    assert not services.ledger.messages.before("acme", 10, user_id=("ana",))
    assert services.ledger.messages.before("acme", 10, user_id=("ben",))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("get", {}, "invalid_request"),
    ("get", {"ids": ["x"], "memory_type": "atomic_fact"}, "invalid_request"),
    ("get", {"ids": ["x"] * 501}, "invalid_request"),
    ("get", {"memory_type": "atomic_fact"}, "invalid_query"),
    ("get", {"memory_type": "nothing", "filters": {"user_id": "ana"}}, "invalid_request"),
    ("get", {"memory_type": "atomic_fact", "filters": {"user_id": "a", "hue": "x"}}, "invalid_query"),
    ("get", {"memory_type": "atomic_fact", "filters": {"user_id": "a"}, "cursor": "?"}, "bad_cursor"),
    ("get", {"memory_type": "raw_message", "filters": {"user_id": "a"}, "cursor": "?"}, "bad_cursor"),
    ("delete", {}, "invalid_request"),
    ("delete", {"filters": {}}, "invalid_request"),
    ("delete", {"filters": {"session_id": "s1"}}, "invalid_request"),
    ("delete", {"filters": {"user_id": "ana", "topic": "x"}}, "invalid_request"),
    ("delete", {"ids": ["x"], "filters": {"user_id": "ana"}}, "invalid_request"),
]


def test_what_is_not_understood_is_refused(client: FlaskClient, key: KeyMaker) -> None:
    headers = key()
    for path, body, code in REFUSED:
        is_problem(client.post(f"{MEMORIES}/{path}", headers=headers, json=body), 422, code)
