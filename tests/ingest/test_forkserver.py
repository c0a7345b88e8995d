import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from ingest import sandbox
from ingest.child import error_for
from ingest.errors import CorruptFile, FileTooLarge, MaliciousFile, StrataError, TransientError
from ingest.forkserver import PIXELS, command
from ingest.jobs import Answer, Job, Report, is_whole, receive, send
from ingest.limits import ParseLimits
from ingest.outcome import ParseOutcome

ROOT = Path(__file__).parents[2]
START = f"""
import sys, threading, time
sys.path.insert(0, {str(ROOT)!r})
def start_thread():
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
import ingest.parsers.plain as plain
%s
from ingest.forkserver import main
main([])
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    source = tmp_path / "blob"
    source.write_text("words")
    return Job(path=source, name="a.txt", limits=ParseLimits(), out_dir=tmp_path / "out")


def arguments(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def test_messages_survive_the_pipe() -> None:
    reader, writer = os.pipe()
    try:
        send(writer, Report(code="corrupt", detail="ü\ud800"))
        assert receive(reader, Report) == Report(code="corrupt", detail="ü\ufffd")
        os.write(writer, b"\xff\xff\xff\xff")
        with pytest.raises(ValueError, match="too long"):
            receive(reader, Report)
        os.write(writer, b"\0\0")
        os.close(writer)
        writer = -1
        assert receive(reader, Report) is None
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def test_a_whole_message_is_recognised() -> None:
    assert not is_whole(b"\0\0\0")
    assert not is_whole(b"\0\0\0\2{")
    assert is_whole(b"\0\0\0\2{}")
    assert is_whole(b"\xff\0\0\0")


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[sandbox._Server]:
    start = START % request.param
    monkeypatch.setattr(sandbox, "command", lambda cold: [sys.executable, "-I", "-c", start])
    server = sandbox._Server()
    yield server
    server.close()


def outcome_of(answer: Answer | None) -> ParseOutcome:
    assert answer is not None
    assert answer.report is not None
    assert answer.report.outcome is not None
    return answer.report.outcome


@pytest.mark.parametrize(
    "server",
    ["start_thread()", "plain.warm_up = lambda: 1 / 0"],
    indirect=True,
    ids=["threads", "failure"],
)
def test_what_cannot_be_kept_warm_is_left_to_children(server: sandbox._Server, job: Job) -> None:
    outcome_of(server.ask(job))
    deadline = time.monotonic() + 30
    while "text/plain" not in arguments(server.process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "text/plain" in arguments(server.process.pid)
    assert outcome_of(server.ask(job)).element_count == 1


@pytest.mark.parametrize("server", ["plain.warm_up = start_thread"], indirect=True)
def test_a_parser_may_promise_that_its_threads_are_not_missed(server: sandbox._Server, job: Job) -> None:
    for _ in range(3):
        outcome_of(server.ask(job))
    assert "text/plain" not in arguments(server.process.pid)
    assert len(list(Path(f"/proc/{server.process.pid}/task").iterdir())) == 2


def test_models_that_read_pixels_are_loaded_once_for_all_children(tmp_path: Path) -> None:
    picture = Image.new("RGB", (320, 90), "white")
    ImageDraw.Draw(picture).text((20, 20), "Moss 1,250", fill="black", font_size=32)
    picture.save(tmp_path / "blob", "PNG")
    job = Job(path=tmp_path / "blob", name="a.png", limits=ParseLimits(), out_dir=tmp_path / "out")
    server = sandbox._Server()
    try:
        outcome_of(server.ask(job))
        again = server.ask(job)  # answered once the models are loaded
        assert outcome_of(again).element_count == 1
        assert "onnxruntime" in Path(f"/proc/{server.process.pid}/maps").read_text()
        assert PIXELS not in arguments(server.process.pid)
    finally:
        server.close()


def test_the_most_memory_is_told(job: Job) -> None:
    server = sandbox._Server()
    try:
        answer = server.ask(job)
        assert answer is not None
        assert answer.peak_mb > 1
    finally:
        server.close()


def test_a_server_ends_with_its_caller(job: Job) -> None:
    server = sandbox._Server()
    assert server.ask(job) is not None
    server._to.close()
    server.process.wait(timeout=10)
    server.close()


def test_the_command_line_names_no_secret_and_no_file() -> None:
    assert command(["a/b"])[-2:] == [str(ROOT), "a/b"]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (MemoryError(), FileTooLarge, "PARSE_MEMORY_MB"),
        (RecursionError(), MaliciousFile, "nested"),
        (OSError(errno.EFBIG, "x"), FileTooLarge, "PARSE_MAX_OUTPUT_BYTES"),
        (OSError(errno.ENOSPC, "x"), TransientError, "space"),
        (KeyError("part"), CorruptFile, "KeyError"),
        (CorruptFile("as said"), CorruptFile, "as said"),
    ],
)
def test_what_errors_mean(job: Job, error: Exception, kind: type[StrataError], words: str) -> None:
    said = error_for(error, job)
    assert type(said) is kind
    assert words in said.detail
