"""Start, watch and stop child processes so that none outlives the launcher and none stays dead.

Each child leads its own session, so its whole group can be ended; on Linux the kernel ends it when the
launcher dies, however that happens (``PR_SET_PDEATHSIG``).
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from api.launcher.home import Running

_PR_SET_PDEATHSIG = 1
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_STABLE_S = 60.0

log = logging.getLogger("strata.launcher")


@dataclass(frozen=True)
class ChildSpec:
    """What to run. ``stop_s`` is how long it may take to end by itself."""

    name: str
    command: tuple[str, ...]
    env: dict[str, str]
    stop_s: float = 10.0


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end_group(group: int, patience_s: float, reap: Callable[[], object] = lambda: None) -> None:
    """End a process group: TERM, then KILL after ``patience_s`` seconds. ``reap`` is called while waiting."""
    for signum, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(group, signum)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            reap()
            if not _group_alive(group):
                return
            time.sleep(0.05)


@dataclass
class Child:
    """One running child and its restart history."""

    spec: ChildSpec
    log_path: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause_s: float = _FIRST_PAUSE_S
    not_before: float = 0.0
    restarts: int = field(default=0)

    def start(self) -> None:
        """Start the process; its output goes to its log file."""
        with self.log_path.open("ab") as out:
            self.process = subprocess.Popen(
                self.spec.command,
                env=self.spec.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.started = time.monotonic()

    def running(self) -> Running | None:
        """Return who this is, or None when it is not running."""
        if self.process is None or self.process.poll() is not None:
            return None
        try:
            created = psutil.Process(self.process.pid).create_time()
        except psutil.NoSuchProcess:
            return None
        return Running(name=self.spec.name, pid=self.process.pid, created=created)

    def tend(self) -> bool:
        """Restart the process when it has died, after a growing pause. Return True when it was restarted."""
        if self.process is not None and self.process.poll() is None:
            return False
        now = time.monotonic()
        if self.process is not None:
            log.warning("%s ended with %s; starting it again", self.spec.name, self.process.returncode)
            end_group(self.process.pid, 0.0)  # what its death left behind must not work on beside the new one
            self.pause_s = (
                _FIRST_PAUSE_S if now - self.started > _STABLE_S else min(self.pause_s * 2, _LONGEST_PAUSE_S)
            )
            self.not_before = now + self.pause_s - _FIRST_PAUSE_S
            self.process = None
        if now < self.not_before:
            return False
        self.start()
        self.restarts += 1
        return True

    def stop(self) -> None:
        """End the process and all it started."""
        if self.process is not None:
            end_group(self.process.pid, self.spec.stop_s, self.process.poll)
            self.process = None


def end_leftovers(known: Sequence[Running]) -> list[str]:
    """End processes that outlived an earlier launcher; return their names. A reused pid is left alone."""
    ended = []
    for one in known:
        try:
            same = abs(psutil.Process(one.pid).create_time() - one.created) < 1.0
        except psutil.NoSuchProcess:
            same = False
        if same or _group_without_leader(one.pid):
            end_group(one.pid, 5.0)
            ended.append(one.name)
    return ended


def _group_without_leader(group: int) -> bool:
    """Tell whether a group whose leader died still has members of ours."""
    if psutil.pid_exists(group) or not _group_alive(group):
        return False
    return any(_same_group(process.pid, group) for process in psutil.process_iter())


def _same_group(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except (ProcessLookupError, PermissionError):
        return False
