"""Stopping a worker without losing or repeating work: stages are asked to hand their work back.

Two ways lead here. The worker's main process, when it is told to stop, sets one byte of shared memory that
was made before the pool forked. And a pool process that is itself told to end, as when a whole process group
gets the signal, lets its stage hand back first instead of dying under it.
"""

from __future__ import annotations

import mmap
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_everyone = mmap.mmap(-1, 1)
# Time for the result of the last task to reach the main process.
_LAST_WORD_S = 0.2


class _Own:
    """What this process knows of its own end."""

    busy = False
    ends = False


def ask_to_stop() -> None:
    """Ask the stages that run in this process and its forks to hand their work back."""
    _everyone[0] = 1


def asked_to_stop() -> bool:
    """Tell whether the work of this process has to be handed back."""
    return _Own.ends or _everyone[0] == 1


@contextmanager
def ending_politely() -> Iterator[None]:
    """Let SIGTERM end this process only after the block, and from then on whenever it is idle.

    The handler is set here, and not when the process starts, because the pool sets its own after that. In a
    thread of a pool of threads nothing is set: only the main thread gets signals.
    """
    _Own.busy = True
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, _on_signal)
    try:
        yield
    finally:
        _Own.busy = False
        if _Own.ends:
            signal.setitimer(signal.ITIMER_REAL, _LAST_WORD_S)


def _on_signal(_number: int, _frame: object) -> None:
    _Own.ends = True
    if not _Own.busy:
        raise SystemExit(0)
