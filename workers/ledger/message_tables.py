"""The tables of conversations. A conversation is cut into stretches; each is a document."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from workers.ledger.tables import Base


class ConversationRow(Base):
    """A session of an owner. Whoever adds to it holds its row, so additions come one after another."""

    __tablename__ = "conversations"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    session_id: Mapped[str | None] = mapped_column(String(256))
    next_seq: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[datetime]

    __table_args__ = (Index("ix_conversations_owner", "tenant", "user_id", "group_id"),)


class StretchRow(Base):
    """A stretch: what only conversations have of a document. The document's row is the lock for both.

    ``revision`` grows with each change; ``parsed_revision`` and ``indexed_revision`` say which one the
    elements and the points stand for. ``pending``: some message is not in the index as it is now.
    ``withdrawn``: the points hold what was taken out meanwhile and must not be shown.
    """

    __tablename__ = "stretches"

    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    tenant: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    day: Mapped[str] = mapped_column(String(10))
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    messages: Mapped[int] = mapped_column(Integer, default=0)
    characters: Mapped[int] = mapped_column(Integer, default=0)
    is_open: Mapped[bool] = mapped_column(default=True)
    revision: Mapped[int] = mapped_column(Integer, default=0)
    parsed_revision: Mapped[int] = mapped_column(Integer, default=0)
    indexed_revision: Mapped[int] = mapped_column(Integer, default=0)
    pending: Mapped[bool] = mapped_column(default=True)
    withdrawn: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (
        Index("ix_stretches_day", "conversation_id", "day"),
        Index("ix_stretches_user", "tenant", "user_id", "pending"),
        Index("ix_stretches_group", "tenant", "group_id", "pending"),
    )


class ForgottenRow(Base):
    """A statement or an episode that was forgotten by request: it stays out when its source is read again."""

    __tablename__ = "forgotten"

    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)


class MessageRow(Base):
    """A message as it was last sent. ``seq`` keeps messages of one moment in the order they came in."""

    __tablename__ = "messages"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    message_id: Mapped[str] = mapped_column(String(256))
    sender_id: Mapped[str] = mapped_column(String(256))
    sender_name: Mapped[str | None] = mapped_column(String(256))
    role: Mapped[str] = mapped_column(String(16))
    sent_at: Mapped[datetime]
    offset_minutes: Mapped[int] = mapped_column(Integer)
    content: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    version: Mapped[int] = mapped_column(Integer, default=1)
    seq: Mapped[int] = mapped_column(Integer)
    revision: Mapped[int] = mapped_column(Integer)
    received_at: Mapped[datetime]

    __table_args__ = (
        Index("ux_messages_id", "conversation_id", "message_id", unique=True),
        Index("ix_messages_place", "document_id", "sent_at", "seq"),
    )
