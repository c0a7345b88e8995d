"""Telling what became of a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from workers.holder import Fate, current_holder, fate_of

ROOT = Path(__file__).parents[2]
PRINT = "import time, workers.holder as h; print(h.current_holder(), flush=True); time.sleep(60)"
# A parent that starts the child, passes its line on and waits.
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


def start(*arguments: str) -> tuple[subprocess.Popen[bytes], str]:
    process = subprocess.Popen([sys.executable, "-c", *arguments], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    return process, process.stdout.readline().decode().strip()


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_this_process_lives() -> None:
    assert fate_of(current_holder()) is Fate.ALIVE


def test_a_process_that_died_alone() -> None:
    process, holder = start(PRINT)
    assert fate_of(holder) is Fate.ALIVE
    end(process)
    assert fate_of(holder) is Fate.DIED


def test_a_process_that_died_and_was_not_waited_for() -> None:
    process, holder = start(PRINT)
    process.kill()
    for _ in range(50):
        if fate_of(holder) is Fate.DIED:
            break
        time.sleep(0.05)
    assert fate_of(holder) is Fate.DIED
    end(process)


def test_a_process_that_died_with_its_parent() -> None:
    parent, holder = start(PARENT, PRINT)
    child = int(holder.split("|")[1].partition("@")[0])
    end(parent)
    assert fate_of(holder) is Fate.ALIVE
    os.kill(child, signal.SIGKILL)
    for _ in range(100):
        if fate_of(holder) is not Fate.ALIVE:
            break
        time.sleep(0.05)
    assert fate_of(holder) is Fate.DIED_WITH_PARENT


def test_of_a_process_elsewhere_nothing_can_be_told() -> None:
    place, own, parent = current_holder().split("|")
    assert fate_of("|".join(("another-host/boot/pid", own, parent))) is Fate.UNKNOWN
    assert fate_of("") is Fate.UNKNOWN
    # The same number with another start is another process.
    assert fate_of("|".join((place, own.partition("@")[0] + "@1.00", parent))) is Fate.DIED
