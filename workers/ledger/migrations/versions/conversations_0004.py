"""Conversations, their stretches and their messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from workers.ledger.tables import UtcTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Go forward."""
    op.add_column("documents", sa.Column("kind", sa.String(16), nullable=False, server_default="file"))
    _conversations()
    _stretches()
    _messages()


def downgrade() -> None:
    """Go back."""
    for table in ("messages", "stretches", "conversations"):
        op.drop_table(table)
    op.drop_column("documents", "kind")


def _text(name: str, length: int | None = None, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text() if length is None else sa.String(length), nullable=null)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, UtcTime(), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _conversations() -> None:
    op.create_table(
        "conversations",
        _text("id", 36),
        _text("tenant", 128),
        _text("user_id", 256, null=True),
        _text("group_id", 256, null=True),
        _text("session_id", 256, null=True),
        _number("next_seq"),
        _time("created_at"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conversations_owner", "conversations", ["tenant", "user_id", "group_id"])


def _stretches() -> None:
    op.create_table(
        "stretches",
        _text("document_id", 36),
        _text("conversation_id", 36),
        _text("tenant", 128),
        _text("user_id", 256, null=True),
        _text("group_id", 256, null=True),
        _text("day", 10),
        _time("first_at"),
        _time("last_at"),
        _number("messages"),
        _number("characters"),
        _flag("is_open"),
        *(_number(name) for name in ("revision", "parsed_revision", "indexed_revision")),
        _flag("pending"),
        _flag("withdrawn"),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"]),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index("ix_stretches_day", "stretches", ["conversation_id", "day"])
    op.create_index("ix_stretches_user", "stretches", ["tenant", "user_id", "pending"])
    op.create_index("ix_stretches_group", "stretches", ["tenant", "group_id", "pending"])


def _messages() -> None:
    op.create_table(
        "messages",
        _text("id", 36),
        _text("document_id", 36),
        _text("conversation_id", 36),
        _text("message_id", 256),
        _text("sender_id", 256),
        _text("sender_name", 256, null=True),
        _text("role", 16),
        _time("sent_at"),
        _number("offset_minutes"),
        _text("content"),
        _text("digest", 64),
        *(_number(name) for name in ("version", "seq", "revision")),
        _time("received_at"),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ux_messages_id", "messages", ["conversation_id", "message_id"], unique=True)
    op.create_index("ix_messages_place", "messages", ["document_id", "sent_at", "seq"])
