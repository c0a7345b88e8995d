"""Profiles and agent memory: learnt from conversations by a scripted model, gone with what they rest on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.app import create_app
from api.wiring import authenticator
from tests.api.conftest import KeyMaker
from tests.api.test_items import delete
from tests.api.test_memories import ask, flush, message, remember
from tests.fault_server import Fault, FaultServer, ideal, serving, source_lines
from tests.workers.parts import drain
from workers.services import Services
from workers.settings import Settings
from workers.writer import make_chat, make_extractor, make_reflector

EVERYTHING = ["episodic_memory", "profile", "agent_memory"]


class Model:
    """Answers as a good model would, by simple rules over the numbered lines it is shown."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        system = body["messages"][0]["content"]
        name = next((one for one in ("profiles", "worked on", "into skills") if one in system[:140]), "")
        self.asked.append(name)
        answers: dict[str, Callable[[list[str]], Any]] = {
            "profiles": self.profile, "worked on": self.cases, "into skills": self.skills,
        }  # fmt: skip
        return json.dumps(answers[name](source_lines(body))) if name else ideal(body)

    def profile(self, lines: list[str]) -> Any:
        known = {line.partition(": ")[2]: line.partition(":")[0] for line in lines if line.startswith("k")}
        steps = []
        for line in lines:
            if not line.startswith("["):
                continue
            number, _, fact = line[1:].partition("] ")
            told = {"subject": "Ana", "facts": [int(number)], "id": "", "kind": "attribute"}
            if "lives in" in fact:
                old = next((id_ for text, id_ in known.items() if "lives in" in text), "")
                town = fact.rpartition("lives in ")[2]
                text = f"Ana lives in {town}"
                steps.append({**told, "op": "update" if old else "add", "id": old, "text": text})
            elif "likes" in fact:
                liked = {"kind": "preference", "text": f"Ana likes {fact.rpartition('likes ')[2]}"}
                steps.append({**told, "op": "add", **liked})
            elif "no longer" in fact:
                old = next(id_ for text, id_ in known.items() if "likes" in text)
                steps.append({**told, "op": "remove", "id": old, "text": ""})
        return {"operations": steps}

    def cases(self, lines: list[str]) -> Any:
        wanted = [at for at, line in enumerate(lines, 1) if "please" in line]
        return {
            "cases": [
                {
                    "task": lines[at - 1].partition("please ")[2], "approach": "look and mend",
                    "outcome": "solved", "messages": [at, at + 1],
                }
                for at in wanted
            ]
        }  # fmt: skip

    def skills(self, lines: list[str]) -> Any:
        numbers = [int(line[1:].partition("]")[0]) for line in lines if line.startswith("[")]
        known = any(line.startswith("k1") for line in lines)
        step = {"op": "update" if known else "add", "id": "k1" if known else "", "name": "Mending"}
        return {"operations": [{**step, "when": "something broke", "approach": "look", "cases": numbers}]}


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[FaultServer]:
    with serving(model) as running:
        yield running


@pytest.fixture
def services(services: Services, server: FaultServer, tmp_path: Path) -> Iterator[Services]:
    told = {"base_url": server.url, "model": "m", "tries": 1, "longest_wait_s": 0.01}
    settings = Settings.model_validate({"strata_home": tmp_path, "llm": told})
    chat = make_chat(settings)
    assert chat is not None
    yield replace(
        services,
        extractor=make_extractor(settings, chat),
        chat=chat,
        reflector=make_reflector(settings, chat),
    )
    chat.close()


@pytest.fixture
def client(services: Services) -> FlaskClient:
    return create_app(services, services.settings, authenticator(services.ledger)).test_client()


Tell = Callable[..., Any]


@pytest.fixture
def tell(client: FlaskClient, key: KeyMaker, services: Services) -> Tell:
    """Say something in a session of its own, have it read, and return what was taken."""
    headers = key()

    def say(*texts: str, session: str = "s1", user: str = "ana", role: str = "user") -> Any:
        some = [
            message(text, at, message_id=f"{session}-{at}-{text}", sender_name="Ana", role=role)
            for at, text in enumerate(texts)
        ]
        taken = remember(client, headers, *some, session_id=session, user_id=user)
        flush(client, headers, services, user)
        return taken.json

    return say


def known(client: FlaskClient, headers: dict[str, str], query: str = "Ana", **more: Any) -> Any:
    return ask(client, headers, query, memory_types=EVERYTHING, **more)


def entries(answer: Any) -> list[str]:
    return sorted(
        one["text"] for who in answer["profiles"] for one in (*who["attributes"], *who["preferences"])
    )


def test_a_profile_follows_what_is_said(client: FlaskClient, key: KeyMaker, tell: Tell) -> None:
    headers = key()
    tell("Ana lives in Lyon.", "Ana likes green tea.")
    answer = known(client, headers, "Where does Ana live?")
    (profile,) = answer["profiles"]
    assert (profile["user_id"], profile["subject"]) == ("ana", "Ana")
    assert [one["text"] for one in profile["attributes"]] == ["Ana lives in Lyon."]
    assert [one["text"] for one in profile["preferences"]] == ["Ana likes green tea."]
    (fact,) = profile["attributes"][0]["supporting_facts"]
    shown = client.post("/api/v1/memories/get", headers=headers, json={"ids": [fact]}).json["facts"]
    assert "Lyon" in shown[0]["quote"]
    tell("Ana lives in Nice.", session="s2")
    assert entries(known(client, headers)) == ["Ana likes green tea.", "Ana lives in Nice."]
    tell("Ana drinks tea no longer.", session="s3")
    assert entries(known(client, headers)) == ["Ana lives in Nice."]


def test_what_rests_on_a_source_alone_goes_with_it(
    client: FlaskClient, key: KeyMaker, tell: Tell, services: Services
) -> None:
    headers = key()
    first = tell("Ana likes green tea.")
    second = tell("Ana likes green tea.", "Ana likes old maps.", session="s2")
    (profile,) = known(client, headers)["profiles"]
    tea = next(one for one in profile["preferences"] if "tea" in one["text"])
    assert set(tea["document_ids"]) == {*first["document_ids"], *second["document_ids"]}
    client.delete(f"/api/v1/documents/{second['document_ids'][0]}", headers=headers)
    assert entries(known(client, headers)) == ["Ana likes green tea."]
    drain(services)
    assert entries(known(client, headers)) == ["Ana likes green tea."]
    (fact,) = known(client, headers)["profiles"][0]["preferences"][0]["supporting_facts"]
    delete(client, headers, ids=[fact])
    assert known(client, headers)["profiles"] == []


def test_a_stretch_that_is_read_again_teaches_once(
    client: FlaskClient, key: KeyMaker, tell: Tell, services: Services
) -> None:
    headers = key()
    tell("Ana likes green tea.")
    remember(client, headers, message("Ana likes old maps.", -1, sender_name="Ana"))
    flush(client, headers, services)
    answer = known(client, headers)
    assert entries(answer) == ["Ana likes green tea.", "Ana likes old maps."]
    ids = {fact for one in answer["profiles"][0]["preferences"] for fact in one["supporting_facts"]}
    shown = client.post("/api/v1/memories/get", headers=headers, json={"ids": sorted(ids)}).json
    assert len(shown["facts"]) == 2


def test_cases_become_a_skill(client: FlaskClient, key: KeyMaker, tell: Tell, services: Services) -> None:
    headers = key()
    tell("please mend the red pump", "I replaced the seal.", role="assistant")
    memory = known(client, headers)["agent_memory"]
    assert [one["task"] for one in memory["cases"]] == ["mend the red pump"]
    assert memory["skills"] == []
    second = tell("please mend the blue pump", "I replaced the belt.", session="s2", role="assistant")
    memory = known(client, headers, "blue pump")["agent_memory"]
    assert [one["task"] for one in memory["cases"]] == ["mend the blue pump", "mend the red pump"]
    assert memory["cases"][0]["score"] > memory["cases"][1]["score"]
    (skill,) = memory["skills"]
    assert skill["name"] == "Mending"
    assert set(skill["case_ids"]) == {one["id"] for one in memory["cases"]}
    client.delete(f"/api/v1/documents/{second['document_ids'][0]}", headers=headers)
    drain(services)
    memory = known(client, headers)["agent_memory"]
    assert [one["task"] for one in memory["cases"]] == ["mend the red pump"]
    assert delete(client, headers, ids=[memory["skills"][0]["id"]]).json["insights"] == 1
    assert known(client, headers)["agent_memory"]["skills"] == []


def test_people_without_an_agent_give_no_cases(
    client: FlaskClient, key: KeyMaker, tell: Tell, model: Model
) -> None:
    tell("please pass the salt", "here you are")
    assert "worked on" not in model.asked
    assert known(client, key())["agent_memory"] == {"cases": [], "skills": []}


def test_nobody_learns_of_another(client: FlaskClient, key: KeyMaker, tell: Tell) -> None:
    tell("Ana likes green tea.")
    tell("Ana likes secrets.", user="ben")
    headers = key()
    assert entries(known(client, headers)) == ["Ana likes green tea."]
    assert known(client, key(tenant="foe"))["profiles"] == []
    assert entries(known(client, headers, filters={"session_id": "s9"})) == []
    ids = [one["id"] for one in known(client, headers)["profiles"][0]["preferences"]]
    assert delete(client, key(user_id="ben"), ids=ids).json["unknown"] == ids
    assert ask(client, headers, "tea", memory_types=["episodic_memory"])["profiles"] == []
    assert delete(client, headers, filters={"user_id": "ana"}).status_code == 202
    assert known(client, headers)["profiles"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"operations": [{"op": "add", "subject": "Ana", "text": "Ana is rich.", "facts": [99]}]},
        {"operations": [{"op": "add", "subject": "Ana", "text": "Ana is rich.", "facts": []}]},
        {"operations": [{"op": "add", "subject": "Zed", "text": "Zed is rich.", "facts": [1]}]},
        {"operations": [{"op": "update", "id": "k7", "text": "Ana is rich.", "facts": [1]}]},
        {"operations": [{"op": "remove", "id": "../x", "facts": [1]}]},
        {"operations": [{"op": "add", "subject": "Ana", "text": "", "facts": [1]}]},
    ],
)
def test_what_rests_on_nothing_is_asked_for_again_and_never_kept(
    client: FlaskClient, key: KeyMaker, tell: Tell, server: FaultServer, wrong: Any
) -> None:
    server.script = [Fault(), *(Fault(wrap=lambda _: json.dumps(wrong)) for _ in range(2))]
    taken = tell("Ana likes green tea.")
    assert known(client, key())["profiles"] == []
    assert [one["messages"][-1]["role"] for one in server.calls] == ["user"] * 3
    assert len(server.calls[-1]["messages"]) > len(server.calls[-2]["messages"])
    document = client.get(f"/api/v1/documents/{taken['document_ids'][0]}", headers=key()).json
    assert (document["status"], document["facts"]) == ("ready", 1)


def test_an_answer_that_cannot_be_used_costs_a_warning_only(
    client: FlaskClient, key: KeyMaker, tell: Tell, server: FaultServer
) -> None:
    server.script = [Fault(), *(Fault(wrap=lambda _: "no json") for _ in range(2))]
    taken = tell("Ana likes green tea.")
    document = client.get(f"/api/v1/documents/{taken['document_ids'][0]}", headers=key()).json
    assert document["status"] == "ready"
    assert [one["code"] for one in document["warnings"]] == ["not_reflected"]
    assert known(client, key(), "tea")["facts"]


def test_without_a_model_the_lists_are_empty(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    plain = replace(services, reflector=None)
    remember(client, headers, message("Ana likes green tea.", sender_name="Ana"))
    flush(client, headers, plain)
    answer = known(client, headers)
    assert (answer["profiles"], answer["agent_memory"]) == ([], {"cases": [], "skills": []})
