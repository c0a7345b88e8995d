"""The pace of a language model's key in the ledger, where the broker is no Redis that could keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from extract.chat.pace import Cost, Pace, Turn
from extract.errors import LimiterUnavailable
from workers.ledger.database import Database
from workers.ledger.usage_tables import PaceRow

T = TypeVar("T")


class LedgerPaces:
    """Keeps the pace of one key for all who share the ledger; see ``Paces``. Hosts need clocks that agree.

    Args:
        database: the ledger's.
        name: whose pace it is.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name

    def take(self, cost: Cost, longest_s: float) -> Turn:
        """Take the next turn; see ``Paces``."""
        return self._change(lambda pace, now: pace.take(now, cost, longest_s))

    def hold(self, seconds: float) -> None:
        """Let nobody call for this long; see ``Paces``."""
        self._change(lambda pace, now: (None, pace.hold(now + seconds)))

    def held_s(self) -> float:
        """Return for how long nobody may call, in seconds; see ``Paces``."""
        try:
            with self._database.read() as session:
                row = session.get(PaceRow, self._name)
                until = row.held_until if row else 0.0
        except SQLAlchemyError as error:
            raise LimiterUnavailable from error
        return max(0.0, until - self._database.now().timestamp())

    def _change(self, step: Callable[[Pace, float], tuple[T, Pace]]) -> T:
        nothing = {"name": self._name, **Pace()._asdict()}
        try:
            with self._database.write() as session:
                self._database.insert_new(session, PaceRow, nothing)
                row = session.get_one(PaceRow, self._name, with_for_update=True)
                known = Pace(row.requests_at, row.tokens_at, row.held_until)
                answer, pace = step(known, self._database.now().timestamp())
                row.requests_at, row.tokens_at, row.held_until = pace
                return answer
        except SQLAlchemyError as error:
            raise LimiterUnavailable from error
