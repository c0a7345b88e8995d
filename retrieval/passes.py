"""One pass of mRAG: from a question to a ranked list of facts and episodes, and why each stands there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import NamedTuple, Protocol

import numpy as np

from retrieval import mrag
from retrieval.hybrid import Candidates, Probe, gather
from retrieval.knobs import MragKnobs
from retrieval.model import HitTrace, IndexedEpisode, IndexedFact
from retrieval.mrag import CoarseEpisode, MragOutcome, ScoredFact, Survivor
from retrieval.protocols import Lanes, Vector
from retrieval.ranking.asked import Asked
from retrieval.ranking.fusion import Floats
from retrieval.ranking.scoring import Scorer
from retrieval.ranking.signals import SIGNALS_VERSION
from retrieval.ranking.weights import FusionWeights
from retrieval.trips import Trips


def _version() -> str:
    """Tell apart what orders and their results look like and mean: by release, signals, knobs and weights."""
    shape = [MragKnobs.model_json_schema(), FusionWeights.model_json_schema(), Asked._fields]
    told = sha256(json.dumps([version("strata-memory"), SIGNALS_VERSION, *shape]).encode())
    return told.hexdigest()[:16]


# Where they are handed to another process.
PASS_VERSION = _version()


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


class Course(NamedTuple):
    """How a pass went.

    Attributes:
        candidate_episodes, candidate_facts: how many were ranked.
        rounds, expanded, converged: of the loop.
    """

    candidate_episodes: int
    candidate_facts: int
    rounds: int
    expanded: int
    converged: bool


class Ranking(NamedTuple):
    """The results of one pass, best first; ``bodies`` are those facts that came along whole, as JSON."""

    found: tuple[Found, ...]
    bodies: Mapping[str, str]
    course: Course


class Pass(NamedTuple):
    """The results of one pass, best first, with those facts and episodes of them that came along whole."""

    found: tuple[Found, ...]
    facts: Mapping[str, IndexedFact]
    episodes: Mapping[str, IndexedEpisode]
    course: Course


class Order(NamedTuple):
    """What one pass is to do.

    Attributes:
        asked: the question, understood.
        scorer: turns signals into scores.
        knobs: depths, weights and bounds.
        wanted: how many results, at least 1.
        traced: what each lane brought will be told.
    """

    asked: Asked
    scorer: Scorer
    knobs: MragKnobs
    wanted: int
    traced: bool = False


Encode = Callable[[], Vector | None]


class Passes(Protocol):
    """Carries out passes."""

    def run(self, trips: Trips, order: Order, encode: Encode) -> Pass:
        """Return the best results of a question.

        Args:
            trips: the store.
            order: what is asked.
            encode: gives the question's vector, None when the encoder failed; called once.
        """


class OwnPasses:
    """Carries out passes in this process, whatever the store is."""

    def run(self, trips: Trips, order: Order, encode: Encode) -> Pass:
        """Return the best results of a question; see ``Passes``."""
        found, bodies, course = rank(trips, order, encode())
        facts = {id_: IndexedFact.model_validate_json(body) for id_, body in bodies.items()}
        return Pass(found, facts, {}, course)


def rank(lanes: Lanes, order: Order, dense: Vector | None) -> Ranking:
    """Return the best results of a question.

    Args:
        lanes: the store.
        order: what is asked.
        dense: the question's vector; None when the encoder failed.
    """
    probe = Probe(dense, order.asked.terms)
    candidates = gather(lanes, order.asked, probe, order.scorer, order.knobs, order.wanted)
    outcome = _loop(candidates, order.knobs, order.wanted)
    explain = _Explain(candidates)
    unit = candidates.scores.unit
    found = tuple(
        Found(one.id, one.parent, unit(one.score), explain.fact(one) if one.parent else explain.episode(one))
        for one in outcome.survivors
    )
    carried = candidates.bodies
    bodies = {one.id: body for one in found if one.id in carried and (body := carried[one.id].body)}
    course = Course(
        len(candidates.episodes.ids), outcome.facts_seen, outcome.rounds, outcome.expanded, outcome.converged
    )
    return Ranking(found, bodies, course)


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
