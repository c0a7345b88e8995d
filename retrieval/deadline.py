"""Calls that may take longer than a search can wait."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread
from typing import TypeVar

T = TypeVar("T")


class Overdue(Exception):
    """The call was not done in time, or too many are under way."""


class Deadline:
    """Runs calls in threads of their own and waits so long and no longer.

    A call that is late goes on in the background, because nothing can end it; so only so many may be under
    way, and the next one is refused instead of queued.

    Args:
        at_once: calls under way, late ones included.
    """

    def __init__(self, at_once: int = 8) -> None:
        self._free = BoundedSemaphore(at_once)

    def run(self, call: Callable[[], T], seconds: float) -> T:
        """Return what a call returns, or raise what it raises.

        Raises:
            Overdue: it takes too long, or there is no room for it.
        """
        if not self._free.acquire(blocking=False):
            raise Overdue("too many earlier calls are still under way")
        done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        context = copy_context()

        def work() -> None:
            try:
                done.put((context.run(call), None))
            except BaseException as error:  # noqa: BLE001  it is raised where it is waited for
                done.put((None, error))
            finally:
                self._free.release()

        Thread(target=work, name="deadline", daemon=True).start()
        try:
            value, error = done.get(timeout=max(0.0, seconds))
        except Empty:
            raise Overdue(f"no answer within {seconds:g} s") from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value]
