"""Keeping under a provider's limits of requests and tokens a minute, together with all who use the key."""

from __future__ import annotations

from collections.abc import Callable

from extract.chat.errand import pause
from extract.chat.pace import Paces, Rates
from extract.errors import TurnFarOff


class Unlimited:
    """No limit but the provider's word to wait."""

    def acquire(self, tokens: int) -> None:
        """Return at once."""

    def hold_off(self, seconds: float) -> None:
        """Leave the waiting to the caller."""


class PacedLimiter:
    """Makes each call wait for its turn.

    Args:
        paces: hands out the turns; shared by all who use the key.
        rates: the key's limits.
        longest_wait_s: a turn further off is not waited for: the work is put off, and the worker is free.
        sleep: how to wait; may raise to end the waiting.
    """

    def __init__(
        self,
        paces: Paces,
        rates: Rates,
        longest_wait_s: float,
        sleep: Callable[[float], None] = pause,
    ) -> None:
        self._paces = paces
        self._rates = rates
        self._longest_wait_s = longest_wait_s
        self._sleep = sleep

    def acquire(self, tokens: int) -> None:
        """Wait until a call of about this many tokens may be made.

        Raises:
            TurnFarOff: its turn is further off than is waited for.
            LimiterUnavailable: what is shared between the workers is away.
        """
        patience = self._longest_wait_s
        while True:
            turn = self._paces.take(self._rates.cost(tokens), patience)
            if not turn.taken:
                raise TurnFarOff(retry_after_s=turn.wait_s)
            if not turn.wait_s:
                return
            self._sleep(turn.wait_s)
            # Somebody may have been told to wait since this turn was given: then it is void.
            if not self._paces.held_s():
                return
            patience -= turn.wait_s

    def hold_off(self, seconds: float) -> None:
        """Make everybody wait from now on."""
        self._paces.hold(seconds)
