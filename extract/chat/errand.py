"""On whose behalf a language model is asked.

A call is made deep below the one who wants it, and three things about him matter there: whose ledger it goes
into, which work it belongs to, and whether he still waits. They travel in a context variable, so that nothing
in between has to hand them on; a thread started for the work takes a copy of the context along.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from extract.errors import CallAbandoned

_LOOK_S = 0.2


@dataclass(frozen=True)
class Errand:
    """The work a call belongs to; empty where nobody told.

    Attributes:
        tenant: who pays.
        document_id: of which document.
        stage: which stage of it, or another name for what is done.
        over: tells whether nobody waits for the answer any more.
    """

    tenant: str = ""
    document_id: str = ""
    stage: str = ""
    over: Callable[[], bool] = lambda: False


_current: ContextVar[Errand] = ContextVar("errand", default=Errand())  # noqa: B039  it is frozen


def current() -> Errand:
    """Return what the running code is about."""
    return _current.get()


@contextmanager
def running(errand: Errand) -> Iterator[None]:
    """Make every call of the block belong to an errand."""
    token = _current.set(errand)
    try:
        yield
    finally:
        _current.reset(token)


def still_wanted() -> None:
    """Find out whether somebody still waits.

    Raises:
        CallAbandoned: nobody does.
    """
    if _current.get().over():
        raise CallAbandoned


def pause(seconds: float) -> None:
    """Wait, but no longer than somebody waits for what comes after.

    Raises:
        CallAbandoned: nobody does any more.
    """
    ends = time.monotonic() + seconds
    still_wanted()
    while (left := ends - time.monotonic()) > 0:
        time.sleep(min(left, _LOOK_S))
        still_wanted()
