from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from extract.chat.capabilities import CapabilityMemory
from extract.chat.client import ChatClient
from extract.chat.errand import Errand, running
from extract.chat.limiter import PacedLimiter
from extract.chat.model import CallRecord, ChatMessage, ChatRequest, Rung
from extract.chat.pace import LocalPaces, Rates
from extract.errors import (
    CallAbandoned,
    ContentFiltered,
    ContextTooLong,
    ModelMisconfigured,
    ModelUnavailable,
    QuotaExhausted,
    RateLimited,
    TurnFarOff,
)
from extract.knobs import LlmKnobs
from tests.fault_server import TOO_FAST, Fault, FaultServer, serving

REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="<<<SOURCE\nAlice: We ship in June.\nSOURCE>>>"),),
    schema_name="episode",
    json_schema={"type": "object", "properties": {"a": {"type": "string", "minLength": 3}}},
    max_output_tokens=100,
)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving() as running:
        yield running


class Waits:
    """Takes the place of sleeping and remembers how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(server: FaultServer, waits: Waits | None = None, **knobs: object) -> ChatClient:
    settings = LlmKnobs.model_validate({"base_url": server.url, "model": "m", "tries": 3, **knobs})
    return ChatClient(settings, sleep=waits or Waits())


def test_a_schema_is_asked_for_the_standard_way_without_the_bounds_strict_endpoints_refuse(
    server: FaultServer,
) -> None:
    reply = client(server).ask(REQUEST)
    assert reply.rung is Rung.SCHEMA
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 50)
    sent = server.calls[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["properties"]["a"] == {"type": "string"}
    assert server.calls[0]["temperature"] == 0


@pytest.mark.parametrize("status", [400, 422, 500])
def test_the_ladder_goes_down_once_and_is_remembered(server: FaultServer, status: int) -> None:
    server.refuses = {"json_schema": status}
    asking = client(server)
    assert asking.ask(REQUEST).rung is Rung.OBJECT_SCHEMA
    assert asking.ask(REQUEST).rung is Rung.OBJECT_SCHEMA
    assert [call["response_format"]["type"] for call in server.calls] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
    assert server.calls[1]["response_format"]["schema"]["properties"]["a"]["minLength"] == 3


def test_the_lowest_rung_is_the_prompt_alone(server: FaultServer) -> None:
    server.refuses = {"json_schema": 400, "schema": 400, "json_object": 400}
    assert client(server).ask(REQUEST).rung is Rung.TEXT
    assert "response_format" not in server.calls[-1]
    assert '"minLength": 3' in server.calls[-1]["messages"][0]["content"]


def test_what_was_learned_outlives_the_process(server: FaultServer, tmp_path) -> None:
    server.refuses = {"json_schema": 400, "temperature": 400, "max_tokens": 400}
    settings = LlmKnobs(base_url=server.url, model="m")
    ChatClient(settings, CapabilityMemory(tmp_path)).ask(REQUEST)
    before = len(server.calls)
    ChatClient(settings, CapabilityMemory(tmp_path)).ask(REQUEST)
    assert len(server.calls) == before + 1
    assert "temperature" not in server.calls[-1]
    assert server.calls[-1]["max_completion_tokens"] == 100


def test_a_short_outage_is_waited_for(server: FaultServer) -> None:
    server.script = [Fault(503, {"message": "overloaded"}), Fault(500, {"message": "oops"})]
    waits = Waits()
    assert client(server, waits).ask(REQUEST).complete
    assert len(waits.seconds) == 2
    assert waits.seconds[0] <= 1 <= waits.seconds[1] * 2


def test_a_long_outage_is_left_to_the_queue(server: FaultServer) -> None:
    server.script = [Fault(502, {"message": "bad gateway"})] * 3
    with pytest.raises(ModelUnavailable):
        client(server).ask(REQUEST)
    assert len(server.calls) == 3


def test_retry_after_is_honoured_to_the_second(server: FaultServer) -> None:
    server.script = [Fault(429, TOO_FAST.error, {"retry-after": "7"})]
    waits = Waits()
    client(server, waits).ask(REQUEST)
    assert waits.seconds == [7.0]


def test_a_long_retry_after_is_left_to_the_queue_and_told_to_everybody(server: FaultServer) -> None:
    server.script = [Fault(429, TOO_FAST.error, {"retry-after": "600"})]
    paces = LocalPaces()
    settings = LlmKnobs(base_url=server.url, model="m")
    asking = ChatClient(settings, limiter=PacedLimiter(paces, Rates(), 30))
    with pytest.raises(RateLimited) as caught:
        asking.ask(REQUEST)
    assert caught.value.retry_after_s == 600
    with pytest.raises(TurnFarOff):
        asking.ask(REQUEST)
    assert len(server.calls) == 1
    assert paces.held_s() > 590


def test_a_limit_without_retry_after_backs_off(server: FaultServer) -> None:
    server.script = [TOO_FAST, TOO_FAST, TOO_FAST]
    waits = Waits()
    with pytest.raises(RateLimited):
        client(server, waits).ask(REQUEST)
    assert len(waits.seconds) == 2


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (
            Fault(429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
            QuotaExhausted,
        ),
        (Fault(402, {"message": "Insufficient Balance"}), QuotaExhausted),
        (Fault(401, {"message": "Incorrect API key"}), ModelMisconfigured),
        (Fault(404, {"message": "The model `m` does not exist"}), ModelMisconfigured),
        (
            Fault(
                400, {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}
            ),
            ContextTooLong,
        ),
        (Fault(413, {"message": "too large"}), ContextTooLong),
        (Fault(400, {"message": "The response was filtered", "code": "content_filter"}), ContentFiltered),
        (Fault(finish="content_filter"), ContentFiltered),
    ],
)
def test_what_will_not_change_is_not_tried_again(
    server: FaultServer, fault: Fault, error: type[Exception]
) -> None:
    server.script = [fault]
    with pytest.raises(error):
        client(server).ask(REQUEST)
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "fault",
    [Fault(drop=True), Fault(raw=b"<html>gateway</html>"), Fault(raw=b'{"choices": []}'), Fault(raw=b"")],
)
def test_a_broken_answer_is_asked_for_again(server: FaultServer, fault: Fault) -> None:
    server.script = [fault]
    assert client(server).ask(REQUEST).complete
    assert len(server.calls) == 2


def test_a_dripping_server_cannot_stretch_the_deadline(server: FaultServer) -> None:
    server.script = [Fault(drip_s=0.05)]
    started = time.monotonic()
    with pytest.raises(ModelUnavailable):
        client(server, tries=1, timeout_s=0.5).ask(REQUEST)
    assert time.monotonic() - started < 10


def test_an_endless_answer_is_not_read_on(server: FaultServer) -> None:
    server.script = [Fault(wrap=lambda text: text * 2000)]
    with pytest.raises(ModelUnavailable):
        client(server, tries=1, max_answer_bytes=10_000).ask(REQUEST)


def test_an_endpoint_that_is_away_is_unavailable() -> None:
    with serving() as server:
        url = server.url
    gone = ChatClient(LlmKnobs(base_url=url, model="m", tries=1))
    with pytest.raises(ModelUnavailable):
        gone.ask(REQUEST)


def test_an_answer_cut_for_length_is_told(server: FaultServer) -> None:
    server.script = [Fault(finish="length")]
    assert not client(server).ask(REQUEST).complete


def test_every_call_is_recorded_failures_included(server: FaultServer) -> None:
    records: list[CallRecord] = []
    server.refuses = {"json_schema": 400}
    server.script = [TOO_FAST, Fault(finish="length")]
    settings = LlmKnobs(base_url=server.url, model="m")
    ChatClient(settings, on_call=records.append, sleep=Waits()).ask(REQUEST)
    assert [record.outcome for record in records] == ["refused", "llm_rate_limited", "refused", "cut"]
    assert records[-1].usage.completion_tokens == 50


def test_an_endpoint_that_chokes_on_a_schema_without_a_word_is_asked_without_one(
    server: FaultServer, tmp_path: Path
) -> None:
    choking = Fault(500, {"message": "Internal Server Error"})
    server.script = [choking] * 3
    settings = LlmKnobs(base_url=server.url, model="m")
    asking = ChatClient(settings, CapabilityMemory(tmp_path), sleep=Waits())
    assert asking.ask(REQUEST).rung is Rung.OBJECT_SCHEMA
    assert asking.ask(REQUEST).rung is Rung.OBJECT_SCHEMA
    # It was only a guess: another process begins with the schema again.
    again = ChatClient(settings, CapabilityMemory(tmp_path), sleep=Waits())
    assert again.ask(REQUEST).rung is Rung.SCHEMA
    server.script = [choking] * 3
    assert again.ask(REQUEST).rung is Rung.SCHEMA  # it has answered before: an outage


def test_a_refusal_inside_an_answer_of_200_is_what_it_says(server: FaultServer) -> None:
    body = {"error": {"code": 429, "message": "Rate limit reached"}}
    server.script = [Fault(raw=json.dumps(body).encode())]
    waits = Waits()
    assert client(server, waits).ask(REQUEST).complete
    assert len(waits.seconds) == 1
    server.script = [Fault(raw=b'{"error": {"code": "context_length_exceeded", "message": "too long"}}')]
    with pytest.raises(ContextTooLong):
        client(server).ask(REQUEST)


def test_a_limit_that_speaks_of_billing_but_ends_soon_is_a_limit(server: FaultServer) -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    server.script = [Fault(429, {"message": words}, {"retry-after": "2"})]
    waits = Waits()
    assert client(server, waits).ask(REQUEST).complete
    assert waits.seconds == [2.0]


def test_work_that_nobody_waits_for_any_more_asks_nothing(server: FaultServer) -> None:
    over: list[bool] = []
    with running(Errand(over=lambda: bool(over))):
        server.script = [Fault(503, {"message": "overloaded"})]

        def stop_while_waiting(_: float) -> None:
            over.append(True)

        settings = LlmKnobs(base_url=server.url, model="m")
        with pytest.raises(CallAbandoned):
            ChatClient(settings, sleep=stop_while_waiting).ask(REQUEST)
    assert len(server.calls) == 1
