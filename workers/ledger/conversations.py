"""Conversations as their owners see them: add to them, end what is open, take something out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ingest.ids import conversation_id, message_key
from ingest.model import Owner
from ingest.sources.conversation import Message
from workers.conversation import ConversationKnobs, Fate, Stretch, TakenMessage
from workers.errors import StageStopped
from workers.ledger import outbox
from workers.ledger.database import Database
from workers.ledger.lifecycle import start_deleting
from workers.ledger.listing import batched
from workers.ledger.message_tables import ConversationRow, MessageRow, StretchRow
from workers.ledger.messages import message_of
from workers.ledger.stretches import Cutting, ask_for_reading, day_of, lock_documents
from workers.ledger.tables import DocumentRow
from workers.model import Lease, Stage, State

_MANY = 500


class Conversations:
    """The conversations of all tenants; every call on behalf of a caller sees one tenant."""

    def __init__(self, database: Database, knobs: ConversationKnobs) -> None:
        self._database = database
        self._knobs = knobs

    def add(self, owner: Owner, messages: Sequence[Message]) -> list[TakenMessage]:
        """Record messages and ask for their stretches to be read, in one transaction.

        They may come in any order and more than once. One that is there already changes nothing; the same id
        with other words is a new version of that message.

        Args:
            owner: whose memory they enter; with its session it names the conversation.
            messages: what was said.

        Returns:
            What became of each, in the order given.
        """
        with self._database.write() as session:
            talk = self._held(session, owner)
            days = [day_of(message) for message in messages]
            homes = {one.document_id for one in self._known(session, talk, messages).values()}
            cutting = Cutting(self._database, session, self._knobs, talk, owner, days, homes)
            # Read again now that nothing can be taken out of the stretches any more.
            known = self._known(session, talk, messages)
            taken: dict[int, TakenMessage] = {}
            for at, message in sorted(enumerate(messages), key=lambda pair: (pair[1].sent_at, pair[0])):
                taken[at] = self._take(session, talk, cutting, known, message)
            cutting.settle()
        return [taken[at] for at in range(len(messages))]

    def flush(self, tenant: str, **owner: str | None) -> list[str]:
        """End the open stretches of an owner, to be read at once; return the ids of their documents.

        Args:
            tenant: the tenant.
            owner: ``user_id``, ``group_id``, ``session_id``; what is None does not narrow.
        """
        narrow = [getattr(DocumentRow, name) == value for name, value in owner.items() if value is not None]
        waiting = (
            select(StretchRow.document_id)
            .join(DocumentRow, DocumentRow.id == StretchRow.document_id)
            .where(
                DocumentRow.tenant == tenant, DocumentRow.state == State.QUEUED, StretchRow.pending, *narrow
            )
        )
        with self._database.write() as session:
            flushed = []
            for document in lock_documents(session, waiting).values():
                if document.state == State.QUEUED and document.lease_token is None:
                    session.get_one(StretchRow, document.id).is_open = False
                    outbox.put(self._database, session, document.id, Stage.PARSE, self._database.now())
                    flushed.append(document.id)
            return flushed

    def take_out(self, tenant: str, ids: Iterable[str], **bound: str | None) -> int:
        """Remove messages by their ids; their stretches are hidden until they have been read without them.

        Args:
            tenant: the tenant.
            ids: of the messages; unknown ones are no error.
            bound: ``user_id`` and ``group_id`` the messages have to belong to; None does not narrow.

        Returns:
            How many were removed.
        """
        removed = 0
        for some in batched(ids, _MANY):
            narrow = [getattr(StretchRow, key) == value for key, value in bound.items() if value is not None]
            query = (
                select(MessageRow.document_id)
                .join(StretchRow, StretchRow.document_id == MessageRow.document_id)
                .where(StretchRow.tenant == tenant, MessageRow.id.in_(some), *narrow)
            )
            with self._database.write() as session:
                for document in lock_documents(session, query).values():
                    removed += self._take_out(session, document, some)
        return removed

    def snapshot(self, lease: Lease) -> Stretch:
        """Return the messages of a stretch that is about to be read. It is closed from here on.

        Raises:
            StageStopped: the lease is lost.
        """
        with self._database.write() as session:
            document = session.get(DocumentRow, lease.document.id, with_for_update=True)
            if document is None or document.lease_token != lease.token:
                raise StageStopped("Another worker has this stage now.")
            stretch = session.get_one(StretchRow, document.id)
            stretch.is_open = False
            query = select(MessageRow).where(MessageRow.document_id == document.id)
            rows = session.scalars(query.order_by(MessageRow.sent_at, MessageRow.seq))
            return Stretch(revision=stretch.revision, messages=tuple(message_of(row) for row in rows))

    def _held(self, session: Session, owner: Owner) -> ConversationRow:
        identity = conversation_id(owner)
        now = self._database.now()
        fresh = {"id": identity, **owner.model_dump(), "next_seq": 0, "created_at": now}
        self._database.insert_new(session, ConversationRow, fresh)
        return session.get_one(ConversationRow, identity, with_for_update=True)

    def _known(
        self, session: Session, talk: ConversationRow, messages: Sequence[Message]
    ) -> dict[str, MessageRow]:
        found: dict[str, MessageRow] = {}
        for some in batched((message.message_id for message in messages), _MANY):
            mine = (MessageRow.conversation_id == talk.id, MessageRow.message_id.in_(some))
            found.update(
                (row.message_id, row)
                for row in session.scalars(
                    select(MessageRow).where(*mine).execution_options(populate_existing=True)
                )
            )
        return found

    def _take(
        self, session: Session, talk: ConversationRow, cutting: Cutting, known: dict[str, MessageRow],
        message: Message,
    ) -> TakenMessage:  # fmt: skip
        row = known.get(message.message_id)
        if row is not None and row.digest == message.digest:
            fate = Fate.UNCHANGED
        elif row is not None:
            fate = Fate.UPDATED
            self._rewrite(cutting, row, message)
        else:
            fate = Fate.ACCEPTED
            row = known[message.message_id] = self._new_row(talk, cutting, message)
            session.add(row)
        return TakenMessage(message_id=message.message_id, document_id=row.document_id, fate=fate)

    def _new_row(self, talk: ConversationRow, cutting: Cutting, message: Message) -> MessageRow:
        stretch = cutting.place(message)
        talk.next_seq += 1
        return MessageRow(
            id=message_key(talk.id, message.message_id), document_id=stretch.document_id,
            conversation_id=talk.id, message_id=message.message_id, version=1, seq=talk.next_seq,
            revision=stretch.revision, received_at=self._database.now(), **_columns(message),
        )  # fmt: skip

    def _rewrite(self, cutting: Cutting, row: MessageRow, message: Message) -> None:
        """Put a new version in the place of the one that is there, in another stretch if it was moved."""
        stretch = cutting.of(row.document_id)
        if stretch is None or not cutting.holds(stretch, message):
            if stretch is not None:
                cutting.touch(stretch)
                stretch.messages -= 1
                stretch.characters -= len(row.content)
            stretch = cutting.place(message)
        else:
            stretch.characters += len(message.content) - len(row.content)
            cutting.touch(stretch)
        row.document_id, row.revision = stretch.document_id, stretch.revision
        row.version += 1
        row.received_at = self._database.now()
        for name, value in _columns(message).items():
            setattr(row, name, value)

    def _take_out(self, session: Session, document: DocumentRow, ids: Sequence[str]) -> int:
        mine = (MessageRow.document_id == document.id, MessageRow.id.in_(ids))
        rows = list(session.scalars(select(MessageRow).where(*mine)))
        stretch = session.get_one(StretchRow, document.id, populate_existing=True)
        session.execute(delete(MessageRow).where(*mine))
        stretch.messages -= len(rows)
        stretch.characters -= sum(len(row.content) for row in rows)
        if stretch.messages <= 0:
            start_deleting(self._database, session, document)
            return len(rows)
        stretch.revision += 1
        stretch.pending = stretch.withdrawn = True
        # What is left counts as not in memory, for it is hidden together with what was taken out.
        stretch.indexed_revision = 0
        ask_for_reading(self._database, session, document, self._database.now())
        return len(rows)


def _columns(message: Message) -> dict[str, object]:
    offset = message.sent_at.utcoffset() or timedelta()
    return {
        "sender_id": message.sender_id,
        "sender_name": message.sender_name,
        "role": message.role.value,
        "sent_at": message.sent_at,
        "offset_minutes": int(offset.total_seconds() // 60),
        "content": message.content,
        "digest": message.digest,
    }
