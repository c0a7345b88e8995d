"""Finding what was lost on the way: stages whose worker is gone, documents nobody was told of."""

from __future__ import annotations

from sqlalchemy import exists, select

from workers.ledger import outbox
from workers.ledger.database import Database
from workers.ledger.leases import Leases, end
from workers.ledger.tables import DocumentRow, OutboxRow
from workers.model import STAGE_OF, State


class Recovery:
    """Brings lost stages back to the outbox. Waiting long is no loss, and is left alone."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def lost_leases(self) -> int:
        """Break the leases of holders that are gone and ask for their stages again.

        A document that was held too often by workers that died is set aside instead.

        Returns:
            How many leases were broken.
        """
        with self._database.read() as session:
            leased = session.scalars(select(DocumentRow).where(DocumentRow.lease_token.is_not(None)))
            lost = [row.id for row in leased if self._leases.is_lost(row, self._database.now())]
        return sum(self._recover(identity) for identity in lost)

    def lost_messages(self) -> int:
        """Ask again for stages that nobody runs and no message asks for; return how many."""
        unasked = ~exists().where(OutboxRow.document_id == DocumentRow.id)
        query = select(DocumentRow.id).where(
            DocumentRow.state.in_([state.value for state in STAGE_OF]),
            DocumentRow.lease_token.is_(None),
            unasked,
        )
        with self._database.read() as session:
            ids = list(session.scalars(query))
        return sum(self._recover(identity) for identity in ids)

    def _recover(self, identity: str) -> bool:
        with self._database.write() as session:
            row = session.get(DocumentRow, identity, with_for_update=True)
            if row is None:
                return False
            now = self._database.now()
            if row.lease_token is not None:
                if not self._leases.is_lost(row, now):
                    return False
                self._leases.break_lost(row)
            stage = STAGE_OF.get(State(row.state))
            if stage is None:
                return True
            if refusal := self._leases.exhausted(row):
                outbox.clear(session, row.id)
                end(row, State.FAILED, now, refusal)
            elif outbox.pending(session, row.id, stage) is None:
                outbox.put(self._database, session, row.id, stage, now)
            return True
