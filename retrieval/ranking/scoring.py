"""Scorers: what a coarse episode and a fact are worth, on one scale.

Both are read as how likely a statement answers: for a fact, this statement; for an episode, one taken from
it. So a fact outranks its parent when it is better than what the parent's statements are on the whole, and
the two can be mixed and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.anchors import Frozen
from retrieval.errors import FingerprintMismatch
from retrieval.knobs import Fusion, MragKnobs
from retrieval.ranking.asked import Asked
from retrieval.ranking.fusion import Floats, rrf
from retrieval.ranking.mixing import crowd, elders, rows_of
from retrieval.ranking.pools import EpisodePool, FactPool
from retrieval.ranking.signals import (
    CONTEXT_SIGNALS,
    episode_signals,
    fact_signals,
    search_signals,
    trust_in_words,
)
from retrieval.ranking.weights import FusionWeights, Layers, Linear, load_weights, shipped
from retrieval.traits import Traits

Flags = NDArray[np.bool_]


class Scores(NamedTuple):
    """Scores aligned with the pools; any real numbers, the higher the better.

    ``calibrate`` is None when they are in [0, 1] already; else it is an increasing function that takes them
    there.
    """

    episodes: Floats
    facts: Floats
    calibrate: Callable[[float], float] | None = None

    def unit(self, score: float) -> float:
        """Return a score, or a mix of scores, in [0, 1]."""
        return min(1.0, max(0.0, score)) if self.calibrate is None else self.calibrate(score)


class _Packed(Frozen):
    """A scorer written down: what the weights are, or the constant of reciprocal ranks."""

    weights: FusionWeights | None = None
    rrf_k: int = 60


class Scorer(Protocol):
    """Turns the raw signals of a search into scores.

    ``calibrated`` says that scores are probabilities, so that low ones mean that nothing answers.
    """

    @property
    def calibrated(self) -> bool:
        """Whether scores mean the same in every search."""

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""

    def coarse(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Floats:
        """Return the scores of the episodes alone."""

    def counts_context(self, kinds: Set[bool]) -> bool:
        """Return whether what stands around a fact counts.

        Args:
            kinds: of the facts: True for talks, False for other texts.
        """

    @property
    def packed(self) -> str:
        """As JSON, which ``unpacked_scorer`` reads."""

    def keyword(self, asked: Asked, bm25: float) -> float:
        """Return the score in [0, 1] of an episode found by its words alone."""

    def vector(self, cosine: float) -> float:
        """Return the score in [0, 1] of an episode found by its vector alone."""


class RrfScorer:
    """By ranks alone: needs no fitting and fits any encoder. Its scores only order one answer.

    Args:
        k: the constant of reciprocal rank fusion.
    """

    calibrated = False

    def __init__(self, k: int = 60) -> None:
        self._k = k
        self.packed = _Packed(rrf_k=k).model_dump_json()

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""
        own_trust = trust_in_words(asked, facts.traits)
        return Scores(
            episodes=self.coarse(asked, episodes, facts),
            facts=rrf(
                [facts.cosine, facts.bm25, facts.context_cosine, facts.context_bm25],
                self._k,
                [1.0, own_trust, 1.0, own_trust],
            ),
        )

    def coarse(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Floats:
        """Return the scores of the episodes alone."""
        trust = trust_in_words(asked, episodes.traits)
        return rrf([episodes.cosine, episodes.bm25], self._k, [1.0, trust])

    def counts_context(self, kinds: Set[bool]) -> bool:
        """Return True: every lane has its vote."""
        return True

    def keyword(self, asked: Asked, bm25: float) -> float:
        """Return a score that grows with the sum."""
        return bm25 / (bm25 + 10.0)

    def vector(self, cosine: float) -> float:
        """Return the cosine."""
        return min(1.0, max(0.0, cosine))


class LrScorer:
    """By logistic regressions fitted for the encoder in use.

    Args:
        weights: what the fit found.
    """

    calibrated = True

    def __init__(self, weights: FusionWeights) -> None:
        self._weights = weights
        self.packed = _Packed(weights=weights).model_dump_json()

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""
        told = _talks(facts.traits)
        used = self._used(told)
        fine = fact_signals(asked, facts, _counting(one.facts for one in used))
        own = _by_kind(told, [one.facts(fine) for one in used])
        sibling = _by_kind(told, [np.full(len(told), one.sibling) for one in used])
        own = own - sibling * np.log1p(elders(own, facts.parents))
        lifted = self.coarse(asked, episodes, facts)
        presence = self._weights.presence(search_signals(asked, facts))
        among = crowd(own, lifted, rows_of(facts.parents, episodes.ids))
        sharpness = self._weights.hybrid
        return Scores(
            episodes=lifted,
            facts=own,
            calibrate=lambda odds: sharpness.one(presence, odds, among),
        )

    def coarse(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Floats:
        """Return the scores of the episodes alone."""
        told = _talks(episodes.traits)
        used = self._used(told)
        signals = episode_signals(asked, episodes, facts, _counting(one.episodes for one in used))
        return _by_kind(told, [one.episodes(signals) for one in used])

    def counts_context(self, kinds: Set[bool]) -> bool:
        """Return whether a weight says so."""
        layers = [self._weights.talk if talk else self._weights.text for talk in kinds]
        return not _counting(one.facts for one in layers).isdisjoint(CONTEXT_SIGNALS)

    def _used(self, told: Flags) -> list[Layers]:
        """The layers that items are ranked by: of talks, of other texts, or of both in that order."""
        if told.all():
            return [self._weights.talk]
        return [self._weights.talk, self._weights.text] if told.any() else [self._weights.text]

    def keyword(self, asked: Asked, bm25: float) -> float:
        """Return how likely the episode answers, by its BM25 sum per term of the question."""
        return self._weights.keyword(bm25 / max(1, len(asked.terms.indices)))

    def vector(self, cosine: float) -> float:
        """Return how likely the episode answers, by its cosine."""
        return self._weights.vector(cosine)


def make_scorer(knobs: MragKnobs, encoder: str) -> Scorer:
    """Return the scorer the knobs name.

    Args:
        knobs: ``fusion`` and where the weights are.
        encoder: fingerprint of the encoder in use.

    Raises:
        WeightsDamaged: the weights file cannot be used.
        FingerprintMismatch: there are no weights for this encoder.
    """
    if knobs.fusion is Fusion.RRF:
        return RrfScorer(knobs.rrf_k)
    path = knobs.lr_weights or shipped(encoder)
    if path is not None:
        return LrScorer(load_weights(path, encoder))
    if knobs.fusion is Fusion.AUTO:
        return RrfScorer(knobs.rrf_k)
    raise FingerprintMismatch(
        f"Strata brings no ranking weights for the encoder {encoder}.",
        next_step="Fit some with strata fit-fusion, name the file in MRAG_LR_WEIGHTS; or MRAG_FUSION=rrf.",
    )


@lru_cache(maxsize=8)
def unpacked_scorer(packed: str) -> Scorer:
    """Return the scorer that gave ``packed``.

    Raises:
        ValidationError: no scorer gave it.
    """
    found = _Packed.model_validate_json(packed)
    return RrfScorer(found.rrf_k) if found.weights is None else LrScorer(found.weights)


def _talks(traits: Sequence[Traits]) -> Flags:
    return np.array([one.talk for one in traits], dtype=bool)


def _counting(parts: Iterable[Linear]) -> frozenset[str]:
    # The first signal is always there: the others are as long as it is.
    return frozenset({"cosine"}).union(*(one.counting for one in parts))


def _by_kind(told: Flags, values: Sequence[Floats]) -> Floats:
    return values[0] if len(values) == 1 else np.where(told, *values)
