"""One search of one owner's memory, from the question to the hits."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from ingest.errors import TransientError
from retrieval.answering import Items, compose
from retrieval.errors import EmbedderRefused
from retrieval.knobs import MragKnobs
from retrieval.model import (
    Degraded,
    EpisodeHit,
    HitTrace,
    Include,
    IndexedEpisode,
    MemoryType,
    SearchAnswer,
    SearchMethod,
    SearchQuery,
    SearchTrace,
)
from retrieval.passes import Found, Order, OwnPasses, Passes
from retrieval.protocols import Collection, Embedder, Lane, Vector, VectorStore
from retrieval.ranking.asked import ask
from retrieval.ranking.scoring import Scorer, make_scorer
from retrieval.reranking import Rerank
from retrieval.rounds import Gathered, Rounds
from retrieval.trips import Trips


class Extras(NamedTuple):
    """What a search may use beyond one pass; without them it is one pass.

    Attributes:
        rerank: scores the results once more.
        rounds: carries out ``agentic``.
        passes: carries out the passes; this process itself when None.
    """

    rerank: Rerank | None = None
    rounds: Rounds | None = None
    passes: Passes | None = None


class Searcher:
    """Searches memory by keyword, by vector, by both through the mRAG loop, or by rounds of that.

    Args:
        store: where the memory is.
        embedder: the encoder it was stored with.
        knobs: depths, weights and bounds.
        scorer: turns signals into scores; chosen by ``knobs.fusion`` when None.
        extras: rerank and rounds.

    Raises:
        WeightsDamaged, FingerprintMismatch: the ranking weights cannot be used.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        knobs: MragKnobs,
        scorer: Scorer | None = None,
        extras: Extras | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._knobs = knobs
        self._scorer = scorer or make_scorer(knobs, embedder.fingerprint)
        self._extras = extras or Extras(rounds=Rounds())

    def search(self, query: SearchQuery) -> SearchAnswer:
        """Return what answers the question, best first.

        A failing encoder leaves the keyword lanes alone, a failing reranker the fused order, a failing judge
        the names in the results; each is named in ``degraded``.

        Raises:
            StoreUnavailable: the store does not answer.
            InvalidQuery: the filter names what does not exist.
        """
        if MemoryType.EPISODIC not in query.memory_types:
            return SearchAnswer()
        one = _Search(self._store, self._embedder, self._knobs, self._scorer, self._extras, query)
        return one.answer()


class _Search:
    """One search under way."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        knobs: MragKnobs,
        scorer: Scorer,
        extras: Extras,
        query: SearchQuery,
    ) -> None:
        self._embedder = embedder
        self._knobs = knobs
        self._scorer = scorer
        self._extras = extras
        self._query = query
        self._trips = Trips(store, query)
        self._items = Items(self._trips)
        self._degraded: dict[str, Degraded] = {}
        self._embed_s = self._rerank_s = 0.0
        self._trace = SearchTrace()
        self._gathered: Gathered | None = None

    def answer(self) -> SearchAnswer:
        began = perf_counter()
        if self._query.method in (SearchMethod.KEYWORD, SearchMethod.VECTOR):
            answer = self._one_lane()
        else:
            answer = compose(self._ranked(), self._items, traced=self._traced)
        if self._scorer.calibrated:
            relevant = answer.top_score >= self._knobs.relevant_from
            answer = answer.model_copy(update={"relevant": relevant})
        more: dict[str, object] = {}
        if self._degraded:
            more["degraded"] = tuple(self._degraded.values())
        if self._traced:
            more["trace"] = self._told(perf_counter() - began)
        return answer.model_copy(update=more) if more else answer

    @property
    def _traced(self) -> bool:
        return Include.TRACE in self._query.include

    def _ranked(self) -> Sequence[Found]:
        """The results of ``hybrid`` or ``agentic``, reranked where that is wanted, best first."""
        query, rerank, rounds = self._query, self._extras.rerank, self._extras.rounds
        count = rerank.wanted(query.top_k) if rerank else query.top_k
        if query.method is SearchMethod.AGENTIC and rounds is not None:
            asked = ask(query.text, query.as_of)
            self._gathered = rounds.run(query.text, asked.language, count, self._pass, self._items)
            found: Sequence[Found] = self._gathered.found
            self._note(self._gathered.degraded)
        else:
            found = self._pass(query.text, count)
        if rerank is None:
            found = [one for one in found if _admitted(one.score, query)]
            self._items.load(found)
            return found
        self._items.load(found)
        began = perf_counter()
        found, degraded = rerank.order(query.text, found, self._items)
        self._rerank_s += perf_counter() - began
        self._note(degraded)
        return [one for one in found[: query.top_k] if _admitted(one.score, query)]

    def _pass(self, text: str, count: int) -> Sequence[Found]:
        asked = ask(text, self._query.as_of)
        passes = self._extras.passes or OwnPasses()
        order = Order(asked, self._scorer, self._knobs, count, self._traced)
        one = passes.run(self._trips, order, lambda: self._encoded(asked.text))
        self._items.keep(one.facts, one.episodes)
        first = self._trace.rounds == 0
        ranked = {
            "candidate_episodes": self._trace.candidate_episodes + one.course.candidate_episodes,
            "candidate_facts": self._trace.candidate_facts + one.course.candidate_facts,
        }
        course = {
            "rounds": one.course.rounds,
            "expanded": one.course.expanded,
            "converged": one.course.converged,
        }
        self._trace = self._trace.model_copy(update=ranked | course if first else ranked)
        return one.found

    def _encoded(self, text: str) -> Vector | None:
        began = perf_counter()
        try:
            return self._embedder.embed_query(text)
        except (TransientError, EmbedderRefused) as error:
            self._note(Degraded(part="embedder", reason=f"{error.detail} Searched by keywords alone."))
            return None
        finally:
            self._embed_s += perf_counter() - began

    def _one_lane(self) -> SearchAnswer:
        """Episodes by one lane."""
        query = self._query
        asked = ask(query.text, query.as_of)
        by_words = query.method is SearchMethod.KEYWORD
        dense = None if by_words else self._encoded(asked.text)
        lane = Lane(query.top_k, sparse=asked.terms) if dense is None else Lane(query.top_k, dense=dense)
        (hits,) = self._trips.search(Collection.EPISODES, [lane])
        found = []
        for rank, hit in enumerate(hits, 1):
            if dense is None:
                score = self._scorer.keyword(asked, hit.score)
                trace = HitTrace(sparse_rank=rank, bm25=hit.score, fused_score=score)
            else:
                score = self._scorer.vector(hit.score)
                trace = HitTrace(dense_rank=rank, cosine=hit.score, fused_score=score)
            if isinstance(item := hit.item, IndexedEpisode) and _admitted(score, query):
                found.append(EpisodeHit(indexed=item, score=score, trace=trace if self._traced else None))
        return SearchAnswer(episodes=tuple(found))

    def _note(self, degraded: Degraded | None) -> None:
        """Say once what did not work, however often it was tried."""
        if degraded is not None:
            self._degraded.setdefault(degraded.part, degraded)

    def _told(self, total_s: float) -> SearchTrace:
        gathered, rerank = self._gathered, self._extras.rerank
        judge_s = gathered.judge_s if gathered else 0.0
        own_s = total_s - self._embed_s - self._trips.seconds - self._rerank_s - judge_s
        told = {
            "embed_ms": self._embed_s * 1000,
            "store_ms": self._trips.seconds * 1000,
            "rerank_ms": self._rerank_s * 1000,
            "judge_ms": judge_s * 1000,
            "own_ms": own_s * 1000,
            "round_trips": self._trips.count,
            "lanes": self._trips.lanes(),
            "reranker": rerank.name if rerank and self._rerank_s else None,
            "agentic": gathered.rounds if gathered else (),
            "stopped": gathered.stopped if gathered else None,
        }
        return self._trace.model_copy(update=told)


def _admitted(score: float, query: SearchQuery) -> bool:
    return query.radius is None or score >= query.radius
