"""One pass of mRAG: from a question to a ranked list of facts and episodes, and why each stands there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from retrieval import mrag
from retrieval.asked import Asked
from retrieval.fusion import Floats
from retrieval.hybrid import Candidates, Probe, gather
from retrieval.knobs import MragKnobs
from retrieval.model import HitTrace, IndexedFact
from retrieval.mrag import CoarseEpisode, MragOutcome, ScoredFact, Survivor
from retrieval.scoring import Scorer
from retrieval.trips import Trips


class Found(NamedTuple):
    """A result without its item.

    Attributes:
        id: of a fact or an episode.
        parent: the episode a fact stands for; None for an episode.
        score: what it is sorted by, 0 to 1.
        trace: why it stands where it stands.
    """

    id: str
    parent: str | None
    score: float
    trace: HitTrace

    @property
    def episode(self) -> str:
        """The episode it is, or belongs to."""
        return self.parent or self.id


class Pass(NamedTuple):
    """The results of one pass, best first.

    Attributes:
        found: the results.
        facts: those of them that came along whole.
        candidate_episodes: how many episodes were ranked.
        outcome: how the loop went.
    """

    found: tuple[Found, ...]
    facts: Mapping[str, IndexedFact]
    candidate_episodes: int
    outcome: MragOutcome


def run_pass(trips: Trips, asked: Asked, probe: Probe, scorer: Scorer, knobs: MragKnobs, count: int) -> Pass:
    """Return the best ``count`` results of a question.

    Args:
        trips: the store.
        asked: the question, understood.
        probe: the question as the store takes it.
        scorer: turns signals into scores.
        knobs: depths, weights and bounds.
        count: results wanted, at least 1.
    """
    candidates = gather(trips, asked, probe, scorer, knobs, count)
    outcome = _loop(candidates, knobs, count)
    explain = _Explain(candidates)
    unit = candidates.scores.unit
    found = tuple(
        Found(one.id, one.parent, unit(one.score), explain.fact(one) if one.parent else explain.episode(one))
        for one in outcome.survivors
    )
    carried = {one.id: candidates.bodies[one.id].item for one in found if one.id in candidates.bodies}
    facts = {id_: item for id_, item in carried.items() if isinstance(item, IndexedFact)}
    return Pass(found, facts, len(candidates.episodes.ids), outcome)


def _loop(candidates: Candidates, knobs: MragKnobs, count: int) -> MragOutcome:
    episodes, facts, scores = candidates.episodes, candidates.facts, candidates.scores
    children: dict[str, list[ScoredFact]] = {}
    for id_, parent, score in zip(facts.ids, facts.parents, scores.facts.tolist(), strict=True):
        children.setdefault(parent, []).append(ScoredFact(id_, score))

    def facts_of(parents: Sequence[str]) -> Mapping[str, Sequence[ScoredFact]]:
        return {parent: children[parent] for parent in parents if parent in children}

    coarse = map(CoarseEpisode, episodes.ids, scores.episodes.tolist())
    return mrag.run(
        coarse, facts_of, top_k=count, alpha=knobs.alpha, batch=knobs.batch, patience=knobs.patience
    )


class _Explain:
    """Says why a survivor stands where it stands."""

    def __init__(self, candidates: Candidates) -> None:
        self._of = candidates
        self._fact_row = {id_: at for at, id_ in enumerate(candidates.facts.ids)}
        self._episode_row = {id_: at for at, id_ in enumerate(candidates.episodes.ids)}

    def fact(self, one: Survivor) -> HitTrace:
        at, pool, unit = self._fact_row[one.id], self._of.facts, self._of.scores.unit
        dense, sparse = self._of.ranks
        return HitTrace(
            dense_rank=dense.get(one.id),
            sparse_rank=sparse.get(one.id),
            cosine=_known(pool.cosine[at]),
            bm25=float(pool.bm25[at]),
            fused_score=unit(one.score),
            episode_score=unit(one.episode_score),
            fact_score=None if one.fact_score is None else unit(one.fact_score),
            replaced_parent=one.parent,
        )

    def episode(self, one: Survivor) -> HitTrace:
        at, pool = self._episode_row[one.id], self._of.episodes
        score = self._of.scores.unit(one.score)
        return HitTrace(
            dense_rank=_rank(pool.cosine, at),
            sparse_rank=_rank(pool.bm25, at),
            cosine=_known(pool.cosine[at]),
            bm25=float(pool.bm25[at]),
            fused_score=score,
            episode_score=score,
        )


def _rank(signal: Floats, at: int) -> int | None:
    """Place among the candidates, which hold the leaders of both lanes; None where the lane finds nothing."""
    own = signal[at]
    return int(np.nansum(signal > own)) + 1 if own > 0 else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
