"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from workers.ledger.tables import UtcTime

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Go forward."""
    _documents()
    _outbox()
    _batches()
    _purges()
    _idempotency()
    _api_keys()
    _duties()


def downgrade() -> None:
    """Go back."""
    for table in (
        "duties",
        "api_keys",
        "idempotency",
        "purges",
        "batch_items",
        "batches",
        "outbox",
        "documents",
    ):
        op.drop_table(table)


def _text(name: str, length: int | None = None, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text() if length is None else sa.String(length), nullable=null)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _time(name: str, *, null: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcTime(), nullable=null)


def _diagnosis() -> tuple[sa.Column[str], ...]:
    return (
        _text("error_code", 64, null=True),
        _text("error_detail", null=True),
        _text("error_next_step", null=True),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        _text("id", 36),
        _text("tenant", 128),
        _text("user_id", 256, null=True),
        _text("group_id", 256, null=True),
        _text("session_id", 256, null=True),
        _text("name", 1024),
        _text("media_type", 255),
        _text("sha256", 64),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("uploader", sa.JSON(), nullable=False),
        sa.Column("replace_same_name", sa.Boolean(), nullable=False),
        _text("pipeline_version", 32),
        _text("state", 16),
        _text("stage", 16),
        *(_number(name) for name in ("done", "total", "attempts", "deaths")),
        _text("lease_token", 36, null=True),
        _text("lease_holder", 512, null=True),
        _time("lease_until", null=True),
        sa.Column("restore", sa.Boolean(), nullable=False),
        *_diagnosis(),
        sa.Column("warnings", sa.JSON(), nullable=False),
        *(_number(name) for name in ("elements", "episodes", "facts")),
        _text("parent_id", 36, null=True),
        _text("parent_part", 255, null=True),
        _text("root_id", 36),
        _number("depth"),
        _time("received_at"),
        _time("updated_at"),
        _time("finished_at", null=True),
        sa.PrimaryKeyConstraint("id"),
    )
    for column in ("sha256", "state", "lease_until", "parent_id", "root_id"):
        op.create_index(f"ix_documents_{column}", "documents", [column])
    op.create_index("ix_documents_page", "documents", ["tenant", "received_at", "id"])
    op.create_index("ix_documents_user", "documents", ["tenant", "user_id", "received_at", "id"])
    op.create_index("ix_documents_group", "documents", ["tenant", "group_id", "received_at", "id"])


def _outbox() -> None:
    op.create_table(
        "outbox",
        _number("id"),
        _text("document_id", 36),
        _text("stage", 16),
        _time("available_at"),
        _time("sent_at", null=True),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ux_outbox_document_stage", "outbox", ["document_id", "stage"], unique=True)
    op.create_index("ix_outbox_due", "outbox", ["sent_at", "available_at"])


def _batches() -> None:
    op.create_table(
        "batches",
        _text("id", 36),
        _text("tenant", 128),
        _time("created_at"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "batch_items",
        _text("batch_id", 36),
        _number("position"),
        _text("filename", 1024),
        _text("document_id", 36, null=True),
        _text("duplicate_of", 36, null=True),
        *_diagnosis(),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("batch_id", "position"),
    )
    op.create_index("ix_batch_items_document_id", "batch_items", ["document_id"])


def _purges() -> None:
    op.create_table(
        "purges",
        _text("sha256", 64),
        _time("marked_at"),
        _time("purged_at", null=True),
        sa.PrimaryKeyConstraint("sha256"),
    )


def _idempotency() -> None:
    op.create_table(
        "idempotency",
        _text("tenant", 128),
        _text("key", 255),
        _text("request_hash", 64),
        sa.Column("status", sa.Integer(), nullable=True),
        _text("body", null=True),
        _time("created_at"),
        sa.PrimaryKeyConstraint("tenant", "key"),
    )
    op.create_index("ix_idempotency_created_at", "idempotency", ["created_at"])


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        _text("id", 36),
        _text("secret_sha256", 64),
        _text("name", 255),
        _text("tenant", 128),
        _text("user_id", 256, null=True),
        _text("group_id", 256, null=True),
        sa.Column("scopes", sa.JSON(), nullable=False),
        _time("created_at"),
        _time("revoked_at", null=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_sha256"),
    )
    op.create_index("ix_api_keys_tenant", "api_keys", ["tenant"])


def _duties() -> None:
    op.create_table(
        "duties",
        _text("name", 64),
        _text("holder", 512),
        _time("until"),
        sa.PrimaryKeyConstraint("name"),
    )
