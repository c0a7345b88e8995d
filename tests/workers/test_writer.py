"""Choosing who writes episodes and facts, and a document written by a language model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from extract.chat.client import ChatClient
from extract.chat.model import CallRecord
from extract.extractive import ExtractiveExtractor
from extract.llm import LlmExtractor
from extract.model import AtomicFact, Extraction, Origin
from ingest.artifacts import artifact_dir, read_jsonl
from ingest.model import Owner
from ingest.sources.conversation import Message
from retrieval.protocols import Collection
from tests.fault_server import Fault, FaultServer, ideal, serving
from tests.workers.parts import drain, hand_in
from workers.model import Counts, DocumentRecord, State
from workers.services import Services
from workers.settings import Settings, SettingsError
from workers.writer import make_chat, make_extractor

LINES = [
    "The board moved the Atlas launch to 14 July 2026.",
    "Maria Lopez owns the migration of the billing tables.",
    "The audit of the Hamburg office costs 24,500 euros.",
]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


Writing = Callable[..., Services]


@pytest.fixture
def writing(services: Services, server: FaultServer, tmp_path: Path) -> Iterator[Writing]:
    """Return the services with a language model; the records of its calls are appended to ``calls``."""
    made: list[ChatClient] = []

    def make(calls: list[CallRecord] | None = None, **knobs: object) -> Services:
        told = {"base_url": server.url, "model": "m", "tries": 2, "longest_wait_s": 0.01, **knobs}
        settings = Settings.model_validate({"strata_home": tmp_path, "llm": told})
        note = None if calls is None else calls.append
        chat = make_chat(settings, on_call=note)
        assert chat is not None
        made.append(chat)
        return replace(services, settings=settings, extractor=make_extractor(settings, chat, note), chat=chat)

    yield make
    for chat in made:
        chat.close()


def record(services: Services, identity: str) -> DocumentRecord:
    return services.ledger.documents.get("acme", identity)


def facts(services: Services, identity: str) -> list[AtomicFact]:
    path = artifact_dir(services.artifacts, identity) / "extractions.jsonl"
    return [fact for one in read_jsonl(path, Extraction) for fact in one.facts]


def kind_of(environ: dict[str, str]) -> type[object]:
    settings = Settings.from_env(environ)
    return type(make_extractor(settings, make_chat(settings)))


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({}, ExtractiveExtractor),
        ({"LLM_MODEL": "m"}, ExtractiveExtractor),
        ({"LLM_MODEL": "m", "LLM_API_KEY": "k"}, LlmExtractor),
        ({"LLM_MODEL": "m", "LLM_BASE_URL": "http://127.0.0.1:9/v1"}, LlmExtractor),
        ({"LLM_MODEL": "m", "EXTRACTOR": "llm"}, LlmExtractor),
        ({"LLM_MODEL": "m", "LLM_API_KEY": "k", "EXTRACTOR": "extractive"}, ExtractiveExtractor),
    ],
)
def test_a_model_writes_where_one_is_configured(environ: dict[str, str], kind: type[object]) -> None:
    assert kind_of(environ) is kind


@pytest.mark.parametrize("environ", [{"LLM_API_KEY": "k"}, {"EXTRACTOR": "llm"}])
def test_a_model_without_a_name_is_refused_at_start(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="LLM_MODEL"):
        Settings.from_env(environ)


def test_the_key_does_not_show() -> None:
    assert "hidden" not in repr(Settings.from_env({"LLM_API_KEY": "hidden", "LLM_MODEL": "m"}))


def test_a_document_is_written_by_the_model(writing: Writing, server: FaultServer) -> None:
    calls: list[CallRecord] = []
    services = writing(calls, concurrency=2)
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert document.counts == Counts(elements=3, episodes=3, facts=3)
    assert document.warnings == ()
    found = facts(services, identity)
    assert [fact.quote for fact in found] == LINES
    assert {fact.origin for fact in found} == {Origin.LLM}
    assert len(server.calls) == 3
    assert {(call.errand.tenant, call.errand.document_id, call.errand.stage) for call in calls} == {
        ("acme", identity, "extract")
    }
    assert [call.outcome for call in calls] == ["ok"] * 3


def test_equal_content_is_paid_for_once(writing: Writing, server: FaultServer) -> None:
    calls: list[CallRecord] = []
    services = writing(calls)
    first = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    second = hand_in(services, "\n".join([*LINES, LINES[0]])).document.id
    drain(services)
    assert len(server.calls) == 3
    assert [call.outcome for call in calls].count("cached") == 4
    assert [fact.text for fact in facts(services, second)][:3] == [
        fact.text for fact in facts(services, first)
    ]


def test_invented_quotes_are_kept_out_and_counted(writing: Writing, server: FaultServer) -> None:
    def inventing(body: dict[str, Any]) -> str:
        said = json.loads(ideal(body))
        made_up = {**said["facts"][0], "text": "The moon is made of green cheese and dust.",
                   "quote": "made of green cheese and of dust"}  # fmt: skip
        return json.dumps({**said, "facts": [*said["facts"], made_up]})

    server.answer = inventing
    services = writing()
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.counts == Counts(elements=3, episodes=3, facts=3, ungrounded=3)
    assert [warning.code for warning in document.warnings] == ["ungrounded_facts"]
    assert services.store.count(Collection.FACTS, "acme", identity) == 3
    assert [fact.grounded for fact in facts(services, identity)] == [True, False] * 3


def test_a_stretch_without_a_valid_answer_is_written_without_the_model(
    writing: Writing, server: FaultServer
) -> None:
    server.script = [Fault(wrap=lambda text: "I am sorry."), Fault(wrap=lambda text: "Really.")]
    services = writing(concurrency=1)
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert [warning.code for warning in document.warnings] == ["model_replaced"]
    assert [fact.origin for fact in facts(services, identity)] == [
        Origin.EXTRACTIVE, Origin.LLM, Origin.LLM,
    ]  # fmt: skip


def test_without_a_fallback_the_stretch_is_left_out_with_a_warning(
    writing: Writing, server: FaultServer
) -> None:
    server.script = [Fault(wrap=lambda text: "I am sorry."), Fault(wrap=lambda text: "Really.")]
    services = writing(concurrency=1, fallback="fail")
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert document.counts.episodes == 2
    assert [warning.code for warning in document.warnings] == ["segments_left_out"]


def test_a_used_up_account_fails_the_document_and_a_retry_pays_for_the_rest_only(
    writing: Writing, server: FaultServer
) -> None:
    quota = Fault(429, {"message": "You exceeded your current quota", "code": "insufficient_quota"})
    server.script = [Fault(), quota]
    services = writing(concurrency=1)
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.code == "llm_quota"
    services.ledger.documents.requeue("acme", identity)
    drain(services)
    assert record(services, identity).state is State.READY
    assert [count for count in server.by_content.values()] == [1, 2, 1]


def test_a_document_that_goes_takes_the_models_answers_along(writing: Writing, server: FaultServer) -> None:
    services = writing()
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    assert len(list(services.settings.answers.rglob("*.json"))) == 3
    services.ledger.documents.mark_deleting("acme", identity)
    drain(services)
    assert [path for path in services.settings.answers.rglob("*") if path.is_file()] == []


def test_a_document_that_goes_half_written_leaves_no_answer_either(
    writing: Writing, server: FaultServer
) -> None:
    server.script = [Fault(), Fault(401, {"message": "Incorrect API key"})]
    services = writing(concurrency=1)
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    assert record(services, identity).state is State.FAILED
    assert len(list(services.settings.answers.rglob("*.json"))) == 1
    services.ledger.documents.mark_deleting("acme", identity)
    drain(services)
    assert [path for path in services.settings.answers.rglob("*") if path.is_file()] == []


def test_an_edited_message_takes_the_answer_about_its_old_words_along(
    writing: Writing, server: FaultServer
) -> None:
    services = writing()
    owner = Owner(tenant="acme", user_id="anna", session_id="s1")

    def say(number: int, words: str) -> str:
        at = datetime(2026, 3, 1, 12, number, tzinfo=UTC)
        message = Message(message_id=f"m{number}", sender_id="Anna", sent_at=at, content=words)
        (taken,) = services.ledger.conversations.add(owner, [message])
        services.ledger.conversations.flush("acme")
        drain(services)
        return taken.document_id

    say(1, "The rent of the Hamburg office is 900 euros.")
    home = say(2, "The lease of the office ends in May 2027.")
    assert len(server.calls) == 2
    assert say(2, "The lease of the office ends in June 2028.") == home
    assert len(server.calls) == 3
    kept = [path.read_text("utf-8") for path in services.settings.answers.rglob("*.json")]
    assert len(kept) == 2
    assert not any("May 2027" in words for words in kept)
    assert record(services, home).state is State.READY


def test_a_document_that_gives_no_fact_says_so(writing: Writing, server: FaultServer) -> None:
    server.answer = lambda body: json.dumps({**json.loads(ideal(body)), "facts": []})
    services = writing(fallback="fail")
    identity = hand_in(services, "\n".join(LINES)).document.id
    drain(services)
    document = record(services, identity)
    assert document.state is State.READY
    assert {warning.code for warning in document.warnings} == {"episodes_without_facts", "no_facts"}
