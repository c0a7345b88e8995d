"""Who holds a lease: a process that can be found again, so that the lease of a dead one need not lapse.

A holder is written "place|pid@start|parent pid@start". The place is the host, its boot and its process id
space: within one place a pid and its start time name a process for good. Elsewhere nothing can be told.
"""

from __future__ import annotations

import os
import socket
from enum import Enum
from pathlib import Path

import psutil


class Fate(Enum):
    """What became of the holder of a lease."""

    UNKNOWN = "unknown"  # it runs elsewhere
    ALIVE = "alive"
    DIED = "died"  # it alone: likely by what it worked on
    DIED_WITH_PARENT = "died_with_parent"  # the whole worker: likely by something else


def current_holder() -> str:
    """Return the name of this process as a holder."""
    return f"{_place()}|{_process(os.getpid())}|{_process(os.getppid())}"


def fate_of(holder: str) -> Fate:
    """Tell what became of a holder."""
    place, _, processes = holder.rpartition("|")
    place, _, own = place.rpartition("|")
    if place != _place():
        return Fate.UNKNOWN
    if _lives(own):
        return Fate.ALIVE
    return Fate.DIED if _lives(processes) else Fate.DIED_WITH_PARENT


def _place() -> str:
    return f"{socket.gethostname()}/{_first_line('/proc/sys/kernel/random/boot_id')}/{_pid_space()}"


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:  # not Linux; the boot then shows in the start times alone
        return "-"


def _pid_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return "-"


def _process(pid: int) -> str:
    try:
        return f"{pid}@{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return f"{pid}@-"


def _lives(process: str) -> bool:
    pid, _, _start = process.partition("@")
    try:
        found = psutil.Process(int(pid))
        return found.status() != psutil.STATUS_ZOMBIE and _process(int(pid)) == process
    except psutil.Error:
        return False
