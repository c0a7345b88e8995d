"""Several pieces of one work done side by side, as they wait for somebody else most of the time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_LOOK_S = 0.2


class Lanes(Generic[T, R]):
    """Runs a function on items in a few threads. One lane uses no thread at all.

    The block can be left at any time: what has not begun is not begun, and ``over`` tells what runs that
    nobody waits for it any more. It is not waited for.

    Args:
        work: what is done with an item; runs in a copy of the caller's context.
        lanes: how many at the same time.
        check: called a few times a second while waiting; ends the waiting by raising.
    """

    def __init__(self, work: Callable[[T], R], lanes: int, check: Callable[[], None]) -> None:
        self._work = work
        self._lanes = lanes
        self._check = check
        self._running: dict[Future[R], T] = {}
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(lanes, thread_name_prefix="lane") if lanes > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def over(self) -> bool:
        """Tell whether the block has been left."""
        return self._over.is_set()

    def put(self, item: T) -> None:
        """Begin an item. The caller has made room with ``finished``."""
        if self._pool is None:
            future: Future[R] = Future()
            try:
                future.set_result(self._work(item))
            except Exception as error:  # noqa: BLE001  handed on to whoever asks for the result
                future.set_exception(error)
        else:
            future = self._pool.submit(copy_context().run, self._work, item)
        self._running[future] = item

    def finished(self) -> list[tuple[T, Future[R]]]:
        """Return what has ended, after waiting until a lane is free."""
        return self._collect(most_left=self._lanes - 1)

    def rest(self) -> list[tuple[T, Future[R]]]:
        """Return what still ran, after waiting for one more to end; empty when nothing runs any more."""
        return self._collect(most_left=max(0, len(self._running) - 1))

    def rest_within(self, seconds: float) -> list[tuple[T, Future[R]]]:
        """Return what ends in the next few seconds, whatever ``check`` says."""
        wait(self._running, timeout=seconds)
        return self._ended()

    def _collect(self, most_left: int) -> list[tuple[T, Future[R]]]:
        ended = self._ended()
        while len(self._running) > most_left:
            self._check()
            wait(self._running, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
            ended += self._ended()
        return ended

    def _ended(self) -> list[tuple[T, Future[R]]]:
        done = [future for future in self._running if future.done()]
        return [(self._running.pop(future), future) for future in done]
