"""Insights as the ledger holds them, and how they are put together from rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pydantic import TypeAdapter

from extract.reflection.model import Insight
from ingest.anchors import Frozen
from workers.ledger.insight_tables import InsightRow, SupportRow
from workers.ledger.tables import DocumentRow

_READER: TypeAdapter[Insight] = TypeAdapter(Insight)


class InsightSource(Frozen):
    """A document an insight rests on, and the facts in it."""

    document_id: str
    document_name: str
    media_type: str
    session_id: str | None
    facts: tuple[str, ...] = ()


class HeldInsight(Frozen):
    """An insight as the ledger holds it.

    Attributes:
        sources: what it rests on and may be shown.
        cases: ids of the cases a skill was generalised from.
    """

    id: str
    user_id: str | None
    group_id: str | None
    insight: Insight
    sources: tuple[InsightSource, ...]
    cases: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


def collect(found: dict[str, InsightSource], support: SupportRow, document: DocumentRow) -> None:
    """Add a support to the sources of an insight, by document."""
    source = found.get(document.id) or InsightSource(
        document_id=document.id, document_name=document.name, media_type=document.media_type,
        session_id=document.session_id,
    )  # fmt: skip
    facts = (*source.facts, support.fact_id) if support.fact_id else source.facts
    found[document.id] = source.model_copy(update={"facts": facts})


def held_insight(row: InsightRow, sources: Iterable[InsightSource]) -> HeldInsight:
    """Return a row with what it rests on."""
    return HeldInsight(
        id=row.id,
        user_id=row.user_id,
        group_id=row.group_id,
        insight=_READER.validate_python(row.body),
        sources=tuple(sources),
        cases=tuple(map(str, row.sources)),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
