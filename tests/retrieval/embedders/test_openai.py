from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from extract.chat.errand import Errand, running
from extract.chat.model import CallRecord
from retrieval.embedders.meter import Meter
from retrieval.embedders.openai import OpenAIEmbedder
from retrieval.errors import EmbedderRefused, EmbedderUnavailable, FingerprintMismatch
from retrieval.knobs import EmbedKnobs

Answer = tuple[int, dict[str, str], Any]


def vectors(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 0.0] for text in texts]


def good(body: dict[str, Any]) -> Answer:
    rows = [
        {"object": "embedding", "index": at, "embedding": row}
        for at, row in enumerate(vectors(body["input"]))
    ]
    return (
        200,
        {},
        {
            "object": "list",
            "model": "m",
            "data": rows[::-1],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        },
    )


class Service:
    """A service on loopback that answers as it is told and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], Answer] = good
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.told: list[CallRecord] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.asked.append(body)
                service.keys.append(self.headers["Authorization"])
                status, headers, content = service.answer(body)
                raw = json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def embedder(self, **knobs: Any) -> OpenAIEmbedder:
        given = {"model": "m", "dimension": 3, "base_url": self.url, "retries": 0, "timeout_s": 5, **knobs}
        return OpenAIEmbedder(EmbedKnobs.model_validate(given), Meter(after=self.told.append))


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def test_vectors_come_in_order_and_unit(service: Service) -> None:
    found = service.embedder(api_key="secret").embed_passages(["a", "bbb"])
    np.testing.assert_allclose(found, [[2**-0.5, 2**-0.5, 0], [0.9486833, 0.3162278, 0]], rtol=1e-6)
    assert service.keys == ["Bearer secret"]
    assert "dimensions" not in service.asked[0]


def test_batches_are_bounded_by_texts_and_by_tokens(service: Service) -> None:
    service.embedder(batch_texts=2).embed_passages(["a"] * 5)
    assert [len(body["input"]) for body in service.asked] == [2, 2, 1]
    service.asked.clear()
    service.embedder(batch_tokens=30).embed_passages(["x" * 60] * 3)
    assert [len(body["input"]) for body in service.asked] == [1, 1, 1]


def test_every_request_is_told_with_its_tokens_failed_ones_too(service: Service) -> None:
    embedder = service.embedder(batch_texts=1)
    with running(Errand("acme", "d", "index")):
        embedder.embed_passages(["a", "b"])
    service.answer = lambda body: (200, {}, {**good(body)[2], "usage": None})
    embedder.embed_query("four words stand here")
    service.answer = lambda body: (429, {}, {"error": {"message": "slow down"}})
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")
    assert [(one.outcome, one.usage.prompt_tokens, one.usage.estimated) for one in service.told] == [
        ("ok", 1, False), ("ok", 1, False), ("ok", pytest.approx(5, abs=2), True),
        (EmbedderUnavailable.code, 0, False),
    ]  # fmt: skip
    assert {(one.errand.tenant, one.errand.stage) for one in service.told[:2]} == {("acme", "index")}


def test_instructions_differ_and_shape_the_fingerprint(service: Service) -> None:
    embedder = service.embedder(query_instruction="Q: ", document_instruction="D: ", send_dimension=True)
    embedder.embed_query("x")
    embedder.embed_passages(["y"])
    assert [body["input"] for body in service.asked] == [["Q: x"], ["D: y"]]
    assert service.asked[0]["dimensions"] == 3
    assert embedder.fingerprint != service.embedder().fingerprint


def test_long_texts_are_read_in_parts_and_nothing_is_cut(service: Service) -> None:
    text = "语" * 40 + " " + "word " * 40
    found = service.embedder(text_tokens=16).embed_passages([text, "short", ""])
    sent = [part for body in service.asked for part in body["input"]]
    assert "".join(sent).replace(" ", "") == text.replace(" ", "") + "short" + "."
    assert max(len(part.encode()) for part in sent) <= 64
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)


def test_another_length_is_a_mismatch(service: Service) -> None:
    with pytest.raises(FingerprintMismatch, match="3 numbers, not of 8") as caught:
        service.embedder(dimension=8).embed_query("x")
    assert "EMBED_DIMENSION" in caught.value.next_step


@pytest.mark.parametrize("status", [401, 408, 429, 500, 503])
def test_what_may_pass_is_unavailable(service: Service, status: int) -> None:
    service.answer = lambda _: (status, {"Retry-After": "7"}, {"error": {"message": "busy"}})
    with pytest.raises(EmbedderUnavailable, match="busy") as caught:
        service.embedder().embed_query("x")
    assert caught.value.retry_after_s == 7


def test_what_will_not_pass_is_refused(service: Service) -> None:
    service.answer = lambda _: (400, {}, {"error": {"message": "no such model"}})
    with pytest.raises(EmbedderRefused, match="no such model"):
        service.embedder().embed_query("x")


def test_a_failing_service_is_asked_again(service: Service) -> None:
    def once(body: dict[str, Any]) -> Answer:
        service.answer = good
        return 503, {"Retry-After": "0"}, {"error": {"message": "starting"}}

    service.answer = once
    assert service.embedder(retries=2).embed_query("x").shape == (3,)
    assert len(service.asked) == 2


@pytest.mark.parametrize("rows", [[[0.0, 0.0, 0.0]], [], [[1.0, 2.0, 3.0]] * 2])
def test_unusable_answers_are_refused(service: Service, rows: list[list[float]]) -> None:
    def odd(_: dict[str, Any]) -> Answer:
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        return 200, {}, {"object": "list", "model": "m", "data": data}

    service.answer = odd
    with pytest.raises(EmbedderRefused):
        service.embedder().embed_query("x")


def test_no_service_is_unavailable() -> None:
    knobs = EmbedKnobs(model="m", dimension=3, base_url="http://127.0.0.1:9/v1", retries=0, timeout_s=2)
    with pytest.raises(EmbedderUnavailable):
        OpenAIEmbedder(knobs).embed_query("x")


def test_model_and_dimension_have_to_be_set() -> None:
    with pytest.raises(EmbedderRefused, match="EMBED_DIMENSION"):
        OpenAIEmbedder(EmbedKnobs(model="m"))
