"""A warm process that forks one confined child a file, and never reads a file itself.

Starting Python and importing pydantic takes some 200 ms, a fork some 5 ms. The server has imported what every
child needs; after the first file of a type it imports the parser of that type too (importing is safe, hostile
bytes are only ever seen by children) and calls its ``warm_up()`` where it has one, for models that are costly
to load. After the first file with letters in pictures it loads the OCR models in the same way. A parser whose
libraries start threads is left out, because a fork would cut its threads off: then the server starts itself
anew without it. Offering ``warm_up()`` is a promise that its threads are not missed.

It reads jobs from standard input and writes answers to standard output, and ends when its caller does.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from pydantic import ValidationError

from ingest import child
from ingest.confine import WORK, adopt_orphans, leave_network
from ingest.errors import UnsupportedFile
from ingest.formats import by_media_type, load_parser
from ingest.jobs import MAX_MESSAGE_BYTES, Answer, Job, Report, is_whole, receive, send

_STDERR_BYTES = 4_000
_CHUNK = 2**16
PIXELS = "pixels"
"""Stands among the media types for what reads pictures of any of them."""
_ROOT = Path(__file__).parent.parent
_START = "import sys; sys.path.insert(0, sys.argv[1]); from ingest.forkserver import main; main(sys.argv[2:])"


def command(cold: list[str]) -> list[str]:
    """Return the command line of a server; ``cold`` names media types it must not keep warm."""
    return [sys.executable, "-I", "-c", _START, str(_ROOT), *cold]


def main(cold: list[str]) -> None:
    """Serve jobs until standard input closes."""
    leave_network()
    adopt_orphans()
    gc.freeze()
    warm: set[str] = set()
    threads = 1
    while (job := receive(0, Job)) is not None:
        answer = serve(job)
        send(1, answer)
        report = answer.report or Report()
        for what in (report.media_type, PIXELS if report.pixels else ""):
            if what and what not in warm and what not in cold:
                warm.add(what)
                threads = _warm_up(what, cold, threads)


def _module(what: str) -> ModuleType | None:
    """Import the parser of a media type, or what reads pixels."""
    if what == PIXELS:
        return importlib.import_module("ingest.ocr")
    row = by_media_type(what)
    return sys.modules[load_parser(row).__module__] if row else None


def _warm_up(what: str, cold: list[str], threads: int) -> int:
    """Load the parser of a type, or the OCR models, for all children to come.

    Returns:
        How many threads are known to be harmless from now on.
    """
    try:
        module = _module(what)
        if module is not None and hasattr(module, "warm_up"):
            module.warm_up()
            threads = max(threads, _thread_count())
    except UnsupportedFile:
        return threads
    except Exception:  # noqa: BLE001  whatever a library does at its start, children get by without a warm one
        threads = 0
    if _thread_count() > threads:
        arguments = command([*cold, what])
        os.execv(arguments[0], arguments)
    gc.freeze()
    return threads


def serve(job: Job) -> Answer:
    """Fork a child for a job and tell how it ended."""
    reader, writer = os.pipe()
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        child.run(job, writer, server)
    os.close(writer)
    deadline = time.monotonic() + job.limits.wall_s
    try:
        body, timed_out = _collect(reader, pid, deadline)
    except BaseException:
        _kill_all(pid)
        raise
    finally:
        os.close(reader)
    return _bury(pid, job, body, deadline, timed_out=timed_out)


def _collect(reader: int, pid: int, deadline: float) -> tuple[bytes, bool]:
    """Read what a child says until it has said it all or ended; True when the time was up before."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    poll.register(0, 0)  # only whether the caller has gone
    ending = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    if ending >= 0:
        poll.register(ending, select.POLLIN)
    os.set_blocking(reader, False)
    data = bytearray()
    try:
        while not is_whole(data):
            events = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
            if not events:
                return b"", True
            if 0 in events:
                raise SystemExit  # children die with us
            # A process the child left behind may hold the pipe open: an ended child says no more.
            if not _drain(reader, data) and (reader in events or ending in events):
                break
    finally:
        if ending >= 0:
            os.close(ending)
    return bytes(data), False


def _drain(reader: int, data: bytearray) -> bool:
    """Append what a pipe holds now; False when that was nothing."""
    before = len(data)
    with suppress(BlockingIOError):
        while part := os.read(reader, _CHUNK):
            data += part
            if len(data) > MAX_MESSAGE_BYTES + _CHUNK:
                break
    return len(data) > before


def _bury(pid: int, job: Job, body: bytes, deadline: float, *, timed_out: bool) -> Answer:
    """Wait for a child that has spoken, or kill it, with all that it started."""
    while not timed_out and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        timed_out = time.monotonic() > deadline
        time.sleep(0.001)
    _kill_all(pid)
    _, status, usage = os.wait4(pid, 0)
    _reap_orphans()
    stderr = _tail(job.out_dir / WORK / "stderr")
    shutil.rmtree(job.out_dir / WORK, ignore_errors=True)
    return Answer(
        report=None if timed_out or os.WIFSIGNALED(status) else _report(body),
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        timed_out=timed_out,
        peak_mb=usage.ru_maxrss / 1024,
        stderr=stderr,
    )


def _report(body: bytes) -> Report | None:
    try:
        return Report.model_validate_json(body[4:])
    except ValidationError:
        return None


def _kill_all(pid: int) -> None:
    """Kill a child that is not reaped yet and the processes of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def _reap_orphans() -> None:
    """Kill and reap what a child started in groups of its own and left to us."""
    while (children := _children()) is not None:
        for orphan in children:
            os.kill(orphan, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _children() -> list[int] | None:
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    except OSError:
        return None
    return [int(pid) for pid in listed] or None


def _thread_count() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - _STDERR_BYTES))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
