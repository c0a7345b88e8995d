import errno
import os
import sys
import time
from pathlib import Path

import pytest

from ingest import sandbox
from ingest.child import error_for
from ingest.errors import CorruptFile, FileTooLarge, MaliciousFile, StrataError, TransientError
from ingest.forkserver import command
from ingest.jobs import Answer, Job, Report, is_whole, receive, send
from ingest.limits import ParseLimits

ROOT = Path(__file__).parents[2]
WITH_A_THREAD = f"""
import sys, threading, time
sys.path.insert(0, {str(ROOT)!r})
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
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


def test_a_server_with_threads_starts_anew_without_what_brought_them(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "command", lambda cold: [sys.executable, "-I", "-c", WITH_A_THREAD])
    server = sandbox._Server()
    try:
        assert server.ask(job) is not None
        deadline = time.monotonic() + 20
        while "text/plain" not in arguments(server.process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "text/plain" in arguments(server.process.pid)
        answer = server.ask(job)
        assert isinstance(answer, Answer)
        assert answer.report is not None
        assert answer.report.outcome is not None
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
