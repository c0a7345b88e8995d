"""What the calls about documents and batches take and give."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from api.schemas.usage import BudgetOut, UsageOut
from workers.model import State


class AcceptedDocument(BaseModel):
    """One file of an upload: accepted with an id, or refused with a reason."""

    document_id: str | None
    filename: str
    status: str = Field(description="state of the document, or 'refused'")
    duplicate_of: str | None = None
    code: str | None = None
    detail: str | None = None
    next_step: str | None = None


class UploadResponse(BaseModel):
    """What an upload became. Poll ``/api/v1/batches/{batch_id}``."""

    batch_id: str
    documents: list[AcceptedDocument]


class WaitingOut(BaseModel):
    """What a document waits for; it goes on by itself."""

    code: str = Field(
        description="'budget_day', 'budget_batch', 'llm_turn', 'llm_rate_limited' or an error's"
    )
    detail: str
    next_step: str
    until: datetime | None


class DocumentOut(BaseModel):
    """The whole life of a document in one view."""

    id: str
    kind: str = Field(description="'file' or 'conversation'")
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    user_id: str | None
    group_id: str | None
    session_id: str | None
    metadata: dict[str, Any]
    status: str
    running: bool = Field(description="a worker is on it now; false while it waits")
    stage_done: int
    stage_total: int | None
    elements: int
    episodes: int
    facts: int
    ungrounded_facts: int = Field(description="facts whose quote is not in the text; they are not searched")
    parent_id: str | None
    warnings: list[dict[str, Any]]
    error: dict[str, str] | None
    waiting: WaitingOut | None = Field(
        description="why and until when it is put off: a limit, a budget, or after an error"
    )
    received_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    superseded_by: str | None = Field(description="the newer version that took its place")
    usage: UsageOut | None = Field(default=None, description="what models cost; not told in lists")


class PageQuery(BaseModel):
    """Where a page starts and how long it is."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=500)


class FactsQuery(PageQuery):
    """Which facts of a document to list."""

    grounded: bool | None = Field(
        default=None, description="only facts whose quote stands in the text, or only those whose does not"
    )


class DocumentListQuery(PageQuery):
    """Which documents to list."""

    user_id: str | None = None
    group_id: str | None = None
    status: State | None = None


class DocumentPage(BaseModel):
    """A page of documents; ``cursor`` is null on the last one."""

    documents: list[DocumentOut]
    cursor: str | None
    has_more: bool


class BatchQuery(BaseModel):
    """How long to wait for an answer that is final, in seconds."""

    model_config = ConfigDict(extra="forbid")

    wait: float = Field(default=0, ge=0, le=60)


class BatchResponse(BaseModel):
    """How far a batch is: counts per state, and a row per file."""

    batch_id: str
    done: bool
    total: int
    finished: int
    waiting: int
    running: int
    counts: dict[str, int]
    waits_for: dict[str, int] = Field(description="waiting documents that are put off, by reason")
    usage: UsageOut
    budget: BudgetOut | None = Field(description="of this batch alone; null: that of the settings")
    documents: list[dict[str, Any]]


class DeletedResponse(BaseModel):
    """A document that is being deleted: hidden already, removed in the background."""

    document_id: str
    status: str
    documents: int = Field(description="how many go: this one and those found inside it")
