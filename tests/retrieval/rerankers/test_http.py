"""A service of Cohere's shape on the loopback, that misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from retrieval.errors import RerankerRefused, RerankerUnavailable
from retrieval.extra_knobs import RerankKnobs
from retrieval.rerankers.http import HttpReranker

TEXTS = ["The hose leaks.", "Zoë took the night train to Lyon.", "The rent is 1200 euros."]


class Service:
    """Scores a text by how many of the question's words it holds; ``answer`` replaces status and body."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], tuple[int, bytes]] = scored
        self.delay_s = self.drip_s = 0.0
        self.asked: list[tuple[dict[str, str], dict[str, Any]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Be quiet."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append((dict(self.headers), body))
                status, data = service.answer(body)
                time.sleep(service.delay_s)
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    for at in range(0, len(data), 1 if service.drip_s else len(data) or 1):
                        self.wfile.write(data[at : at + 1] if service.drip_s else data)
                        time.sleep(service.drip_s)
                except OSError:
                    self.close_connection = True  # the caller hung up, as it should

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1/rerank"


def scored(body: dict[str, Any]) -> tuple[int, bytes]:
    words = body["query"].lower().split()
    rows = [
        {"index": at, "relevance_score": sum(word in text.lower() for word in words) / len(words)}
        for at, text in enumerate(body["documents"])
    ]
    rows.sort(key=lambda row: -row["relevance_score"])
    return 200, json.dumps({"id": "x", "results": rows}).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()
    made.server.server_close()


def reranker(service: Service, **more: Any) -> HttpReranker:
    return HttpReranker(RerankKnobs(by="http", url=service.url, model="m1", api_key="secret", **more))


def test_scores_come_back_in_the_order_of_the_texts(service: Service) -> None:
    scores = reranker(service).scores("night train", TEXTS)
    assert scores == [0.0, 1.0, 0.0]
    headers, body = service.asked[0]
    assert headers["Authorization"] == "Bearer secret"
    assert body == {
        "model": "m1", "query": "night train", "documents": TEXTS, "top_n": 3, "return_documents": False
    }  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not json",
        b"[]",
        b'{"results": null}',
        b'{"results": [{"index": 0}]}',
        b'{"results": [{"index": "a", "relevance_score": 1}]}',
        b'{"results": []}',
        b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1}]}',
        (
            b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1},'
            b' {"index": 2, "relevance_score": 1}]}'
        ),
        (
            b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1},'
            b' {"index": 7, "relevance_score": 1}]}'
        ),
    ],
)
def test_an_answer_of_another_form_is_refused(service: Service, raw: bytes) -> None:
    service.answer = lambda _: (200, raw)
    with pytest.raises(RerankerRefused):
        reranker(service).scores("night train", TEXTS)


@pytest.mark.parametrize(
    ("status", "error"),
    [(500, RerankerUnavailable), (429, RerankerUnavailable), (401, RerankerUnavailable),
     (400, RerankerRefused), (404, RerankerRefused), (302, RerankerRefused)],
)  # fmt: skip
def test_refusals_say_what_was_answered(service: Service, status: int, error: type[Exception]) -> None:
    service.answer = lambda _: (status, b'{"message": "no such model"}')
    with pytest.raises(error, match=f"{status}: .*no such model"):
        reranker(service).scores("night train", TEXTS)


def test_what_is_not_there_in_time_is_not_waited_for(service: Service) -> None:
    service.delay_s = 3.0
    began = time.monotonic()
    with pytest.raises(RerankerUnavailable):
        reranker(service, timeout_s=0.2).scores("night train", TEXTS)
    assert time.monotonic() - began < 2.5


def test_a_dripping_answer_meets_the_deadline_too(service: Service) -> None:
    service.drip_s = 0.05
    began = time.monotonic()
    with pytest.raises(RerankerUnavailable, match="in time"):
        reranker(service, timeout_s=0.4).scores("night train", TEXTS)
    assert time.monotonic() - began < 4


def test_nobody_there_is_unavailable() -> None:
    knobs = RerankKnobs(by="http", url="http://127.0.0.1:9/rerank")
    with pytest.raises(RerankerUnavailable):
        HttpReranker(knobs).scores("x", ["y"])
    with pytest.raises(RerankerRefused, match="RERANK_URL"):
        HttpReranker(RerankKnobs(by="http"))
