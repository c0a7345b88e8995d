"""Scorers: what a coarse episode and a fact are worth, on one scale.

Both are read as the chance that a statement answers: for a fact, this statement; for an episode, one taken
from it blindly. So a fact outranks its parent when it is better than the parent's average, and the two can be
mixed and compared.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from retrieval.asked import Asked
from retrieval.fusion import Floats, Logistic, rrf
from retrieval.pools import EpisodePool, FactPool
from retrieval.signals import episode_signals, fact_signals, trust_in_words


class Scores(NamedTuple):
    """Scores in [0, 1], aligned with the pools."""

    episodes: Floats
    facts: Floats


class Scorer(Protocol):
    """Turns the raw signals of a search into scores."""

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""


class RrfScorer:
    """By ranks alone: needs no fitting and fits any encoder.

    Args:
        k: the constant of reciprocal rank fusion.
    """

    def __init__(self, k: int = 60) -> None:
        self._k = k

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""
        trust = trust_in_words(asked, episodes.traits)
        own_trust = trust_in_words(asked, facts.traits)
        return Scores(
            episodes=rrf([episodes.cosine, episodes.bm25], self._k, [1.0, trust]),
            facts=rrf(
                [facts.cosine, facts.bm25, facts.context_cosine, facts.context_bm25],
                self._k,
                [1.0, own_trust, 1.0, own_trust],
            ),
        )


class LrScorer:
    """By logistic regressions fitted for the encoder in use.

    Args:
        episodes: over ``EPISODE_SIGNALS``.
        facts: over ``FACT_SIGNALS``.
    """

    def __init__(self, episodes: Logistic, facts: Logistic) -> None:
        self._episodes = episodes
        self._facts = facts

    def score(self, asked: Asked, episodes: EpisodePool, facts: FactPool) -> Scores:
        """Return the scores of all candidates."""
        return Scores(
            episodes=self._episodes(episode_signals(asked, episodes, facts)),
            facts=self._facts(fact_signals(asked, facts)),
        )
