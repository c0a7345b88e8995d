"""The tables of what calls of models cost, and of how fast they may come."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Float, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from workers.ledger.tables import Base


class CallRow(Base):
    """One call of a model. What was spent stays known when the document goes, so it is no foreign key."""

    __tablename__ = "model_calls"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    at: Mapped[datetime]
    day: Mapped[str] = mapped_column(String(10))
    tenant: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    document_id: Mapped[str | None] = mapped_column(String(36), index=True)
    batch_id: Mapped[str | None] = mapped_column(String(36), index=True)
    stage: Mapped[str] = mapped_column(String(16))
    model: Mapped[str] = mapped_column(String(255))
    outcome: Mapped[str] = mapped_column(String(64))
    attempt: Mapped[int] = mapped_column(Integer)
    cached: Mapped[bool]
    failed: Mapped[bool]
    prompt_tokens: Mapped[int] = mapped_column(Integer)
    completion_tokens: Mapped[int] = mapped_column(Integer)
    estimated: Mapped[bool]
    price_micro: Mapped[int] = mapped_column(BigInteger)
    seconds: Mapped[float] = mapped_column(Float)

    __table_args__ = (Index("ix_model_calls_tenant_day", "tenant", "day"),)


class PaceRow(Base):
    """When the calls of a key are free again, in seconds since 1970 (``extract.chat.pace``)."""

    __tablename__ = "paces"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    requests_at: Mapped[float] = mapped_column(Float)
    tokens_at: Mapped[float] = mapped_column(Float)
    held_until: Mapped[float] = mapped_column(Float)
