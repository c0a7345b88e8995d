"""The question and the answer. A hit wraps what was found; scores belong to the hit."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

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
    """Why a hit stands where it stands. Ranks count from 1; None where a lane did not return the item.

    Attributes:
        dense_rank, sparse_rank: place in the lane by vector and in the one by words.
        cosine, bm25: what those lanes are sorted by.
        fused_score: what the search scored it before any rerank, 0 to 1.
        episode_score, fact_score: what it was mixed from; an episode has no fact score.
        replaced_parent: the episode whose place a fact took.
        rerank_score: what the reranker scored it, 0 to 1; None where it was not asked.
        rerank_change: places gained by reranking; negative when lost.
        round: the search of ``agentic`` that found it, from 1.
        question: what that search asked.
    """

    dense_rank: int | None = None
    sparse_rank: int | None = None
    cosine: float | None = None
    bm25: float | None = None
    fused_score: float | None = None
    episode_score: float | None = None
    fact_score: float | None = None
    replaced_parent: str | None = None
    rerank_score: float | None = None
    rerank_change: int | None = None
    round: int | None = None
    question: str | None = None


class LaneCount(Frozen):
    """What one ranked list of the store brought.

    Attributes:
        trip: the round trip it came with, from 1.
        collection: "episodes" or "facts".
        signal: "dense", "sparse", "context_dense" or "context_sparse".
        narrowed: it was asked about known candidates only.
        hits: how many it returned.
    """

    trip: int
    collection: str
    signal: str
    narrowed: bool
    hits: int


class RoundTrace(Frozen):
    """One round of ``agentic``.

    Attributes:
        questions: what was asked.
        judge: who wrote them: "caller", "text" or the model's name.
        found: results that no earlier round had.
        tokens: the language model's, for this round's questions.
    """

    questions: tuple[str, ...]
    judge: str
    found: int
    tokens: int = 0


class SearchTrace(Frozen):
    """How a search went; times in milliseconds.

    Attributes:
        embed_ms, store_ms, rerank_ms, judge_ms, own_ms: where the time went; ``own_ms`` is the rest.
        round_trips: requests to the store.
        lanes: what each ranked list brought.
        candidate_episodes, candidate_facts: how many were ranked, over all passes.
        rounds, expanded, converged: of the mRAG loop, in the first pass.
        reranker: model that scored the results once more.
        agentic: the rounds of ``agentic``.
        stopped: why ``agentic`` asked no further.
    """

    embed_ms: float = 0.0
    store_ms: float = 0.0
    rerank_ms: float = 0.0
    judge_ms: float = 0.0
    own_ms: float = 0.0
    round_trips: int = 0
    lanes: tuple[LaneCount, ...] = ()
    candidate_episodes: int = 0
    candidate_facts: int = 0
    rounds: int = 0
    expanded: int = 0
    converged: bool = False
    reranker: str | None = None
    agentic: tuple[RoundTrace, ...] = ()
    stopped: str | None = None


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
    ``trace`` is filled when asked for.
    ``relevant`` is False when even the best hit scores too low to be about the question; None when scores
    only put hits in order and cannot tell.
    """

    episodes: tuple[EpisodeHit, ...] = ()
    facts: tuple[FactHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    relevant: bool | None = None
    trace: SearchTrace | None = None

    @property
    def top_score(self) -> float:
        """The best score of all hits, 0 when there is none."""
        scores = [*(hit.score for hit in self.episodes), *(hit.score for hit in self.facts)]
        return max(scores, default=0.0)
