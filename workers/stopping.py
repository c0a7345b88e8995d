"""Telling the worker processes of one worker that it wants to stop.

One byte of shared memory, made when this module is imported and so before the pool forks: the worker's
main process sets it, the stages in its children see it and hand their work back.
"""

from __future__ import annotations

import mmap

_flag = mmap.mmap(-1, 1)


def ask_to_stop() -> None:
    """Ask the stages that run in this process and its forks to hand their work back."""
    _flag[0] = 1


def asked_to_stop() -> bool:
    """Tell whether they were asked."""
    return _flag[0] == 1


def take_back() -> None:
    """Withdraw the request."""
    _flag[0] = 0
