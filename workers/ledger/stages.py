"""Stages as the workers run them: take, keep, complete, fail.

A stage is taken by lease. The token of the lease is a fence: each write shows it, and one that is no longer
the current one is refused, so a worker that was thought dead cannot overwrite the work of its successor.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy.orm import Session

from ingest.anchors import Frozen
from ingest.model import ParseWarning
from workers.errors import StageStopped
from workers.ledger import outbox
from workers.ledger.database import Database
from workers.ledger.insights import drop_unsupported
from workers.ledger.leases import Leases, end, let_go
from workers.ledger.lifecycle import restart, waiting_state
from workers.ledger.purges import mark_if_unused
from workers.ledger.records import document_record, set_diagnosis
from workers.ledger.stretches import note_indexed, note_parsed
from workers.ledger.tables import DocumentRow
from workers.ledger.versions import Replaced, end_switch, replaced, without_successor
from workers.model import NEXT, STAGE_OF, WORKING, Counts, ErrorRecord, Kind, Lease, Stage, State, given_up


class Removal(Frozen):
    """How a removal ended.

    Attributes:
        restored: the bytes were handed in again meanwhile; the document starts anew instead of going.
        purge: hash of the bytes that no document has any more, to be removed from the blob store.
    """

    restored: bool = False
    purge: str | None = None


class Stages:
    """Leases on stages. Used by workers with ids from the queue, so no tenant is asked for."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def claim(self, document_id: str, stage: Stage) -> Lease | None:
        """Take a stage, counting the start before anything is done.

        Returns:
            The lease, or None when there is nothing to do: the message is old or doubled, the time for
            another try has not come, somebody else is on the document, or it has been set aside.
        """
        with self._database.write() as session:
            row = session.get(DocumentRow, document_id, with_for_update=True)
            if row is None or STAGE_OF.get(State(row.state)) is not stage:
                return None
            if not self._is_free(session, row, stage):
                return None
            now = self._database.now()
            outbox.clear(session, row.id)
            if refusal := self._leases.exhausted(row):
                end(row, State.FAILED, now, refusal)
                return None
            row.state = WORKING[stage].value
            row.attempts += 1
            row.done = row.total = 0
            row.updated_at = now
            if row.waits_for is not None:
                row.waits_for = None
                set_diagnosis(row, None)
            token = self._leases.give(row, now)
            return Lease(document=document_record(row, now), stage=stage, token=token)

    def heartbeat(self, lease: Lease, done: int | None = None, total: int | None = None) -> None:
        """Keep a lease for another while, and tell how far the stage is.

        Raises:
            StageStopped: the stage must not go on.
        """
        with self._database.write() as session:
            row = self._held(session, lease)
            now = self._database.now()
            self._leases.extend(row, now)
            if done is not None:
                row.done, row.updated_at = done, now
            if total is not None:
                row.total = total

    def look(self, lease: Lease) -> None:
        """Find out whether a stage may go on, without writing.

        Raises:
            StageStopped: the stage must not go on.
        """
        with self._database.read() as session:
            self._held(session, lease, lock=False)

    def complete(
        self, lease: Lease, *, counts: Counts | None = None, warnings: Sequence[ParseWarning] | None = None,
        media_type: str | None = None, last: bool = False, revision: int | None = None,
        told: Replaced | None = None,
    ) -> Stage | None:  # fmt: skip
        """End a stage well and ask for the next, in one transaction.

        After the last stage the document is ready. One that was replaced, or is to replace others, since its
        switch goes through the stage once more instead.

        Args:
            lease: the lease of the stage.
            counts: what the document has given so far.
            warnings: all warnings of the document so far.
            media_type: the type that was found in the bytes.
            last: the stages that are left have nothing to do.
            revision: of a conversation: which one was parsed.
            told: how the store was told that the document is replaced.

        Returns:
            The stage that was asked for, or None when the document is ready.

        Raises:
            StageStopped: the lease is lost; nothing was written.
        """
        with self._database.write() as session:
            row = self._held(session, lease)
            if counts is not None:
                row.elements, row.episodes = counts.elements, counts.episodes
                row.facts, row.ungrounded = counts.facts, counts.ungrounded
            if warnings is not None:
                row.warnings = [warning.model_dump() for warning in warnings]
            row.media_type = media_type or row.media_type
            row.attempts = row.deaths = row.done = row.total = 0
            set_diagnosis(row, None)
            let_go(row)
            if revision is not None:
                note_parsed(session, row, revision)
            following = None if last else NEXT.get(lease.stage)
            if following is None and (row.replace_same_name or replaced(row) != told):
                following = lease.stage
            if following is None:
                self._make_ready(session, row)
            else:
                self._wait_for(session, row, following)
            return following

    def fail(
        self, lease: Lease, error: ErrorRecord, retry_in_s: float | None = None, resume: Stage | None = None
    ) -> bool:
        """Record an error; try the stage again later when it is transient and attempts are left.

        Args:
            lease: the lease of the stage.
            error: the diagnosis.
            retry_in_s: seconds until the next try; None for a permanent error.
            resume: the stage a later retry by hand begins with; this one unless given.

        Returns:
            Whether the stage will be tried again.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            row = self._held(session, lease)
            let_go(row)
            left = lease.stage is Stage.DELETE or row.attempts < self._leases.rules.max_attempts
            set_diagnosis(row, error if retry_in_s is None or left else given_up(error, row.attempts))
            if retry_in_s is None or not left:
                row.stage = (resume or lease.stage).value
                end(row, State.FAILED, self._database.now())
                return False
            self._wait_for(session, row, lease.stage, delay_s=retry_in_s)
            return True

    def put_off(self, lease: Lease, reason: ErrorRecord, in_s: float) -> None:
        """Let a stage wait although nothing failed; no attempt is counted, and its progress stays shown.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            row = self._held(session, lease)
            let_go(row)
            row.attempts -= 1
            row.waits_for = reason.code
            set_diagnosis(row, reason)
            self._wait_for(session, row, lease.stage, delay_s=in_s)

    def hand_back(self, lease: Lease) -> None:
        """Give a stage back unfinished, to go on soon: no error and no attempt. A stopped one is let go."""
        with self._database.write() as session:
            row = session.get(DocumentRow, lease.document.id, with_for_update=True)
            if row is None or row.lease_token != lease.token:
                return
            let_go(row)
            if row.state == WORKING[lease.stage]:
                row.attempts -= 1
                self._wait_for(session, row, lease.stage)

    def remove(self, lease: Lease) -> Removal:
        """End a removal: the document leaves the ledger, or starts anew when it was handed in again.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            row = self._held(session, lease)
            if row.restore:
                let_go(row)
                row.stage, row.restore = Stage.PARSE.value, False
                row.elements = row.episodes = row.facts = row.ungrounded = 0
                row.warnings = []
                set_diagnosis(row, None)
                restart(self._database, session, row)
                return Removal(restored=True)
            session.delete(row)
            session.flush()
            without_successor(self._database, session, lease.document.id)
            drop_unsupported(session, lease.document.owner.tenant)
            leaves = mark_if_unused(self._database, session, lease.document.sha256)
            return Removal(purge=lease.document.sha256 if leaves else None)

    def _held(self, session: Session, lease: Lease, *, lock: bool = True) -> DocumentRow:
        row = session.get(DocumentRow, lease.document.id, with_for_update=lock or None)
        if row is None or row.lease_token != lease.token:
            raise StageStopped("Another worker has this stage now.")
        if row.state != WORKING[lease.stage]:
            raise StageStopped(f"The document is {row.state}.")
        return row

    def _is_free(self, session: Session, row: DocumentRow, stage: Stage) -> bool:
        """Tell whether a stage can start now; put its message off when it has to wait for another."""
        now = self._database.now()
        if self._leases.is_lost(row, now):
            self._leases.break_lost(row)
        message = outbox.pending(session, row.id, stage)
        if row.lease_token is None:
            return message is None or message.available_at <= now
        # A message that is not in the outbox is the double of the one that runs.
        if message is not None:
            due = now + timedelta(seconds=self._leases.rules.busy_s)
            outbox.put(self._database, session, row.id, stage, due)
        return False

    def _wait_for(self, session: Session, row: DocumentRow, stage: Stage, delay_s: float = 0) -> None:
        now = self._database.now()
        row.state, row.stage, row.updated_at = waiting_state(stage).value, stage.value, now
        outbox.put(self._database, session, row.id, stage, now + timedelta(seconds=delay_s))

    def _make_ready(self, session: Session, row: DocumentRow) -> None:
        end(row, State.READY, self._database.now())
        if row.kind == Kind.CONVERSATION:
            note_indexed(self._database, session, row)
        end_switch(session, row)
