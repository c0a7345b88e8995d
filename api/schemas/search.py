"""The search contract: what is asked over HTTP and what comes back, to the field."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from api.schemas.asked import Moment, Question
from api.schemas.insights import AgentMemoryOut, ProfileOut, profiles_of
from api.schemas.memories import RawMessageOut
from extract.model import AtomicFact
from ingest.anchors import Anchor
from ingest.model import Element
from retrieval.model import (
    Degraded,
    DocumentRef,
    EpisodeHit,
    FactHit,
    HitTrace,
    Include,
    MemoryType,
    SearchAnswer,
    SearchMethod,
    SearchTrace,
)
from workers.conversation import KnownMessage
from workers.evidence import Evidence, Piece
from workers.learnt import Learnt
from workers.originals import Originals

_NOTHING = Learnt()


class SearchRequest(BaseModel):
    """One search. ``filters`` must name a user_id or group_id unless the key is bound to one."""

    model_config = ConfigDict(extra="forbid")

    query: Question
    method: SearchMethod = SearchMethod.HYBRID
    memory_types: list[MemoryType] = Field(
        default=[MemoryType.EPISODIC, MemoryType.PROFILE], min_length=1, description="at least one"
    )
    top_k: int = Field(default=10, ge=1, le=100)
    radius: float | None = Field(default=None, ge=0, le=1, description="drop hits scored below it")
    filters: dict[str, Any] = Field(default_factory=dict)
    as_of: Moment | None = None
    include_original_data: bool = Field(
        default=False, description="show the elements of the source behind each hit"
    )
    include: list[Include] = []


class AnchorOut(BaseModel):
    """Where a statement stands: ``label`` for people, the rest for programs."""

    model_config = ConfigDict(extra="allow")

    kind: str
    label: str

    @classmethod
    def of(cls, anchor: Anchor) -> AnchorOut:
        """Return the public form of an anchor."""
        return cls(label=anchor.label(), **anchor.model_dump(mode="json", exclude_none=True))


class OriginalOut(BaseModel):
    """A piece of the source as it was read, with its place."""

    position: int = Field(description="0-based order in the document")
    kind: str
    text: str
    anchor: AnchorOut

    @classmethod
    def of(cls, element: Element) -> OriginalOut:
        """Return the public form of an element."""
        return cls(
            position=element.position,
            kind=element.kind,
            text=element.text,
            anchor=AnchorOut.of(element.anchor),
        )


class EvidenceOut(OriginalOut):
    """A piece of the source at or beside a hit."""

    of_hit: bool = Field(description="false for what only stands beside the hit")

    @classmethod
    def around(cls, piece: Piece) -> EvidenceOut:
        """Return the public form of a piece."""
        return cls(**OriginalOut.of(piece.element).model_dump(), of_hit=piece.of_hit)


class FactOut(BaseModel):
    """A fact of the answer."""

    id: str
    atomic_fact: str
    topic_name: str
    score: float
    parent_episode_id: str
    document: DocumentRef
    anchors: list[AnchorOut]
    quote: str
    occurred_at: datetime | None
    trace: HitTrace | None = None
    original_data: list[OriginalOut] | None = None
    evidence: list[EvidenceOut] | None = None

    @classmethod
    def of(cls, hit: FactHit) -> FactOut:
        """Return the public form of a fact hit."""
        fact: AtomicFact = hit.indexed.fact
        return cls(
            id=fact.id,
            atomic_fact=fact.text,
            topic_name=fact.topic_name,
            score=hit.score,
            parent_episode_id=fact.episode_id,
            document=hit.indexed.document,
            anchors=[AnchorOut.of(anchor) for anchor in fact.anchors],
            quote=fact.quote,
            occurred_at=fact.occurred.start if fact.occurred else None,
            trace=hit.trace,
        )


class EpisodeOut(BaseModel):
    """An episode of the answer, with the facts under it that speak for it."""

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
    score: float
    atomic_facts: list[FactOut]
    trace: HitTrace | None = None
    original_data: list[OriginalOut] | None = None
    evidence: list[EvidenceOut] | None = None

    @classmethod
    def of(cls, hit: EpisodeHit) -> EpisodeOut:
        """Return the public form of an episode hit."""
        episode = hit.indexed.episode
        return cls(
            id=episode.id,
            user_id=episode.owner.user_id,
            group_id=episode.owner.group_id,
            session_id=episode.owner.session_id,
            timestamp=episode.occurred.start if episode.occurred else episode.recorded_at,
            title=episode.title,
            summary=episode.summary,
            episode=episode.text,
            topics=list(episode.topics),
            participants=list(episode.participants),
            document=hit.indexed.document,
            score=hit.score,
            atomic_facts=[FactOut.of(fact) for fact in hit.facts],
            trace=hit.trace,
        )


class QueryOut(BaseModel):
    """The question as it was understood."""

    text: str
    method: SearchMethod
    filters_applied: dict[str, Any]


class SearchResponse(BaseModel):
    """The answer, best first in each list. ``degraded`` is there only when a part did not work.

    ``relevant`` is there, and false, only when even the best hit scores too low to be about the question.
    """

    episodes: list[EpisodeOut]
    facts: list[FactOut]
    profiles: list[ProfileOut]
    raw_messages: list[RawMessageOut]
    agent_memory: AgentMemoryOut
    query: QueryOut
    relevant: bool | None = None
    degraded: list[Degraded] | None = None
    trace: SearchTrace | None = None

    @classmethod
    def of(
        cls,
        answer: SearchAnswer,
        query: QueryOut,
        fresh: Sequence[KnownMessage] = (),
        learnt: Learnt = _NOTHING,
    ) -> SearchResponse:
        """Return the public form of an answer."""
        return cls(
            episodes=[EpisodeOut.of(hit) for hit in answer.episodes if hit.answers],
            facts=[FactOut.of(hit) for hit in answer.facts],
            profiles=profiles_of(learnt.profiles),
            raw_messages=[RawMessageOut.of(one) for one in fresh],
            agent_memory=AgentMemoryOut.of(learnt),
            query=query,
            relevant=answer.relevant,
            degraded=list(answer.degraded) or None,
            trace=answer.trace,
        )

    def show_originals(self, originals: Originals) -> None:
        """Put the words of the source beside each hit."""
        for hit in self._hits():
            hit.original_data = [OriginalOut.of(element) for element in originals.get(hit.id, ())]

    def show_evidence(self, evidence: Evidence) -> None:
        """Put the source around each hit beside it."""
        for hit in self._hits():
            hit.evidence = [EvidenceOut.around(piece) for piece in evidence.get(hit.id, ())]

    def _hits(self) -> list[EpisodeOut | FactOut]:
        nested = (fact for episode in self.episodes for fact in episode.atomic_facts)
        return [*self.episodes, *self.facts, *nested]

    def public(self) -> dict[str, Any]:
        """Return the JSON body: optional extras only where they hold something."""
        body = self.model_dump(mode="json")
        for key in ("degraded", "trace"):
            if body[key] is None:
                del body[key]
        if body["relevant"] is not False:
            del body["relevant"]
        for hit in [
            *body["episodes"],
            *body["facts"],
            *(f for e in body["episodes"] for f in e["atomic_facts"]),
        ]:
            for key in ("trace", "original_data", "evidence"):
                if hit[key] is None:
                    del hit[key]
        return body
