"""The tables of what is learnt from conversations, and of what it rests on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from workers.ledger.tables import Base


class InsightRow(Base):
    """Something learnt. ``sources`` are the ids of the cases a skill was generalised from."""

    __tablename__ = "insights"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str | None] = mapped_column(String(256))
    group_id: Mapped[str | None] = mapped_column(String(256))
    kind: Mapped[str] = mapped_column(String(16))
    body: Mapped[dict[str, Any]]
    sources: Mapped[list[Any]]
    maker: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        Index("ix_insights_user", "tenant", "user_id", "kind"),
        Index("ix_insights_group", "tenant", "group_id", "kind"),
    )


class SupportRow(Base):
    """A fact of a document, or with an empty ``fact_id`` the document as a whole, an insight rests on."""

    __tablename__ = "insight_supports"

    insight_id: Mapped[str] = mapped_column(ForeignKey("insights.id", ondelete="CASCADE"), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    fact_id: Mapped[str] = mapped_column(String(36), primary_key=True)

    __table_args__ = (Index("ix_insight_supports_document", "document_id"),)
