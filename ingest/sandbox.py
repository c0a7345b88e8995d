"""The caller's side of the fork server: hand over a job, wait, tell what its end means.

Each process keeps up to two idle servers and starts more as its threads ask for them. A server that dies is
replaced, one that does not answer is killed: the caller always gets an outcome or a typed error in time.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import select
import shutil
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

from ingest.confine import WORK
from ingest.errors import FileTooLarge, IngestError, ParserCrashed, ParseTimeout, StrataError, TransientError
from ingest.forkserver import command
from ingest.jobs import Answer, Job, Report, receive, send
from ingest.limits import ParseLimits
from ingest.outcome import ParseOutcome
from ingest.reading import CHILDREN, ELEMENTS

_LOG = logging.getLogger(__name__)
_IDLE = 2
_GRACE_S = 15.0
# A library hit by the memory limit often aborts instead of saying so.
_OUT_OF_MEMORY_SHARE = 0.6
# The server sees no secret: of the environment only what programs need to run.
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    # The OCR runtime and the library behind the extra "general" would tell their makers that they run.
    "ORT_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "true", "SCARF_NO_ANALYTICS": "true",
}  # fmt: skip


class _Server:
    """A running fork server and the pipes to it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            command([]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise ParserCrashed("The process that reads files could not be started.")
        self._to, self._from = self.process.stdin, self.process.stdout

    def ask(self, job: Job) -> Answer | None:
        """Return what became of a job, None when the server has died.

        Raises:
            ParseTimeout: the server has not answered although the child's time is over.
        """
        try:
            send(self._to.fileno(), job)
        except BrokenPipeError:
            return None
        poll = select.poll()
        poll.register(self._from.fileno(), select.POLLIN)
        if not poll.poll((job.limits.wall_s + _GRACE_S) * 1000):
            raise ParseTimeout
        return receive(self._from.fileno(), Answer)

    def close(self) -> None:
        """End the server, and with it a child it may still have."""
        self._to.close()
        self._from.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def forget(self) -> None:
        """Let go of a server that belongs to the process this one was forked from."""
        self._to.close()
        self._from.close()
        self.process.returncode = 0


class _Pool:
    """The idle servers of this process."""

    def __init__(self) -> None:
        self._idle: list[_Server] = []
        self._lock = threading.Lock()

    def take(self) -> _Server:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Server()

    def give_back(self, server: _Server) -> None:
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(server)
                return
        server.close()

    def close(self) -> None:
        with self._lock:
            servers, self._idle = self._idle, []
        for server in servers:
            server.close()

    def after_fork(self) -> None:
        servers, self._idle = self._idle, []
        self._lock = threading.Lock()
        for server in servers:
            server.forget()


_POOL = _Pool()
atexit.register(_POOL.close)
os.register_at_fork(after_in_child=_POOL.after_fork)


def run_limited(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read one file in a confined child process.

    Raises:
        IngestError: what the child reported, or that it died or took too long.
        TransientError: there was no space left to write to.
    """
    _clear(out_dir)
    started = time.monotonic()
    answer = _ask(Job(path=path, name=name, limits=limits, out_dir=out_dir))
    report = answer.report
    if report is not None and report.outcome is not None:
        check_left(report.outcome, out_dir)
        return report.outcome
    error = _error_of_report(report) if report is not None else _error_of_end(answer, limits)
    _LOG.info(
        "parse failed: %s after %.1f s, signal %d, %.0f MiB%s",
        error.code, time.monotonic() - started, answer.signal, answer.peak_mb,
        "\n" + (report.trace if report else answer.stderr),
    )  # fmt: skip
    _clear(out_dir)
    raise error


def _clear(out_dir: Path) -> None:
    """Remove what a parse leaves, whole or half."""
    for folder in (CHILDREN, WORK):
        shutil.rmtree(out_dir / folder, ignore_errors=True)
    for path in (out_dir / ELEMENTS, *out_dir.glob(f".{ELEMENTS}.*")):
        path.unlink(missing_ok=True)


def check_left(outcome: ParseOutcome, out_dir: Path) -> None:
    """See that a child left plain files where it says, and no links that would lead their reader elsewhere.

    Raises:
        ParserCrashed: it left something else; a reader that is still itself does not.
    """
    left: list[tuple[Path, int | None]] = [(out_dir / ELEMENTS, None)] if outcome.element_count else []
    for number, child in enumerate(outcome.children):
        if child.stored_as != f"{number:05d}.bin":
            raise ParserCrashed("The reader of the file reported what it never wrote.")
        left.append((out_dir / CHILDREN / child.stored_as, child.size_bytes))
    folder = out_dir / CHILDREN
    if folder.is_symlink() or not folder.is_dir():
        raise ParserCrashed("The reader of the file left no folder for what it found inside.")
    for path, size in left:
        found = path.lstat() if os.path.lexists(path) else None
        if found is None or not stat.S_ISREG(found.st_mode) or size not in (None, found.st_size):
            raise ParserCrashed("The reader of the file left something else than it reported.")


def _ask(job: Job) -> Answer:
    """Ask an idle server, or a new one when the first was found dead."""
    for _ in range(2):
        server = _POOL.take()
        answered = False
        try:
            answer = server.ask(job)
            answered = answer is not None
        finally:
            # Whatever came between, a task's time limit too: a server without an answer is of no more use.
            if answered:
                _POOL.give_back(server)
            else:
                server.close()
        if answer is not None:
            return answer
    raise ParserCrashed("The process that reads files died twice on this file.")


def _error_of_report(report: Report) -> StrataError:
    if report.code == TransientError.code:
        return TransientError(report.detail)
    classes = {kind.code: kind for kind in IngestError.__subclasses__()}
    return classes.get(report.code, ParserCrashed)(report.detail, next_step=report.next_step or None)


def _error_of_end(answer: Answer, limits: ParseLimits) -> IngestError:
    """Return what it means that a child died without a report."""
    if answer.timed_out:
        return ParseTimeout(f"Reading the file took longer than {limits.wall_s:g} s (PARSE_WALL_S).")
    if answer.signal == signal.SIGXCPU:
        return ParseTimeout(
            f"Reading the file took more than {limits.cpu_s} s of processor time (PARSE_CPU_S).",
            next_step="Split the file, or raise PARSE_CPU_S or PARSE_CPU_S_PER_MB.",
        )
    if answer.signal == signal.SIGKILL or answer.peak_mb > limits.memory_mb * _OUT_OF_MEMORY_SHARE:
        return FileTooLarge(
            f"Reading the file needs more memory than {limits.memory_mb} MiB (PARSE_MEMORY_MB)."
        )
    return ParserCrashed()
