"""When the calls of one key may be made: evenly, so that a minute never starts with a burst.

The generic cell rate algorithm (ATM Forum, 1996) with no burst: each limit has one number, the moment at
which it is free again, and a call that takes its turn moves it on by what the call costs. Turns are handed
out in the order in which they are asked for, and only if they are near enough to be waited for.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple, Protocol

_MINUTE_S = 60.0
# Calls do not arrive exactly as far apart as they were sent; a little less than is allowed is never refused.
_MARGIN = 1.02


class Cost(NamedTuple):
    """For how long a call uses up each limit, in seconds."""

    request_s: float
    token_s: float


class Rates(NamedTuple):
    """The limits of a key; 0 means none."""

    requests_per_minute: int = 0
    tokens_per_minute: int = 0

    def cost(self, tokens: int) -> Cost:
        """Return what a call of this many tokens uses up; one beyond a minute's worth uses up a minute."""
        request_s = _MARGIN * _MINUTE_S / self.requests_per_minute if self.requests_per_minute else 0.0
        token_s = tokens * _MINUTE_S / self.tokens_per_minute if self.tokens_per_minute else 0.0
        return Cost(request_s, _MARGIN * min(_MINUTE_S, token_s))


class Turn(NamedTuple):
    """How far off a call's turn is, in seconds, and whether it is taken (else: ask again then)."""

    wait_s: float
    taken: bool


class Pace(NamedTuple):
    """When requests and tokens are free again, and until when nobody may call; in seconds of one clock."""

    requests_at: float = 0.0
    tokens_at: float = 0.0
    held_until: float = 0.0

    def take(self, now: float, cost: Cost, longest_s: float) -> tuple[Turn, Pace]:
        """Return the next turn and the pace after it."""
        start = max(now, *self)
        turn = Turn(start - now, start - now <= longest_s)
        if not turn.taken:
            return turn, self
        return turn, Pace(start + cost.request_s, start + cost.token_s, self.held_until)

    def hold(self, until: float) -> Pace:
        """Return the pace when nobody may call before a moment."""
        return self._replace(held_until=max(self.held_until, until))


def pace_name(endpoint: str, api_key: str) -> str:
    """Return the name of a key's pace, from which neither endpoint nor key can be read."""
    return hashlib.sha256(f"{endpoint}\n{api_key}".encode()).hexdigest()[:32]


class Paces(Protocol):
    """Keeps the pace of one key for all who use it."""

    def take(self, cost: Cost, longest_s: float) -> Turn:
        """Take the next turn if it is at most ``longest_s`` seconds off.

        Raises:
            LimiterUnavailable: what is shared is away.
        """

    def hold(self, seconds: float) -> None:
        """Let nobody call for this long; raises what ``take`` raises."""

    def held_s(self) -> float:
        """Return for how long nobody may call, in seconds; raises what ``take`` raises."""


class LocalPaces:
    """Keeps a pace for the threads of one process.

    Args:
        clock: seconds that only rise.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pace = Pace()
        self._lock = Lock()

    def take(self, cost: Cost, longest_s: float) -> Turn:
        """Take the next turn; see ``Paces``."""
        with self._lock:
            turn, self._pace = self._pace.take(self._clock(), cost, longest_s)
            return turn

    def hold(self, seconds: float) -> None:
        """Let nobody call for this long."""
        with self._lock:
            self._pace = self._pace.hold(self._clock() + seconds)

    def held_s(self) -> float:
        """Return for how long nobody may call, in seconds."""
        with self._lock:
            return max(0.0, self._pace.held_until - self._clock())
