"""Keeping under a provider's limits of requests and tokens a minute (token bucket)."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

_MINUTE_S = 60.0


class Unlimited:
    """No limit but the provider's word to wait."""

    def acquire(self, tokens: int) -> None:
        """Return at once."""

    def hold_off(self, seconds: float) -> None:
        """Leave the waiting to the caller."""


class BucketLimiter:
    """Limits the threads of one process. Calls are spread evenly, so a minute never starts with a burst.

    Args:
        requests_per_minute: 0 means no limit.
        tokens_per_minute: 0 means no limit; a single larger request waits for one full minute's worth.
        clock: seconds that only rise.
        sleep: how to wait.
    """

    def __init__(
        self,
        requests_per_minute: int,
        tokens_per_minute: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._request_s = _MINUTE_S / requests_per_minute if requests_per_minute else 0.0
        self._token_s = _MINUTE_S / tokens_per_minute if tokens_per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._free_at = 0.0
        self._lock = Lock()

    def acquire(self, tokens: int) -> None:
        """Wait until a call of about this many tokens may be made."""
        with self._lock:
            now = self._clock()
            start = max(now, self._free_at)
            self._free_at = start + max(self._request_s, min(_MINUTE_S, tokens * self._token_s))
        if start > now:
            self._sleep(start - now)

    def hold_off(self, seconds: float) -> None:
        """Make everybody wait from now on."""
        with self._lock:
            self._free_at = max(self._free_at, self._clock() + seconds)
