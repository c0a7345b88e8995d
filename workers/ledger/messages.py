"""Messages as the ledger holds them: those of a stretch, and those that are not in memory yet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from sqlalchemy import ColumnElement, bindparam, exists, select, tuple_

from ingest.model import Owner
from ingest.sources.conversation import Message, Role
from workers.conversation import KnownMessage
from workers.ledger.database import Database
from workers.ledger.message_tables import MessageRow, StretchRow
from workers.ledger.tables import DocumentRow
from workers.model import State

_MOST = 500
# A document's row has many columns, and would be read once for each of its messages.
_OF_DOCUMENT = (
    DocumentRow.tenant,
    DocumentRow.user_id,
    DocumentRow.group_id,
    DocumentRow.session_id,
    DocumentRow.name,
    DocumentRow.state,
)

# Every search asks this; mostly there is nothing, and putting the whole question together takes longer.
_ANY_PENDING = select(exists().where(StretchRow.tenant == bindparam("tenant"), StretchRow.pending.is_(True)))


class Messages:
    """Reads the messages of all tenants; every call sees one tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, tenant: str, limit: int = _MOST, **owner: Sequence[str] | None) -> list[KnownMessage]:
        """Return messages that are not in memory as they are now, newest first.

        Args:
            tenant: the tenant.
            limit: the most to return.
            owner: ``user_id`` and ``group_id``: those that are wanted; None does not narrow.
        """
        with self._database.read() as session:
            if not session.scalar(_ANY_PENDING, {"tenant": tenant}):
                return []
        wanted: list[ColumnElement[bool]] = [
            StretchRow.tenant == tenant,
            StretchRow.pending.is_(True),
            MessageRow.revision > StretchRow.indexed_revision,
        ]
        wanted += [getattr(StretchRow, name).in_(ids) for name, ids in owner.items() if ids is not None]
        return self._read(limit, *wanted)

    def of_document(self, tenant: str, document_id: str) -> list[KnownMessage]:
        """Return the messages of a stretch, oldest first."""
        return self._read(None, StretchRow.tenant == tenant, StretchRow.document_id == document_id)[::-1]

    def by_ids(self, tenant: str, ids: Sequence[str], **bound: str | None) -> list[KnownMessage]:
        """Return messages by their ids, newest first; unknown ids are left out.

        Args:
            tenant: the tenant.
            ids: of the messages.
            bound: ``user_id`` and ``group_id`` they have to belong to; None does not narrow.
        """
        mine = [getattr(StretchRow, name) == value for name, value in bound.items() if value is not None]
        return self._read(None, StretchRow.tenant == tenant, MessageRow.id.in_(ids), *mine)

    def before(
        self,
        tenant: str,
        limit: int,
        place: tuple[datetime, str] | None = None,
        **owner: Sequence[str] | None,
    ) -> list[KnownMessage]:
        """Return messages, newest first, in memory or not.

        Args:
            tenant: the tenant.
            limit: the most to return.
            place: only what stands behind this time and id.
            owner: ``user_id`` and ``group_id``: those that are wanted; None does not narrow.
        """
        wanted: list[ColumnElement[bool]] = [StretchRow.tenant == tenant]
        wanted += [getattr(StretchRow, name).in_(ids) for name, ids in owner.items() if ids is not None]
        if place is not None:
            wanted.append(tuple_(MessageRow.sent_at, MessageRow.id) < place)
        return self._read(limit, *wanted, order=(MessageRow.sent_at.desc(), MessageRow.id.desc()))

    def _read(
        self, limit: int | None, *conditions: ColumnElement[bool], order: Sequence[ColumnElement[Any]] = ()
    ) -> list[KnownMessage]:
        query = (
            select(MessageRow, *_OF_DOCUMENT)
            .join(StretchRow, StretchRow.document_id == MessageRow.document_id)
            .join(DocumentRow, DocumentRow.id == MessageRow.document_id)
            .where(*conditions)
            .order_by(*(order or (MessageRow.sent_at.desc(), MessageRow.seq.desc())))
            .limit(limit)
        )
        with self._database.read() as session:
            return [_known_message(row, document) for row, *document in session.execute(query)]


def message_of(row: MessageRow) -> Message:
    """Return a row as the message that was sent."""
    return Message(
        message_id=row.message_id,
        sender_id=row.sender_id,
        sender_name=row.sender_name,
        role=Role(row.role),
        sent_at=_by_own_clock(row.sent_at, row.offset_minutes),
        content=row.content,
    )


def _by_own_clock(moment: datetime, offset_minutes: int) -> datetime:
    zone = timezone(timedelta(minutes=offset_minutes)) if offset_minutes else UTC
    return moment.astimezone(zone)


def _known_message(row: MessageRow, document: Sequence[Any]) -> KnownMessage:
    tenant, user_id, group_id, session_id, name, state = document
    return KnownMessage(
        id=row.id,
        owner=Owner(tenant=tenant, user_id=user_id, group_id=group_id, session_id=session_id),
        message=message_of(row),
        version=row.version,
        received_at=row.received_at,
        document_id=row.document_id,
        document_name=name,
        state=State(state),
    )
