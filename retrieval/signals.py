"""From raw signals to the ones a scorer weighs.

Cosines of one encoder crowd in a narrow band and BM25 grows with the length of the question, so neither means
the same in two searches. Each is measured against the leaders of its own search: the mean of the best ten is
0, and the spread of the best hundred is 1. Only leaders count, so the depth of a lane changes nothing.
"""

from __future__ import annotations

import numpy as np

from retrieval.asked import Asked
from retrieval.fusion import Floats
from retrieval.pools import EpisodePool, FactPool
from retrieval.traits import Traits

FACT_SIGNALS = (
    "cosine", "bm25", "context_cosine", "context_bm25", "named", "partner", "question", "answers", "length",
    "short", "time", "number", "period", "confidence",
)  # fmt: skip
EPISODE_SIGNALS = ("cosine", "bm25", "best_cosine", "best_bm25", "named", "period")

_CJK = frozenset({"zh", "ja", "ko"})
_CROSS_SCRIPT = 0.2
_LEADERS = 10
_SPREAD = 100
_SHORT_WORDS = 6
# A spread below these is noise of the encoder or a lane without matches.
_COSINE_FLOOR = 0.01
_BM25_FLOOR = 0.5


def standard(signal: Floats, floor: float) -> Floats:
    """Return a signal in spreads from its leaders; NaN counts as the least seen."""
    if not len(signal):
        return signal
    known = signal[~np.isnan(signal)]
    if not len(known):
        return np.zeros_like(signal)
    leading = np.sort(known)[::-1][:_SPREAD]
    filled: Floats = np.where(np.isnan(signal), known.min(), signal)
    centre, spread = float(leading[:_LEADERS].mean()), max(float(leading.std()), floor)
    return (filled - centre) / spread


def fact_signals(asked: Asked, pool: FactPool) -> dict[str, Floats]:
    """Return the signals of ``FACT_SIGNALS``, each aligned with the pool."""
    trust = trust_in_words(asked, pool.traits)
    named = _beside([asked.names(traits.people) for traits in pool.traits])
    words = np.array([traits.words for traits in pool.traits], dtype=np.float64)
    timed = _flags([asked.time and traits.timed for traits in pool.traits])
    counted = _flags([asked.number and traits.counted for traits in pool.traits])
    return {
        "cosine": standard(pool.cosine, _COSINE_FLOOR),
        "bm25": standard(pool.bm25, _BM25_FLOOR) * trust,
        "context_cosine": standard(pool.context_cosine, _COSINE_FLOOR),
        "context_bm25": standard(pool.context_bm25, _BM25_FLOOR) * trust,
        "named": named,
        "partner": _beside([asked.names(traits.others) for traits in pool.traits]),
        "question": _flags([traits.question for traits in pool.traits]),
        "answers": _flags([traits.answers for traits in pool.traits]),
        "length": np.log1p(words),
        "short": (words < _SHORT_WORDS).astype(np.float64),
        "time": timed,
        "number": counted,
        "period": _beside([asked.near(traits) for traits in pool.traits]),
        "confidence": np.array([traits.confidence for traits in pool.traits], dtype=np.float64),
    }


def episode_signals(asked: Asked, pool: EpisodePool, facts: FactPool) -> dict[str, Floats]:
    """Return the signals of ``EPISODE_SIGNALS``, each aligned with the pool.

    The best facts of an episode speak for it too; an episode of which none is known counts as the least.
    """
    trust = trust_in_words(asked, pool.traits)
    row = {id_: at for at, id_ in enumerate(pool.ids)}
    return {
        "cosine": standard(pool.cosine, _COSINE_FLOOR),
        "bm25": standard(pool.bm25, _BM25_FLOOR) * trust,
        "best_cosine": standard(_best(facts.cosine, facts, row), _COSINE_FLOOR),
        "best_bm25": standard(np.nan_to_num(_best(facts.bm25, facts, row)), _BM25_FLOOR) * trust,
        "named": _beside([asked.names(traits.people) for traits in pool.traits]),
        "period": _beside([asked.near(traits) for traits in pool.traits]),
    }


def _best(signal: Floats, facts: FactPool, row: dict[str, int]) -> Floats:
    best = np.full(len(row), np.nan)
    for parent, value in zip(facts.parents, signal, strict=True):
        at = row.get(parent)
        if at is not None and not value <= best[at]:
            best[at] = value if not np.isnan(value) else best[at]
    return best


def trust_in_words(asked: Asked, traits: tuple[Traits, ...]) -> Floats:
    """Return how far word matches count for each item: little where question and item differ in script.

    There only names and numbers can match, and those few match by chance.
    """
    return np.array([1.0 if asked.cjk == (one.language in _CJK) else _CROSS_SCRIPT for one in traits])


def _beside(values: list[float] | list[bool]) -> Floats:
    """Return values as they stand out from the rest of the pool: what all share tells nothing."""
    found = np.array(values, dtype=np.float64)
    return found - found.mean() if len(found) else found


def _flags(values: list[bool]) -> Floats:
    return np.array(values, dtype=np.float64)
