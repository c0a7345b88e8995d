"""What the web server refuses before the application sees it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.server import refusal

APP = "def app(environ, start):\n    start('200 OK', [('Content-Length', '2')])\n    return [b'ok']\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("app")
    (folder / "tiny_app.py").write_text(APP)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [
        sys.executable, "-m", "gunicorn", "tiny_app:app", "--bind", f"127.0.0.1:{port}",
        "--worker-class", "api.server.Worker", "--threads", "2", "--pythonpath", str(folder),
    ]  # fmt: skip
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL) as server:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
        server.terminate()


def send(port: int, request: bytes) -> tuple[str, str]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        link.sendall(request)
        said = b"".join(iter(lambda: link.recv(65536), b"")).decode()
    head, _, body = said.partition("\r\n\r\n")
    return head, body


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
        (b"nonsense\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
    ],
)
def test_what_is_no_request_gets_a_problem_document(
    port: int, request_bytes: bytes, status: int, code: str
) -> None:
    head, body = send(port, request_bytes)
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert "application/problem+json" in head
    told = json.loads(body)
    assert (told["status"], told["code"], told["type"]) == (status, code, f"urn:strata:error:{code}")
    assert told["detail"]
    assert told["next_step"]


def test_a_request_that_is_one_is_answered(port: int) -> None:
    head, body = send(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (head.startswith("HTTP/1.1 200 "), body) == (True, "ok")


def test_what_is_our_fault_tells_nothing_of_the_inside() -> None:
    told = json.loads(refusal(ValueError("secret")).partition(b"\r\n\r\n")[2])
    assert (told["status"], told["code"], "secret" in str(told)) == (500, "internal", False)
