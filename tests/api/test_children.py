"""Watching child processes: restarted when they die, ended with all they started."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from api.launcher.children import Child, ChildSpec, end_leftovers
from api.launcher.home import Running

SLEEPER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
time.sleep(60)
"""


def until(condition: Callable[[], bool], patience_s: float = 10.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


@pytest.fixture
def child(tmp_path: Path) -> Child:
    spec = ChildSpec("sleeper", (sys.executable, "-c", SLEEPER), dict(os.environ), stop_s=2.0)
    return Child(spec, tmp_path / "log")


def family(child: Child) -> list[psutil.Process]:
    assert child.process is not None
    until(lambda: bool(psutil.Process(child.process.pid).children()))  # type: ignore[union-attr]
    own = psutil.Process(child.process.pid)
    return [own, *own.children(recursive=True)]


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_stopping_ends_the_whole_group(child: Child) -> None:
    child.start()
    processes = family(child)
    child.stop()
    until(lambda: all(gone(process) for process in processes))
    assert child.running() is None


def test_a_dead_child_is_started_again_without_its_orphans(child: Child) -> None:
    child.start()
    processes = family(child)
    os.kill(processes[0].pid, signal.SIGKILL)
    until(child.tend)
    try:
        assert child.restarts == 1
        assert child.running() is not None
        assert all(gone(process) for process in processes)
    finally:
        child.stop()


def test_leftovers_are_ended_but_a_reused_pid_is_left_alone(child: Child) -> None:
    child.start()
    known = child.running()
    assert known is not None
    assert child.process is not None
    stranger = Running(name="stranger", pid=os.getpid(), created=1.0)
    assert end_leftovers([stranger]) == []
    assert end_leftovers([known, stranger]) == ["sleeper"]
    child.process.wait(5)
