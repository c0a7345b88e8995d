"""Searches whose words were looked up while their question was still being encoded."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock
from typing import NamedTuple

from retrieval.edge.lanes import EngineLanes

# What nobody comes back for makes room for what does.
_MOST = 16
_PATIENCE_S = 1.0


class _Begun(NamedTuple):
    lanes: EngineLanes
    ready: Event


class Begun:
    """Keeps lists by the token of their search. Safe to share between threads.

    It only ever saves work: a search whose token is unknown asks for everything itself.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[str, _Begun] = {}

    def put(self, token: str, lanes: EngineLanes, prepare: Callable[[], None]) -> None:
        """Keep the lists under a token, and let them be prepared in the meantime."""
        one = _Begun(lanes, Event())
        with self._lock:
            self._held[token] = one
            while len(self._held) > _MOST:
                self._held.pop(next(iter(self._held)))
        try:
            prepare()
        except BaseException:
            with self._lock:
                self._held.pop(token, None)
            raise
        finally:
            one.ready.set()

    def take(self, token: str | None) -> EngineLanes | None:
        """Return the lists kept under a token, once; None where there are none."""
        with self._lock:
            one = self._held.pop(token, None) if token else None
        return one.lanes if one is not None and one.ready.wait(_PATIENCE_S) else None
