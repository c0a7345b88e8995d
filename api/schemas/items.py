"""What the calls that list and delete memories take and give."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.schemas.memories import OwnerIn, RawMessageOut
from api.schemas.search import AnchorOut
from retrieval.model import DocumentRef, IndexedEpisode, IndexedFact
from workers.model import Kind


class ItemType(StrEnum):
    """What to list."""

    EPISODE = "episodic_memory"
    FACT = "atomic_fact"
    MESSAGE = "raw_message"


class GetRequest(BaseModel):
    """Memories by their ids, or a page of one type narrowed by filters as in a search."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(default=[], max_length=500)
    memory_type: ItemType | None = None
    filters: dict[str, Any] = Field(default_factory=dict)
    cursor: str | None = Field(default=None, max_length=512)
    limit: int = Field(default=50, ge=1, le=500)

    @model_validator(mode="after")
    def _one_way(self) -> GetRequest:
        if bool(self.ids) == (self.memory_type is not None):
            raise ValueError("name either ids or a memory_type")
        if self.ids and (self.filters or self.cursor):
            raise ValueError("filters and cursor go with a memory_type, not with ids")
        return self


class EpisodeItem(BaseModel):
    """An episode as it stands in memory."""

    id: str
    user_id: str | None
    group_id: str | None
    session_id: str | None
    timestamp: datetime
    title: str
    summary: str
    episode: str
    topics: list[str]
    participants: list[str]
    document: DocumentRef

    @classmethod
    def of(cls, item: IndexedEpisode) -> EpisodeItem:
        """Return the public form of an episode."""
        episode = item.episode
        return cls(
            **episode.owner.model_dump(exclude={"tenant"}),
            id=episode.id,
            timestamp=episode.occurred.start if episode.occurred else episode.recorded_at,
            title=episode.title,
            summary=episode.summary,
            episode=episode.text,
            topics=list(episode.topics),
            participants=list(episode.participants),
            document=item.document,
        )


class FactItem(BaseModel):
    """A fact as it stands in memory."""

    id: str
    user_id: str | None
    group_id: str | None
    session_id: str | None
    atomic_fact: str
    topic_name: str
    parent_episode_id: str
    document: DocumentRef
    anchors: list[AnchorOut]
    quote: str
    occurred_at: datetime | None

    @classmethod
    def of(cls, item: IndexedFact) -> FactItem:
        """Return the public form of a fact."""
        fact = item.fact
        return cls(
            **fact.owner.model_dump(exclude={"tenant"}),
            id=fact.id,
            atomic_fact=fact.text,
            topic_name=fact.topic_name,
            parent_episode_id=fact.episode_id,
            document=item.document,
            anchors=[AnchorOut.of(anchor) for anchor in fact.anchors],
            quote=fact.quote,
            occurred_at=fact.occurred.start if fact.occurred else None,
        )


class GetResponse(BaseModel):
    """Memories by type. ``cursor`` is null on the last page; ``unknown`` are ids that name nothing here."""

    episodes: list[EpisodeItem] = []
    facts: list[FactItem] = []
    raw_messages: list[RawMessageOut] = []
    unknown: list[str] = []
    cursor: str | None = None
    has_more: bool = False


class DeleteFilters(OwnerIn):
    """Whose memories go: of a user or group, perhaps of one session, perhaps only of one kind of source."""

    kind: Kind | None = None


class DeleteRequest(BaseModel):
    """Memories by their ids, or everything of an owner or a session."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(default=[], max_length=500)
    filters: DeleteFilters | None = None

    @model_validator(mode="after")
    def _one_way(self) -> DeleteRequest:
        if bool(self.ids) == (self.filters is not None):
            raise ValueError("name either ids or filters")
        return self


class DeleteResponse(BaseModel):
    """How much went. Documents are hidden already and removed in the background."""

    documents: int = 0
    episodes: int = 0
    facts: int = 0
    messages: int = 0
    insights: int = Field(default=0, description="entries of profiles, cases and skills")
    unknown: list[str] = []
