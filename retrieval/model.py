"""The question and the answer. A hit wraps what was found; scores belong to the hit."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from extract.model import AtomicFact, Episode, TimeSpan
from ingest.anchors import Frozen
from retrieval.filters import AllOf


class SearchMethod(StrEnum):
    """How to search; ``hybrid`` is mRAG."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"
    AGENTIC = "agentic"


class MemoryType(StrEnum):
    """Which memories may answer."""

    EPISODIC = "episodic_memory"
    PROFILE = "profile"
    RAW = "raw_message"
    AGENT = "agent_memory"


class Include(StrEnum):
    """What to return besides the answer."""

    TRACE = "trace"
    EVIDENCE = "evidence"


class SearchQuery(Frozen):
    """One search of one owner's memory.

    Attributes:
        text: the question, 1 to 4,000 characters.
        tenant: the wall; always applied.
        where: the owner condition and the caller's filters; never empty.
        top_k: how many results, 1 to 100.
        radius: drop hits scored below it, 0 to 1.
        as_of: answer as if now were then: facts valid at that time only.
    """

    text: str = Field(min_length=1, max_length=4000)
    tenant: str
    where: AllOf = Field(description="owner condition and filters")
    method: SearchMethod = SearchMethod.HYBRID
    memory_types: tuple[MemoryType, ...] = (MemoryType.EPISODIC, MemoryType.PROFILE)
    top_k: int = Field(default=10, ge=1, le=100)
    radius: float | None = Field(default=None, ge=0, le=1)
    as_of: datetime | None = None
    include: tuple[Include, ...] = ()
    include_original_data: bool = False


class DocumentRef(Frozen):
    """The document behind a hit, as shown to a reader."""

    id: str
    name: str
    media_type: str
    title: str | None = None


class IndexedEpisode(Frozen):
    """An episode as it stands in the index: with the document it comes from."""

    episode: Episode
    document: DocumentRef


class EpisodeContext(Frozen):
    """What a fact takes over from its episode where it says nothing itself; searches are narrowed by it."""

    recorded_at: datetime
    occurred: TimeSpan | None = None
    participants: tuple[str, ...] = ()


class IndexedFact(Frozen):
    """A fact as it stands in the index: with the document and the episode it comes from."""

    fact: AtomicFact
    document: DocumentRef
    context: EpisodeContext | None = None


class HitTrace(Frozen):
    """Why a hit stands where it stands. Ranks count from 1; None where a lane did not return the item."""

    dense_rank: int | None = None
    sparse_rank: int | None = None
    cosine: float | None = None
    bm25: float | None = None
    fused_score: float | None = None
    episode_score: float | None = None
    fact_score: float | None = None
    replaced_parent: str | None = None
    rerank_change: int | None = None


class FactHit(Frozen):
    """A fact that answers. ``score`` is in [0, 1]."""

    indexed: IndexedFact
    score: float = Field(ge=0, le=1)
    trace: HitTrace | None = None


class EpisodeHit(Frozen):
    """An episode that answers, or carries facts that do. ``score`` is in [0, 1].

    ``facts`` are the hits under it. ``answers`` is False when the episode's own place was taken by its
    facts and it is here only to carry them.
    """

    indexed: IndexedEpisode
    score: float = Field(ge=0, le=1)
    facts: tuple[FactHit, ...] = ()
    answers: bool = True
    trace: HitTrace | None = None


class Degraded(Frozen):
    """A part that did not work and what was done without it."""

    part: str
    reason: str


class SearchAnswer(Frozen):
    """What a search found, best first in each list.

    ``episodes`` holds the episodes still in the answer; ``facts`` the facts that replaced their parents.
    ``trace`` is filled when asked for: timings in milliseconds, counts, rounds.
    ``relevant`` is False when even the best hit scores too low to be about the question; None when scores
    only put hits in order and cannot tell.
    """

    episodes: tuple[EpisodeHit, ...] = ()
    facts: tuple[FactHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    relevant: bool | None = None
    trace: dict[str, JsonValue] | None = None

    @property
    def top_score(self) -> float:
        """The best score of all hits, 0 when there is none."""
        scores = [*(hit.score for hit in self.episodes), *(hit.score for hit in self.facts)]
        return max(scores, default=0.0)
