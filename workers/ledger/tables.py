"""The tables of the ledger. ``migrations/`` creates them; a test keeps the two the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    TypeDecorator,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import JSON


class UtcTime(TypeDecorator[datetime]):
    """An aware time, kept in UTC. SQLite has no offsets, so they are taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn a value into what is stored.

        Raises:
            ValueError: the time has no offset.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("times need an offset")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn what is stored into an aware time."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Common base: how Python types become columns."""

    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


class DocumentRow(Base):
    """A document. While a stage runs, the ``lease_`` columns say who runs it and until when.

    ``waits_for`` is the reason why the stage is put off although nothing failed; then the ``error_`` columns
    tell it in words.
    """

    __tablename__ = "documents"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), default="file", server_default="file")
    tenant: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    session_id: Mapped[str | None] = mapped_column(String(256))
    name: Mapped[str] = mapped_column(String(1024))
    media_type: Mapped[str] = mapped_column(String(255))
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    uploader: Mapped[dict[str, Any]]
    replace_same_name: Mapped[bool] = mapped_column(default=False)
    superseded_by: Mapped[str | None] = mapped_column(String(36), index=True)
    superseded_at: Mapped[datetime | None]
    hidden: Mapped[bool] = mapped_column(default=False, server_default=false())
    pipeline_version: Mapped[str] = mapped_column(String(32))

    state: Mapped[str] = mapped_column(String(16), index=True)
    stage: Mapped[str] = mapped_column(String(16))
    done: Mapped[int] = mapped_column(Integer, default=0)
    total: Mapped[int] = mapped_column(Integer, default=0)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    deaths: Mapped[int] = mapped_column(Integer, default=0)
    lease_token: Mapped[str | None] = mapped_column(String(36))
    lease_holder: Mapped[str | None] = mapped_column(String(512))
    lease_until: Mapped[datetime | None] = mapped_column(index=True)
    restore: Mapped[bool] = mapped_column(default=False)

    waits_for: Mapped[str | None] = mapped_column(String(64), index=True)
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_detail: Mapped[str | None] = mapped_column(Text)
    error_next_step: Mapped[str | None] = mapped_column(Text)
    warnings: Mapped[list[Any]]
    elements: Mapped[int] = mapped_column(Integer, default=0)
    episodes: Mapped[int] = mapped_column(Integer, default=0)
    facts: Mapped[int] = mapped_column(Integer, default=0)
    ungrounded: Mapped[int] = mapped_column(Integer, default=0)

    parent_id: Mapped[str | None] = mapped_column(String(36), index=True)
    parent_part: Mapped[str | None] = mapped_column(String(255))
    root_id: Mapped[str] = mapped_column(String(36), index=True)
    depth: Mapped[int] = mapped_column(Integer, default=0)
    received_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        Index("ix_documents_page", "tenant", "received_at", "id"),
        Index("ix_documents_hidden", "tenant", "hidden"),
        Index("ix_documents_user", "tenant", "user_id", "received_at", "id"),
        Index("ix_documents_group", "tenant", "group_id", "received_at", "id"),
    )


class OutboxRow(Base):
    """A message that has to be in a queue. Written with the state it belongs to; gone once it is taken."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    stage: Mapped[str] = mapped_column(String(16))
    available_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]

    __table_args__ = (
        Index("ux_outbox_document_stage", "document_id", "stage", unique=True),
        Index("ix_outbox_due", "sent_at", "available_at"),
        # An id is never given twice, so a late "sent" cannot hit another message.
        {"sqlite_autoincrement": True},
    )


class BatchRow(Base):
    """One upload of one or more files. A budget that is None is the one of the settings."""

    __tablename__ = "batches"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]
    budget_micro: Mapped[int | None] = mapped_column(BigInteger)
    budget_tokens: Mapped[int | None] = mapped_column(BigInteger)


class BatchItemRow(Base):
    """A file of a batch. The document may be deleted while the batch stays, so it is no foreign key."""

    __tablename__ = "batch_items"

    batch_id: Mapped[str] = mapped_column(ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    filename: Mapped[str] = mapped_column(String(1024))
    document_id: Mapped[str | None] = mapped_column(String(36), index=True)
    duplicate_of: Mapped[str | None] = mapped_column(String(36))
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_detail: Mapped[str | None] = mapped_column(Text)
    error_next_step: Mapped[str | None] = mapped_column(Text)


class PurgeRow(Base):
    """Bytes that leave the blob store; ``purged_at`` is None until they are gone."""

    __tablename__ = "purges"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    marked_at: Mapped[datetime]
    purged_at: Mapped[datetime | None]


class IdempotencyRow(Base):
    """A request that must have its effect once; ``status`` is None while it is being answered."""

    __tablename__ = "idempotency"

    tenant: Mapped[str] = mapped_column(String(128), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None] = mapped_column(Integer)
    body: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(index=True)


class ApiKeyRow(Base):
    """An API key, known by the hash of its secret only."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    secret_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(255))
    tenant: Mapped[str] = mapped_column(String(128), index=True)
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    scopes: Mapped[list[Any]]
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class DutyRow(Base):
    """A duty that one process at a time has, until its lease lapses."""

    __tablename__ = "duties"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    holder: Mapped[str] = mapped_column(String(512))
    until: Mapped[datetime]
