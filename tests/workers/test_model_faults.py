"""Everything a language model's endpoint does wrong, and what becomes of the document.

``docs/extraction.md`` shows this table. A document of three stretches is handed in, and the second meets the
fault. Whatever it is: the document ends well, waits, or fails with a code; no stretch is lost; nothing that
is not valid is kept; no stretch that was answered is asked about again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from extract.chat.cache import AnswerCache
from extract.chat.capabilities import CapabilityMemory
from extract.chat.client import ChatClient
from extract.extractive import ExtractiveExtractor
from extract.llm import LlmExtractor
from extract.model import Extraction, Origin, Segment, SegmentKind
from extract.questioning import Questioner
from extract.said import SaidEpisode
from ingest.artifacts import artifact_dir, read_jsonl
from ingest.model import Document, Element, Owner
from tests.fault_server import Fault, FaultServer, serving, source_lines
from tests.workers.parts import drain, hand_in
from workers.model import DocumentRecord, State
from workers.services import Services
from workers.settings import Settings

DOCS = Path(__file__).parents[2] / "docs" / "extraction.md"
LINES = (
    "The board moved the launch of Atlas to 14 July 2026.",
    "The launch party takes place in the Hamburg office.",
    "Maria Lopez owns the migration of the billing tables.",
    "Her team tests the new tables with 40 customers in May.",
    "The audit of the Hamburg office costs 24,500 euros.",
    "The auditors ask for all contracts of the last two years.",
)
TRIES = 4
BOB = Owner(tenant="acme", user_id="bob")

ANSWERED = "answered by the model"
HALVED = "answered by the model, in halves"
REPLACED = "facts made without the model, with the warning `model_replaced`"
WAITS = "waits and goes on by itself; meanwhile the document shows `{}`"
FAILS = "the document fails with `{}`; a retry goes on where it ended"


@dataclass(frozen=True)
class Row:
    """A fault, what it looks like on the wire, and what comes of it.

    Attributes:
        calls: for the stretch that meets it.
        waited: seconds the client was told to wait, where that is exact.
        ungrounded: facts that are shown but not searched.
        timeout_s: of the client; long where nothing is said about time, so that a busy machine is no fault.
    """

    fault: str
    faults: tuple[Fault, ...] = ()
    refuses: dict[str, int] = field(default_factory=dict)
    outcome: str = ANSWERED
    code: str = ""
    calls: int = 2
    waited: tuple[float, ...] | None = None
    ungrounded: int = 0
    timeout_s: float = 60

    @property
    def shown(self) -> str:
        """The outcome as the documentation tells it."""
        return self.outcome.format(self.code)


def refusal(status: int, message: str, code: str = "", **headers: str) -> Fault:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(status, {"message": message, "type": "error", "code": code}, told)


def changed(change: str, to: str) -> Fault:
    return Fault(wrap=lambda text: text.replace(change, to))


def invent(text: str) -> str:
    said = json.loads(text)
    for number, fact in enumerate(said["facts"], start=1):
        fact["text"] = f"The committee praised lamp {number} of the harbour."
        fact["quote"] = f"nobody ever wrote {number} word like these"
    return json.dumps(said)


def name_only(text: str) -> str:
    said = json.loads(text)
    for fact in said["facts"]:
        fact["quote"] = "Nobody"
    return json.dumps(said)


def in_chinese(text: str) -> str:
    said = json.loads(text)
    said |= {"title": "迁移", "summary": "玛丽亚负责迁移计费表，她的团队在五月测试。"}
    for fact in said["facts"]:
        fact["text"] = "玛丽亚负责迁移计费表，她的团队在五月与四十位客户一起测试。"
    return json.dumps(said, ensure_ascii=False)


SLOW_DOWN = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}
BROKEN = Fault(wrap=lambda text: text[:-60])
TABLE = (
    Row("a schema refused with 400", refuses={"json_schema": 400}, calls=1),
    Row("a schema refused with 500", refuses={"json_schema": 500}, calls=1),
    Row("no structured output at all", refuses={"json_schema": 400, "json_object": 422}, calls=1),
    Row("temperature or max_tokens refused", refuses={"temperature": 400, "max_tokens": 400}, calls=1),
    Row("JSON in a code fence", (Fault(wrap=lambda text: f"Here it is:\n```json\n{text}\n```"),), calls=1),
    Row("thinking before the answer", (Fault(wrap=lambda text: f"<think>{{x}}?</think>{text}"),), calls=1),
    Row("escapes JSON does not know", (changed('"topic": "talk"', '"topic": "a \\d \\$ b"'),), calls=1),
    Row("half a surrogate pair", (changed('"topic": "talk"', '"topic": "\\ud83d talk"'),), calls=1),
    Row("half a surrogate pair in the body", (changed("talk", "\ud83d talk"),), calls=1),
    Row("JSON that breaks off", (BROKEN,)),
    Row("JSON that breaks off each time", (BROKEN, BROKEN), outcome=HALVED, calls=4),
    Row("`finish_reason` is `length`", (Fault(finish="length"),), outcome=HALVED, calls=3),
    Row("an answer that is no JSON", (Fault(wrap=lambda text: "I am sorry."),)),
    Row("no JSON each time", (Fault(wrap=lambda text: "No."),) * 2, outcome=REPLACED, code="llm_malformed"),
    Row("a field is missing", (changed('"summary"', '"abstract"'),)),
    Row("invented quotes", (Fault(wrap=invent),)),
    Row("invented quotes each time", (Fault(wrap=invent),) * 2, outcome=REPLACED, code="llm_ungrounded",
        ungrounded=2),
    Row("invented quotes, but the source's words as facts", (Fault(wrap=name_only),), calls=1),
    Row("another language", (Fault(wrap=in_chinese),)),
    Row("another language each time", (Fault(wrap=in_chinese),) * 2, outcome=REPLACED, code="llm_malformed"),
    Row("an empty answer", (Fault(wrap=lambda text: ""),)),
    Row("429 with `Retry-After`", (Fault(429, SLOW_DOWN, {"retry-after": "7"}),), waited=(7.0,)),
    Row("429 with a long `Retry-After`", (Fault(429, SLOW_DOWN, {"retry-after": "600"}),), outcome=WAITS,
        code="llm_rate_limited"),
    Row("429 without `Retry-After`", (Fault(429, SLOW_DOWN),)),
    Row("429 again and again", (Fault(429, SLOW_DOWN),) * TRIES, outcome=WAITS, code="llm_rate_limited",
        calls=TRIES + 1),
    Row("429 because the account is used up",
        (refusal(429, "You exceeded your current quota", "insufficient_quota"),),
        outcome=FAILS, code="llm_quota"),
    Row("402", (refusal(402, "Insufficient Balance"),), outcome=FAILS, code="llm_quota"),
    Row("401, 403 or an unknown model", (refusal(401, "Incorrect API key"),), outcome=FAILS,
        code="llm_misconfigured"),
    Row("the context is too long", (refusal(400, "maximum context length is 512"),), outcome=HALVED, calls=3),
    Row("400 from a content filter", (refusal(400, "flagged by the content filter", "content_filter"),),
        outcome=REPLACED, code="llm_filtered", calls=1),
    Row("`finish_reason` is `content_filter`", (Fault(finish="content_filter"),), outcome=REPLACED,
        code="llm_filtered", calls=1),
    Row("5xx twice", (refusal(503, "overloaded"), refusal(502, "bad gateway"))  , calls=3),
    Row("5xx for longer", (refusal(503, "overloaded"),) * TRIES, outcome=WAITS, code="llm_unavailable",
        calls=TRIES + 1),
    Row("a refusal inside an answer of 200", (Fault(raw=b'{"error": {"code": 503, "message": "busy"}}'),)),
    Row("no answer in time", (Fault(delay_s=3),), timeout_s=2),
    Row("an answer that drips byte by byte", (Fault(drip_s=0.02),), timeout_s=2),
    Row("a connection that breaks off", (Fault(drop=True),)),
    Row("a web page instead of an answer", (Fault(raw=b"<html>Bad gateway</html>"),)),
    Row("an empty body", (Fault(raw=b""),)),
)  # fmt: skip


def in_pairs(document: Document, elements: Iterable[Element]) -> Iterator[Segment]:
    known = list(elements)
    for at in range(0, len(known), 2):
        yield Segment(
            position=at // 2, kind=SegmentKind.PROSE, title=known[at].text, elements=tuple(known[at : at + 2])
        )


class Stage:
    """A worker on a fault server, whose client does not really wait."""

    def __init__(self, services: Services, server: FaultServer, folder: Path, timeout_s: float) -> None:
        self.server, self.folder = server, folder
        self.waited: list[float] = []
        told = {
            "base_url": server.url,
            "model": "m",
            "tries": TRIES,
            "timeout_s": timeout_s,
            "concurrency": 1,
        }
        settings = Settings.model_validate({"strata_home": folder, "llm": told})
        self.chat = ChatClient(settings.llm, CapabilityMemory(folder / "endpoints"), sleep=self.waited.append)
        questioner = Questioner(self.chat, AnswerCache(folder / "answers"), 1000)
        extractor = LlmExtractor(self.chat, questioner, ExtractiveExtractor())
        self.services = replace(services, settings=settings, extractor=extractor, split=in_pairs)

    def record(self, identity: str) -> DocumentRecord:
        return self.services.ledger.documents.get("acme", identity)

    def made(self, identity: str) -> list[Extraction]:
        folder = artifact_dir(self.services.artifacts, identity)
        return list(read_jsonl(folder / "extractions.jsonl", Extraction))

    def calls_about(self, at: int) -> int:
        """How many calls the server took, refusals for form aside, whose source holds a line of a stretch."""
        own = set(LINES[at * 2 : at * 2 + 2])
        return sum(bool(own & set(source_lines(body))) for body in self.server.accepted)

    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in (self.folder / "answers").rglob("*.json")]


@pytest.fixture
def stage(row: Row, services: Services, tmp_path: Path) -> Iterator[Stage]:
    with serving() as server:
        made = Stage(services, server, tmp_path / "model", row.timeout_s)
        yield made
        made.chat.close()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.fault)
def test_a_fault_ends_as_the_table_says(row: Row, stage: Stage) -> None:
    stage.server.refuses = dict(row.refuses)
    stage.server.script = [Fault(), *row.faults] if row.faults else []
    identity = hand_in(stage.services, "\n".join(LINES)).document.id
    drain(stage.services)
    stops(row, stage, identity)
    is_whole(row, stage, identity)
    kept_and_paid_once(row, stage, identity)


def stops(row: Row, stage: Stage, identity: str) -> None:
    """Look at a document that waits or has failed, and have it go on."""
    if row.outcome not in (WAITS, FAILS):
        return
    document = stage.record(identity)
    assert document.error is not None
    assert document.error.code == row.code
    assert document.error.next_step
    assert document.state is (State.EXTRACTING if row.outcome == WAITS else State.FAILED)
    if row.outcome == FAILS:
        stage.services.ledger.documents.requeue("acme", identity)
    else:
        assert document.retry_at is not None
        with stage.services.ledger.database.write() as session:
            session.connection().exec_driver_sql(
                "UPDATE outbox SET available_at = '2020-01-01 00:00:00.000000'"
            )
    drain(stage.services)


def is_whole(row: Row, stage: Stage, identity: str) -> None:
    """Every line has its fact, whoever made it, and what is not the model's is told."""
    document = stage.record(identity)
    assert document.state is State.READY, document.error
    first, second, third = stage.made(identity)
    texts = "\n".join(fact.quote for one in (first, second, third) for fact in one.facts if fact.grounded)
    assert [line for line in LINES if line not in texts] == []
    assert {fact.origin for one in (first, third) for fact in one.facts} == {Origin.LLM}
    replaced = row.outcome == REPLACED
    assert second.replaced == (row.code if replaced else "")
    grounded = {fact.origin for fact in second.facts if fact.grounded}
    assert grounded == {Origin.EXTRACTIVE if replaced else Origin.LLM}
    assert document.counts.ungrounded == row.ungrounded
    codes = {warning.code for warning in document.warnings}
    assert codes == ({"model_replaced"} if replaced else set()) | (
        {"ungrounded_facts"} if row.ungrounded else set()
    )


def kept_and_paid_once(row: Row, stage: Stage, identity: str) -> None:
    """What is kept is valid, and what was answered is not asked about again: here, and by a second one."""
    assert [stage.calls_about(at) for at in range(3)] == [1, row.calls, 1]
    if row.waited is not None:
        assert tuple(stage.waited) == row.waited
    for answer in stage.answers():
        assert SaidEpisode.model_validate(answer).facts
    stage.server.script = []
    before = len(stage.server.accepted)
    again = hand_in(stage.services, "\n".join(LINES), owner=BOB).document.id
    drain(stage.services)
    assert stage.record(again).state is State.READY
    assert len(stage.server.accepted) - before == (1 if row.outcome == REPLACED else 0)


def test_the_documentation_shows_this_table() -> None:
    shown = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", DOCS.read_text("utf-8"), re.MULTILINE))
    assert {row.fault: shown.get(row.fault) for row in TABLE} == {row.fault: row.shown for row in TABLE}
