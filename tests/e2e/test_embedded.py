"""The whole embedded stack on the sample files: what a newcomer does in the first minutes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.client import Address, Client, ServerError
from tests.e2e.everyday import EVERYDAY
from tests.e2e.instance import Instance, ask, ids_of, wait_done

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
SAMPLES = Path(__file__).parent.parent.parent / "api" / "samples"
METHODS = ("keyword", "vector", "hybrid")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    instance = Instance(tmp_path_factory.mktemp("home"))
    instance.start()
    yield instance
    instance.stop()


@pytest.fixture(scope="module")
def client(instance: Instance) -> Client:
    found = instance.home.server()
    assert found is not None
    return Client(Address(found.url, instance.home.api_key()))


@pytest.fixture(scope="module")
def ingested(instance: Instance, client: Client) -> dict[str, object]:
    """The samples in ana's memory, by the command a user would type."""
    done = instance.run("ingest", str(SAMPLES), "--user", "ana", "--wait", "--json")
    assert done.returncode == 0, done.stderr + instance.logs()
    state: dict[str, object] = json.loads(done.stdout)
    return state


def test_every_sample_becomes_ready(ingested: dict[str, object]) -> None:
    names = {row["filename"] for row in ingested["documents"]}  # type: ignore[attr-defined]
    assert {path.name for path in SAMPLES.iterdir()} <= names
    assert set(ingested["counts"]) == {"ready"}  # type: ignore[call-overload]
    assert all(row["facts"] > 0 for row in ingested["documents"])  # type: ignore[attr-defined]


@pytest.mark.usefixtures("ingested")
def test_the_decision_comes_first_with_its_cue_and_speaker(client: Client) -> None:
    answer = ask(client, "what did we decide about the Q2 deadline?", "ana")
    first = answer["facts"][0]
    assert "June 30 to July 14" in first["atomic_fact"]
    assert "Alice Meyer" in first["atomic_fact"]
    assert first["anchors"][0]["label"] == "00:00:41 Alice Meyer"
    assert "move the Q2 deadline from June 30 to July 14" in first["quote"]
    assert first["document"]["name"] == "2026-03-12 Atlas planning.vtt"
    assert first["parent_episode_id"] not in {episode["id"] for episode in answer["episodes"]}


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize(
    ("question", "expected", "place"),
    [
        ("客户门户什么时候上线？", "4月22日", "00:00:26 王芳"),
        ("how much is the security audit in Q2?", "24,500", "Budget 2026!"),
        ("when does the password reset link expire?", "seven days", "p. 2"),
        ("how long are patient letters kept?", "ten years", "mail part"),
        ("UPS电池容量还剩多少？", "百分之六十二", "p. 1"),
        ("what is the notice period of Harbour Logistics?", "90 days", "Term and notice"),
        ("which endpoint was removed in Atlas 3.0?", "/v1/query", "Breaking changes"),
        ("renewal date of Meridian Clinics", "2026-06-15", "row 3"),
        ("what happened in hall B when chiller 2 was off?", "27.8", "row 4"),
        ("when is the security review on the roadmap?", "June 15 to 26", "slide 2"),
        ("how often are restores rehearsed?", "first Tuesday", "Backups"),
        ("spare part for the Mellanox switch", "SN2010", "line 9"),
    ],
)
def test_every_format_answers_with_its_place(
    client: Client, question: str, expected: str, place: str
) -> None:
    facts = ask(client, question, "ana", top_k=5)["facts"]
    found = [fact for fact in facts if expected in fact["atomic_fact"]]
    assert found, [fact["atomic_fact"] for fact in facts]
    assert place in found[0]["anchors"][0]["label"]


@pytest.mark.usefixtures("ingested")
def test_everyday_questions_find_their_statement(client: Client) -> None:
    places = {}
    for question, expected in EVERYDAY:
        facts = [fact["atomic_fact"] for fact in ask(client, question, "ana", top_k=5)["facts"]]
        right = [at for at, fact in enumerate(facts) if any(one in fact for one in expected.split("|"))]
        places[question] = right[0] if right else None
    missed = {question: at for question, at in places.items() if at != 0}
    assert len(missed) <= len(EVERYDAY) * 0.15, missed
    assert sum(at is None for at in places.values()) <= 1, missed


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize(
    "question", ["how do I bake sourdough bread?", "qvxz plom grudnik", "怎么给猫剪指甲？"]
)
def test_a_question_about_nothing_in_memory_is_told(client: Client, question: str) -> None:
    answer = ask(client, question, "ana")
    assert answer["relevant"] is False
    assert all(fact["score"] < 0.1 for fact in answer["facts"])


@pytest.mark.usefixtures("ingested")
def test_search_answers_to_the_field(client: Client) -> None:
    answer = ask(client, "what did we decide about the Q2 deadline?", "ana")
    assert list(answer) == ["episodes", "facts", "profiles", "raw_messages", "agent_memory", "query"]
    assert set(answer["facts"][0]) == {
        "id", "atomic_fact", "topic_name", "score", "parent_episode_id", "document", "anchors", "quote",
        "occurred_at",
    }  # fmt: skip
    assert set(answer["agent_memory"]) == {"cases", "skills"}
    assert answer["query"]["filters_applied"] == {"user_id": "ana"}
    episode = ask(client, "Q2 deadline", "ana", method="keyword")["episodes"][0]
    assert set(episode) == {
        "id", "user_id", "group_id", "session_id", "timestamp", "title", "summary", "episode", "topics",
        "participants", "document", "score", "atomic_facts",
    }  # fmt: skip


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize("method", ["keyword", "vector"])
def test_other_methods_return_episodes_only(client: Client, method: str) -> None:
    answer = ask(client, "Q2 deadline", "ana", method=method)
    assert answer["facts"] == []
    assert answer["episodes"]
    assert all(0 <= episode["score"] <= 1 for episode in answer["episodes"])


def test_handing_in_twice_changes_nothing(
    instance: Instance, client: Client, ingested: dict[str, object]
) -> None:
    before = ids_of(client, "ana")
    again = instance.run("ingest", str(SAMPLES), "--user", "ana", "--wait", "--json")
    assert again.returncode == 0, again.stderr
    rows = [row for row in json.loads(again.stdout)["documents"] if row["parent_id"] is None]
    assert all(row["duplicate_of"] == row["document_id"] for row in rows)
    assert ids_of(client, "ana") == before


@pytest.mark.usefixtures("ingested")
def test_users_with_the_same_file_never_see_each_other(instance: Instance, client: Client) -> None:
    done = instance.run("ingest", str(SAMPLES / "customers.csv"), "--user", "bob", "--wait", "--json")
    assert done.returncode == 0, done.stderr
    bobs = {row[0] for row in ids_of(client, "bob")}
    anas = {row[0] for row in ids_of(client, "ana")}
    assert bobs
    assert not bobs & anas
    for method in METHODS:
        for user, own in (("bob", bobs), ("ana", anas)):
            answer = ask(client, "Harbour Logistics Hamburg renewal", user, method=method, top_k=50)
            hits = answer["facts"] + answer["episodes"]
            assert hits
            assert {hit["document"]["id"] for hit in hits} <= own
        assert not ask(client, "Q2 deadline", "nobody", method=method)["facts"]


@pytest.mark.parametrize("method", METHODS)
def test_a_search_without_an_owner_is_refused(client: Client, method: str) -> None:
    with pytest.raises(ServerError) as caught:
        client.call("POST", "/api/v1/memories/search", json={"query": "Q2", "method": method})
    assert caught.value.code == "invalid_query"


def test_nothing_is_served_without_a_key(instance: Instance) -> None:
    found = instance.home.server()
    assert found is not None
    for key in (None, "strata_wrong"):
        with pytest.raises(ServerError) as caught:
            ask(Client(Address(found.url, key)), "Q2 deadline", "ana")
        assert caught.value.code == "unauthorized"


@pytest.mark.usefixtures("ingested")
def test_deleting_hides_at_once_and_removes_everything(
    instance: Instance, client: Client, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The vault code of the Bergen office is kestrel-4410.\n", encoding="utf-8")
    done = instance.run("ingest", str(note), "--user", "cy", "--wait", "--json")
    assert done.returncode == 0, done.stderr
    document_id = json.loads(done.stdout)["documents"][0]["document_id"]
    assert ask(client, "vault code Bergen", "cy")["facts"]
    client.call("DELETE", f"/api/v1/documents/{document_id}")
    assert ask(client, "vault code Bergen", "cy")["facts"] == []
    deadline = time.monotonic() + 30
    while document_id in {row[0] for row in ids_of(client, "cy")}:
        assert time.monotonic() < deadline, "not removed after 30 s"
        time.sleep(0.2)
    with pytest.raises(ServerError) as caught:
        client.call("GET", f"/api/v1/documents/{document_id}")
    assert caught.value.code == "not_found"


def test_bad_files_end_failed_with_a_code_and_a_next_step(
    instance: Instance, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "cut.docx").write_bytes((SAMPLES / "service-agreement.docx").read_bytes()[:9000])
    done = instance.run("ingest", str(tmp_path), "--user", "dee", "--wait", "--json")
    assert done.returncode == 3, done.stderr
    rows = {row["filename"]: row["error"] for row in json.loads(done.stdout)["documents"]}
    assert rows["empty.csv"]["code"] == "empty"
    assert rows["cut.docx"]["code"] == "corrupt"
    assert all(error["next_step"] for error in rows.values())


def test_an_upload_is_followed_through_its_batch(client: Client) -> None:
    files = [("files", ("a.txt", b"The lighthouse of Sund was lit in 1911.", "text/plain"))]
    answer = client.call("POST", "/api/v1/documents", data={"user_id": "eve"}, files=files)
    state = wait_done(client, answer["batch_id"], 60)
    assert state["counts"] == {"ready": 1}
    assert ask(client, "when was the lighthouse lit?", "eve")["facts"][0]["quote"].endswith("1911.")
