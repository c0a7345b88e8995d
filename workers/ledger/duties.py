"""Duties: work that one process at a time does for all, kept by lease."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, or_, update

from workers.ledger.database import Database
from workers.ledger.tables import DutyRow


class Duties:
    """Takes and keeps duties."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, holder: str, lease_s: float) -> bool:
        """Take a duty or keep it; tell whether it is this holder's for the next ``lease_s`` seconds."""
        now = self._database.now()
        values = {"holder": holder, "until": now + timedelta(seconds=lease_s)}
        mine_or_free = or_(DutyRow.holder == holder, DutyRow.until <= now)
        with self._database.write() as session:
            if self._database.insert_new(session, DutyRow, {"name": name, **values}):
                return True
            result = session.connection().execute(
                update(DutyRow).where(DutyRow.name == name, mine_or_free).values(**values)
            )
            return result.rowcount == 1

    def drop(self, name: str, holder: str) -> None:
        """Let go of a duty, so that another need not wait for the lease to lapse."""
        with self._database.write() as session:
            session.execute(delete(DutyRow).where(DutyRow.name == name, DutyRow.holder == holder))
