"""A language model's endpoint on the loopback, in the OpenAI wire format, that misbehaves on demand.

Without a script it answers ideally: one fact a line of the source, quoted verbatim. A script is a list of
faults, one used up by each call; what an endpoint never understands (``refuses``) is its nature.
Every call is counted by the content it asks about.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO

Answer = Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Fault:
    """What happens to one call.

    Attributes:
        status: of the response.
        error: the ``error`` object of a refusal.
        headers: further headers.
        wrap: turns the ideal answer into what is sent.
        finish: the finish_reason.
        drop: the connection is closed in the middle of the body.
        delay_s: seconds before anything is sent.
        drip_s: seconds between single bytes of the body.
        raw: the whole body, instead of an answer.
    """

    status: int = 200
    error: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    wrap: Callable[[str], str] = str
    finish: str = "stop"
    drop: bool = False
    delay_s: float = 0.0
    drip_s: float = 0.0
    raw: bytes | None = None


def source_lines(body: dict[str, Any]) -> list[str]:
    """Return the lines of the source in a request."""
    text = next(one["content"] for one in reversed(body["messages"]) if "<<<SOURCE" in one["content"])
    return [line for line in text.split("<<<SOURCE\n")[1].split("\nSOURCE>>>")[0].split("\n") if line.strip()]


def ideal(body: dict[str, Any]) -> str:
    """Return a faultless answer: every line a fact, its words the quote."""
    facts = []
    for line in source_lines(body):
        speaker, mark, said = line.partition(": ")
        if not mark:
            speaker, said = "", line
        facts.append({"text": line, "topic": "talk", "speaker": speaker, "time": "", "quote": said})
    said = " ".join(str(fact["text"]) for fact in facts)[:200]
    answer = {"title": said[:40], "summary": said, "topics": ["talk"], "participants": [], "facts": facts}
    return json.dumps(answer, ensure_ascii=False)


class _Quiet(ThreadingHTTPServer):
    """Says nothing of callers that hung up or were killed."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class FaultServer:
    """The endpoint, running in threads of this process."""

    def __init__(self, answer: Answer = ideal) -> None:
        self.answer = answer
        self.script: list[Fault] = []
        self.refuses: dict[str, int] = {}  # response_format type, "schema" or "temperature" → status
        self.calls: list[dict[str, Any]] = []
        self.accepted: list[dict[str, Any]] = []  # those whose form the endpoint knows
        self.embedding_script: list[Fault] = []
        self.embedded: list[list[str]] = []
        self.by_content: Counter[str] = Counter()
        self.refused = 0
        self.limit: tuple[int, float] | None = None  # calls within any stretch of so many seconds
        self._taken: deque[float] = deque()
        self._lock = threading.Lock()
        self._server = _Quiet(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """What LLM_BASE_URL would be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> None:
        """Serve until stopped."""
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def stop(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._server.server_close()

    def take(self, body: dict[str, Any]) -> Fault:
        """Count a call and say what happens to it."""
        content = json.dumps(body["messages"], ensure_ascii=False, sort_keys=True)
        with self._lock:
            self.calls.append(body)
            refusal = self._refusal(body)
            if refusal is not None:
                return refusal
            self.accepted.append(body)
            self.by_content[hashlib.sha256(content.encode()).hexdigest()] += 1
            if (wait_s := self._too_fast()) is not None:
                self.refused += 1
                return replace(TOO_FAST, headers={"retry-after-ms": f"{wait_s * 1000:.0f}"})
            return self.script.pop(0) if self.script else Fault()

    def take_texts(self, body: dict[str, Any]) -> Fault:
        """Count the texts of a request for vectors and say what happens to it."""
        with self._lock:
            self.embedded.append([body["input"]] if isinstance(body["input"], str) else body["input"])
            return self.embedding_script.pop(0) if self.embedding_script else Fault()

    def _too_fast(self) -> float | None:
        """Return after how long a call would be taken when there were too many, as real limits count them."""
        if self.limit is None:
            return None
        calls, within_s = self.limit
        now = time.monotonic()
        while self._taken and self._taken[0] <= now - within_s:
            self._taken.popleft()
        if len(self._taken) >= calls:
            return self._taken[0] + within_s - now
        self._taken.append(now)
        return None

    def _refusal(self, body: dict[str, Any]) -> Fault | None:
        wanted = body.get("response_format", {})
        names = [
            str(wanted.get("type", "")),
            *(name for name in ("temperature", "max_tokens") if name in body),
        ]
        if "schema" in wanted:
            names.append("schema")
        for name in names:
            if name in self.refuses:
                words = name if name in ("temperature", "max_tokens") else f"response_format {name}"
                message = f"Unsupported parameter: {words}"
                return Fault(
                    self.refuses[name], {"message": message, "type": "invalid_request_error", "param": name}
                )
        return None


TOO_FAST = Fault(429, {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"})


def _handler_of(server: FaultServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/embeddings"):
                fault = server.take_texts(body)
                self._send(fault, fault.raw if fault.raw is not None else _embeddings(body, fault))
                return
            fault = server.take(body)
            self._send(fault, fault.raw if fault.raw is not None else _completion(server, body, fault))

        def _send(self, fault: Fault, data: bytes) -> None:
            time.sleep(fault.delay_s)
            try:
                self._reply(fault, data)
            except OSError:
                return  # the caller hung up, as it should
            finally:
                if fault.drop or fault.drip_s:
                    self.close_connection = True

        def _reply(self, fault: Fault, data: bytes) -> None:
            self.send_response(fault.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in fault.headers.items():
                self.send_header(name, value)
            self.end_headers()
            _write(self.wfile, fault, data)

    return Handler


def _write(stream: BinaryIO, fault: Fault, data: bytes) -> None:
    if not fault.drip_s:
        stream.write(data[: len(data) // 2] if fault.drop else data)
        return
    for at in range(len(data)):
        stream.write(data[at : at + 1])
        stream.flush()
        time.sleep(fault.drip_s)


def _completion(server: FaultServer, body: dict[str, Any], fault: Fault) -> bytes:
    if fault.error is not None:
        return json.dumps({"error": fault.error}).encode()
    text = fault.wrap(server.answer(body))
    reply = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [
            {"index": 0, "finish_reason": fault.finish, "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }
    return json.dumps(reply).encode("utf-8", "surrogatepass")


def _embeddings(body: dict[str, Any], fault: Fault) -> bytes:
    if fault.error is not None:
        return json.dumps({"error": fault.error}).encode()
    inputs: Sequence[str] = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = []
    for at, text in enumerate(inputs):
        digest = hashlib.sha256(str(text).encode()).digest()
        data.append(
            {"object": "embedding", "index": at, "embedding": [byte / 255 - 0.5 for byte in digest[:8]]}
        )
    reply = {
        "object": "list",
        "model": body["model"],
        "data": data,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
    return fault.wrap(json.dumps(reply)).encode()


@contextmanager
def serving(answer: Answer = ideal) -> Iterator[FaultServer]:
    """Run an endpoint for the length of a block."""
    server = FaultServer(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()
