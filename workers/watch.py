"""Watching over a running stage: its lease is kept, its progress shown, its end asked for.

A thread of its own renews the lease, so a stage that is busy for long in one place is not taken for dead.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import psutil
from sqlalchemy.exc import SQLAlchemyError

from ingest.errors import StrataError
from workers.errors import StageStopped
from workers.ledger.stages import Stages
from workers.model import Lease
from workers.stopping import asked_to_stop

log = logging.getLogger(__name__)

_LEAVE_S = 0.2
_LASTING: set[int] = set()


class Interrupted(Exception):
    """The stage makes room and goes on later: its time slice is over, or the worker wants to stop."""


class Watch:
    """Keeps a lease while the block runs.

    Args:
        stages: the ledger's stages.
        lease: the lease to keep.
        renew_s: pause between two renewals; a fraction of the lease's length.
        slice_s: after this long the stage is asked to make room.
        look_s: pause between two looks at the ledger, and so the most often progress is written.
        stopping: tells whether the worker wants to stop.
    """

    def __init__(
        self, stages: Stages, lease: Lease, *, renew_s: float, slice_s: float, look_s: float = 1.0,
        stopping: Callable[[], bool] = asked_to_stop,
    ) -> None:  # fmt: skip
        self._stages = stages
        self._lease = lease
        self._renew_s = renew_s
        self._slice_ends = time.monotonic() + slice_s
        self._look_s = look_s
        self._stopping = stopping
        self._progress: tuple[int, int] | None = None
        self._shown: tuple[int, int] | None = None
        self._refused: StrataError | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def tell(self, done: int, total: int, *, may_pause: bool = True) -> None:
        """Note how far the stage is. To be called between its steps.

        Args:
            done: how much is done, in the stage's own units.
            total: how much there is.
            may_pause: the next run would begin further on than this one did. Only then may it make room, or
                a run whose slice goes by with catching up would never get anywhere.

        Raises:
            StageStopped: the stage must not go on.
            Interrupted: it should go on later; what is done so far is kept.
        """
        self._progress = (done, total)
        self.check()
        if may_pause and time.monotonic() > self._slice_ends:
            raise Interrupted

    def check(self) -> None:
        """Raise if the stage must end now, whatever has been done.

        Raises:
            StageStopped: the stage must not go on.
            Interrupted: the worker wants to stop.
        """
        if self._refused is not None:
            raise self._refused
        if self._stopping():
            raise Interrupted

    def over(self) -> bool:
        """Tell whether the stage must end now, whatever has been done."""
        return self._refused is not None or self._stopping()

    def _keep(self) -> None:
        renewed = time.monotonic()
        while not self._over.wait(self._look_s):
            try:
                if self._progress != self._shown or time.monotonic() - renewed > self._renew_s:
                    renewed, self._shown = time.monotonic(), self._progress
                    self._stages.heartbeat(self._lease, *(self._shown or ()))
                else:
                    self._stages.look(self._lease)
            except StageStopped as error:
                self._refused = error
            except SQLAlchemyError as error:
                # If it stays away the lease lapses, and the next write of the stage is refused.
                log.warning("the ledger does not answer: %s", error)
            if self._refused is not None or self._stopping():
                # A stage that has just told the ledger its end has lost its lease too, and leaves by itself.
                if not self._over.wait(_LEAVE_S):
                    end_children()
                return


def lasting(pid: int) -> None:
    """Leave a child alone when those of a stage are ended: it serves this process, not a stage."""
    _LASTING.add(pid)


def end_children() -> None:
    """End the processes this one has started: the reader of a file nobody waits for any more."""
    for child in psutil.Process().children(recursive=True):
        if child.pid in _LASTING:
            continue
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
