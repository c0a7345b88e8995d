"""One search of one owner's memory, from the question to the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from pydantic import JsonValue

from retrieval import mrag
from retrieval.asked import Asked, ask
from retrieval.errors import EmbedderUnavailable
from retrieval.hybrid import Candidates, Probe, gather
from retrieval.knobs import MragKnobs
from retrieval.model import (
    Degraded,
    EpisodeHit,
    FactHit,
    HitTrace,
    Include,
    IndexedEpisode,
    IndexedFact,
    MemoryType,
    SearchAnswer,
    SearchMethod,
    SearchQuery,
)
from retrieval.mrag import CoarseEpisode, MragOutcome, ScoredFact, Survivor
from retrieval.protocols import Collection, Embedder, Lane, Vector, VectorStore
from retrieval.scoring import Scorer, make_scorer
from retrieval.trips import Trips


class Searcher:
    """Searches memory by keyword, by vector, or by both through the mRAG loop.

    Args:
        store: where the memory is.
        embedder: the encoder it was stored with.
        knobs: depths, weights and bounds.
        scorer: turns signals into scores; chosen by ``knobs.fusion`` when None.

    Raises:
        WeightsDamaged, FingerprintMismatch: the ranking weights cannot be used.
    """

    def __init__(
        self, store: VectorStore, embedder: Embedder, knobs: MragKnobs, scorer: Scorer | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._knobs = knobs
        self._scorer = scorer or make_scorer(knobs, embedder.fingerprint)

    def search(self, query: SearchQuery) -> SearchAnswer:
        """Return what answers the question, best first.

        A failing encoder leaves the keyword lanes alone and is named in ``degraded``.

        Raises:
            StoreUnavailable: the store does not answer.
            InvalidQuery: the filter names what does not exist.
        """
        if MemoryType.EPISODIC not in query.memory_types:
            return SearchAnswer()
        started = perf_counter()
        trips = Trips(self._store, query)
        degraded: list[Degraded] = []
        vector_wanted = query.method is not SearchMethod.KEYWORD
        asked = ask(query.text, query.as_of)
        probe = Probe(self._embedded(query.text, degraded) if vector_wanted else None, asked.terms)
        embedded = perf_counter()
        if query.method in (SearchMethod.KEYWORD, SearchMethod.VECTOR):
            answer = self._one_lane(trips, query, asked, probe)
        else:
            answer = self._hybrid(trips, query, asked, probe)
        if self._scorer.calibrated:
            relevant = answer.top_score >= self._knobs.relevant_from
            answer = answer.model_copy(update={"relevant": relevant})
        if Include.TRACE in query.include:
            spent = perf_counter() - embedded - trips.seconds
            timings: dict[str, JsonValue] = {
                "embed_ms": (embedded - started) * 1000,
                "store_ms": trips.seconds * 1000,
                "own_ms": spent * 1000,
                "round_trips": trips.count,
            }
            answer = answer.model_copy(update={"trace": {**(answer.trace or {}), **timings}})
        return answer.model_copy(update={"degraded": tuple(degraded)}) if degraded else answer

    def _embedded(self, text: str, degraded: list[Degraded]) -> Vector | None:
        try:
            return self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            degraded.append(Degraded(part="embedder", reason=f"{error.detail} Searched by keywords alone."))
            return None

    def _one_lane(self, trips: Trips, query: SearchQuery, asked: Asked, probe: Probe) -> SearchAnswer:
        """Episodes by one lane."""
        if probe.dense is None:
            lane = Lane(query.top_k, sparse=probe.sparse)
        else:
            lane = Lane(query.top_k, dense=probe.dense)
        (hits,) = trips.search(Collection.EPISODES, [lane])
        found = []
        for rank, hit in enumerate(hits, 1):
            score = (
                self._scorer.keyword(asked, hit.score)
                if probe.dense is None
                else self._scorer.vector(hit.score)
            )
            trace = HitTrace(
                dense_rank=None if probe.dense is None else rank,
                sparse_rank=rank if probe.dense is None else None,
                cosine=None if probe.dense is None else hit.score,
                bm25=hit.score if probe.dense is None else None,
                fused_score=score,
            )
            if isinstance(item := hit.item, IndexedEpisode) and _admitted(score, query):
                found.append(EpisodeHit(indexed=item, score=score, trace=trace if _traced(query) else None))
        return SearchAnswer(episodes=tuple(found))

    def _hybrid(self, trips: Trips, query: SearchQuery, asked: Asked, probe: Probe) -> SearchAnswer:
        candidates = gather(trips, asked, probe, self._scorer, self._knobs, query.top_k)
        outcome = _loop(candidates, self._knobs, query.top_k)
        unit = candidates.scores.unit
        survivors = [
            one._replace(score=unit(one.score))
            for one in outcome.survivors
            if _admitted(unit(one.score), query)
        ]
        facts = _facts_of(trips, candidates, survivors)
        episodes = trips.episodes(one.parent or one.id for one in survivors)
        answer = _compose(survivors, facts, episodes, candidates if _traced(query) else None)
        trace: dict[str, JsonValue] = {
            "rounds": outcome.rounds,
            "expanded": outcome.expanded,
            "converged": outcome.converged,
            "candidate_episodes": len(candidates.episodes.ids),
            "candidate_facts": outcome.facts_seen,
        }
        return answer.model_copy(update={"trace": trace}) if _traced(query) else answer


def _traced(query: SearchQuery) -> bool:
    return Include.TRACE in query.include


def _admitted(score: float, query: SearchQuery) -> bool:
    return query.radius is None or score >= query.radius


def _loop(candidates: Candidates, knobs: MragKnobs, top_k: int) -> MragOutcome:
    episodes, facts, scores = candidates.episodes, candidates.facts, candidates.scores
    children: dict[str, list[ScoredFact]] = {}
    for id_, parent, score in zip(facts.ids, facts.parents, scores.facts.tolist(), strict=True):
        children.setdefault(parent, []).append(ScoredFact(id_, score))

    def facts_of(parents: Sequence[str]) -> Mapping[str, Sequence[ScoredFact]]:
        return {parent: children[parent] for parent in parents if parent in children}

    coarse = map(CoarseEpisode, episodes.ids, scores.episodes.tolist())
    return mrag.run(
        coarse, facts_of, top_k=top_k, alpha=knobs.alpha, batch=knobs.batch, patience=knobs.patience
    )


def _facts_of(trips: Trips, candidates: Candidates, survivors: Sequence[Survivor]) -> dict[str, IndexedFact]:
    wanted = [one.id for one in survivors if one.parent is not None]
    carried = {id_: candidates.bodies[id_].item for id_ in wanted if id_ in candidates.bodies}
    found = {id_: item for id_, item in carried.items() if isinstance(item, IndexedFact)}
    return found | trips.facts(id_ for id_ in wanted if id_ not in found)


def _compose(
    survivors: Sequence[Survivor],
    facts: Mapping[str, IndexedFact],
    episodes: Mapping[str, IndexedEpisode],
    traced: Candidates | None,
) -> SearchAnswer:
    """Put hits together; what was deleted since it was found is left out."""
    hits: list[FactHit] = []
    under: dict[str, list[FactHit]] = {}
    best: dict[str, Survivor] = {}
    for one in survivors:
        best.setdefault(one.parent or one.id, one)
        if one.parent is not None and one.id in facts and one.parent in episodes:
            trace = _fact_trace(one, traced) if traced else None
            hits.append(FactHit(indexed=facts[one.id], score=one.score, trace=trace))
            under.setdefault(one.parent, []).append(hits[-1])
    carriers = tuple(
        EpisodeHit(
            indexed=episodes[id_],
            score=one.score,
            facts=tuple(under.get(id_, ())),
            answers=one.parent is None,
            trace=_episode_trace(id_, traced) if traced else None,
        )
        for id_, one in best.items()
        if id_ in episodes and (one.parent is None or id_ in under)
    )
    return SearchAnswer(episodes=carriers, facts=tuple(hits))


def _fact_trace(one: Survivor, traced: Candidates) -> HitTrace:
    at = traced.facts.ids.index(one.id)
    dense, sparse = traced.ranks
    return HitTrace(
        dense_rank=dense.get(one.id),
        sparse_rank=sparse.get(one.id),
        cosine=_known(traced.facts.cosine[at]),
        bm25=float(traced.facts.bm25[at]),
        fused_score=one.score,
        episode_score=traced.scores.unit(one.episode_score),
        fact_score=None if one.fact_score is None else traced.scores.unit(one.fact_score),
        replaced_parent=one.parent,
    )


def _episode_trace(id_: str, traced: Candidates) -> HitTrace:
    at = traced.episodes.ids.index(id_)
    score = traced.scores.unit(float(traced.scores.episodes[at]))
    return HitTrace(
        cosine=_known(traced.episodes.cosine[at]),
        bm25=float(traced.episodes.bm25[at]),
        fused_score=score,
        episode_score=score,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
