"""How a conversation is cut: which stretch a message belongs to, and when a stretch is read.

A stretch is a run of messages of one day without a long pause and of bounded size. It is open while more is
expected. Once it has been closed, by a pause, by its size or by request, what follows goes into a new one, so
a long session never makes its old stretches be read again. A message that arrives late joins the stretch it
was sent in, and only that one is read again.

All of this happens inside a transaction that holds the conversation's row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from ingest.ids import stretch_id
from ingest.model import Owner
from ingest.sources.conversation import MEDIA_TYPE, Message
from workers.conversation import ConversationKnobs
from workers.ledger import outbox
from workers.ledger.database import Database
from workers.ledger.lifecycle import new_document, restart, start_deleting
from workers.ledger.message_tables import ConversationRow, StretchRow
from workers.ledger.tables import DocumentRow
from workers.model import ENDED, Kind, Stage, State, Upload

# A stretch that was full takes what arrives late up to this many times its size.
_STRETCHED = 2


class Cutting:
    """The stretches of one conversation that some messages may belong to.

    Args:
        database: the ledger's database.
        session: the transaction.
        knobs: the rules.
        conversation: the conversation; its row is held.
        owner: whose it is.
        days: days of the messages, as ISO dates.
        homes: ids of the documents that hold some of them already.
    """

    def __init__(
        self, database: Database, session: Session, knobs: ConversationKnobs, conversation: ConversationRow,
        owner: Owner, days: Iterable[str], homes: Iterable[str],
    ) -> None:  # fmt: skip
        self._database = database
        self._session = session
        self._knobs = knobs
        self._gap = timedelta(seconds=knobs.gap_s)
        self._conversation = conversation
        self._owner = owner
        mine = StretchRow.conversation_id == conversation.id
        wanted = or_(
            StretchRow.day.in_(sorted(set(days))), StretchRow.is_open, StretchRow.document_id.in_(list(homes))
        )
        self._documents = lock_documents(session, select(StretchRow.document_id).where(mine, wanted))
        held = list(session.scalars(select(StretchRow).where(mine, wanted)))
        self._stretches = [one for one in held if self._document(one).state != State.DELETING]
        self._touched: dict[str, StretchRow] = {}

    def place(self, message: Message) -> StretchRow:
        """Return the stretch a new message belongs to, counted as one of its messages."""
        found = self._around(message) or self._before(message) or self._behind(message) or self._new(message)
        found.first_at, found.last_at = (
            min(found.first_at, message.sent_at),
            max(found.last_at, message.sent_at),
        )
        found.messages += 1
        found.characters += len(message.content)
        if self._is_full(found):
            found.is_open = False
        self.touch(found)
        return found

    def of(self, document_id: str) -> StretchRow | None:
        """Return the stretch of a document, None when it is going."""
        return next((one for one in self._stretches if one.document_id == document_id), None)

    def holds(self, stretch: StretchRow, message: Message) -> bool:
        """Tell whether a message that was sent again with another time still belongs to its stretch."""
        near = stretch.first_at - self._gap <= message.sent_at <= stretch.last_at + self._gap
        return near and stretch.day == day_of(message)

    def touch(self, stretch: StretchRow) -> None:
        """Note that a stretch changes; all changes of one transaction are one revision."""
        if stretch.document_id not in self._touched:
            stretch.revision += 1
            stretch.pending = True
            self._touched[stretch.document_id] = stretch

    def settle(self) -> None:
        """Ask for every changed stretch to be read when its time has come; one that is empty goes."""
        for stretch in self._touched.values():
            document = self._document(stretch)
            if stretch.messages <= 0:
                start_deleting(self._database, self._session, document)
                continue
            document.size_bytes = stretch.characters
            document.updated_at = self._database.now()
            ask_for_reading(self._database, self._session, document, self._due(stretch))

    def _document(self, stretch: StretchRow) -> DocumentRow:
        return self._documents[stretch.document_id]

    def _around(self, message: Message) -> StretchRow | None:
        """The stretch in which the message was sent; the last of several."""
        inside = [
            one
            for one in self._of_day(message)
            if one.first_at <= message.sent_at <= one.last_at and not self._is_full(one, _STRETCHED)
        ]
        return max(inside, key=lambda one: (one.is_open, one.first_at), default=None)

    def _before(self, message: Message) -> StretchRow | None:
        """The open stretch that the message goes on with."""
        ended = [
            one
            for one in self._of_day(message)
            if one.is_open and one.last_at < message.sent_at <= one.last_at + self._gap
        ]
        return max(ended, key=lambda one: one.last_at, default=None)

    def _behind(self, message: Message) -> StretchRow | None:
        """The stretch that goes on with the message, which arrived late."""
        begun = [
            one
            for one in self._of_day(message)
            if one.first_at - self._gap <= message.sent_at < one.first_at
            and not self._is_full(one, _STRETCHED)
        ]
        return min(begun, key=lambda one: one.first_at, default=None)

    def _of_day(self, message: Message) -> list[StretchRow]:
        day = day_of(message)
        return [one for one in self._stretches if one.day == day]

    def _is_full(self, stretch: StretchRow, times: int = 1) -> bool:
        return (
            stretch.messages >= times * self._knobs.max_messages
            or stretch.characters >= times * self._knobs.max_characters
        )

    def _new(self, message: Message) -> StretchRow:
        """Begin a stretch; it ends those that were open before it."""
        for one in self._stretches:
            if one.is_open and one.last_at < message.sent_at:
                one.is_open = False
                ask_for_reading(self._database, self._session, self._document(one), self._due(one))
        document = self._new_document(message)
        self._documents[document.id] = document
        stretch = StretchRow(
            document_id=document.id, conversation_id=self._conversation.id, tenant=self._owner.tenant,
            user_id=self._owner.user_id, group_id=self._owner.group_id, day=day_of(message),
            first_at=message.sent_at, last_at=message.sent_at, messages=0, characters=0, is_open=True,
            revision=0, parsed_revision=0, indexed_revision=0, pending=True, withdrawn=False,
        )  # fmt: skip
        self._session.add(stretch)
        self._stretches.append(stretch)
        return stretch

    def _new_document(self, message: Message) -> DocumentRow:
        now = self._database.now()
        life = 0
        while self._session.get(
            DocumentRow, identity := stretch_id(self._conversation.id, message.message_id, life)
        ):
            life += 1
        upload = Upload(
            owner=self._owner,
            name=f"{self._owner.session_id or 'conversation'}, {day_of(message)}",
            media_type=MEDIA_TYPE,
            sha256=hashlib.sha256(identity.encode()).hexdigest(),
            size_bytes=0,
            stored_at=now,
        )
        values = {**new_document(identity, upload, now, None, None), "kind": Kind.CONVERSATION.value}
        self._database.insert_new(self._session, DocumentRow, values)
        return self._session.get_one(DocumentRow, identity)

    def _due(self, stretch: StretchRow) -> datetime:
        """When a stretch is to be read: after a pause while it is open, soon when it has ended.

        The pause is counted by the clock of the messages, so that old ones do not wait; but never longer than
        one pause by our own clock, as theirs may be wrong.
        """
        now = self._database.now()
        soon = now + timedelta(seconds=self._knobs.settle_s)
        if not stretch.is_open:
            return soon
        return min(now + self._gap, max(stretch.last_at + self._gap, soon))


def day_of(message: Message) -> str:
    """Return the day a message was sent on, by its own clock, as an ISO date."""
    return message.sent_at.date().isoformat()


def lock_documents(session: Session, ids: Select[str]) -> dict[str, DocumentRow]:
    """Return documents by id, their rows held in the order of ids, read anew."""
    query = select(DocumentRow).where(DocumentRow.id.in_(ids)).order_by(DocumentRow.id)
    rows = session.scalars(query.with_for_update().execution_options(populate_existing=True))
    return {row.id: row for row in rows}


def ask_for_reading(database: Database, session: Session, document: DocumentRow, due: datetime) -> None:
    """Ask for a document whose messages changed to be read at a time.

    One that is being worked on is left alone: it is read again when it is ready. One that ended, however it
    did, is read anew.
    """
    if State(document.state) in ENDED:
        document.stage = Stage.PARSE.value
        restart(database, session, document)
    elif document.state != State.QUEUED or document.lease_token is not None:
        return
    outbox.put(database, session, document.id, Stage.PARSE, due)


def note_parsed(session: Session, document: DocumentRow, revision: int) -> None:
    """Note which revision of a stretch its elements stand for. The document's row is held."""
    stretch = session.get_one(StretchRow, document.id, populate_existing=True)
    stretch.parsed_revision = revision


def note_indexed(database: Database, session: Session, document: DocumentRow) -> None:
    """Note that the elements of a stretch are in memory; when it changed meanwhile it is read again."""
    stretch = session.get_one(StretchRow, document.id, populate_existing=True)
    stretch.pending = stretch.revision > stretch.parsed_revision
    if not stretch.pending:
        stretch.withdrawn = False
    if not stretch.withdrawn:
        stretch.indexed_revision = stretch.parsed_revision
    if stretch.pending:
        ask_for_reading(database, session, document, database.now())
