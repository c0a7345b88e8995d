"""From raw signals to the ones a scorer weighs.

Cosines of one encoder crowd in a narrow band and BM25 grows with the length of the question, so neither means
the same in two searches. Each is measured against the leaders of its own search: the mean of the best ten is
0, and the spread of the best hundred is 1. Only leaders count, so the depth of a lane changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import sqrt

import numpy as np

from retrieval.ranking.asked import Asked
from retrieval.ranking.fusion import Floats
from retrieval.ranking.neighbours import Line, Places, beside
from retrieval.ranking.pools import EpisodePool, FactPool
from retrieval.traits import Traits

# What the signals mean. Weights fitted for another meaning are refused, so a change needs a new name.
SIGNALS_VERSION = "s5"

FACT_SIGNALS = (
    "cosine", "bm25", "context_cosine", "context_bm25", "named", "partner", "question", "answers", "length",
    "short", "time", "number", "period", "confidence", "before_cosine", "before_bm25", "after_cosine",
    "after_bm25", "across",
)  # fmt: skip
CONTEXT_SIGNALS = ("context_cosine", "context_bm25")
EPISODE_SIGNALS = ("cosine", "bm25", "best_cosine", "best_bm25", "named", "period", "across")
SEARCH_SIGNALS = ("cosine_latin", "words_latin", "cosine_cjk", "lead_to_cjk", "lead_from_cjk")

Names = Collection[str]

_OF_NEIGHBOURS = ("before_cosine", "before_bm25", "after_cosine", "after_bm25")
_NO_ROWS = np.zeros(0, dtype=np.intp)
_CJK = frozenset({"zh", "ja", "ko"})
_CROSS_SCRIPT = 0.2
_LEADERS = 10
_SPREAD = 100
_SHORT_WORDS = 6
_FIRST = 3
# A spread below these is noise of the encoder or a lane without matches.
_COSINE_FLOOR = 0.01
_BM25_FLOOR = 0.5


def standard(signal: Floats, floor: float) -> Floats:
    """Return a signal in spreads from its leaders; NaN counts as the least seen."""
    if not len(signal):
        return signal
    missing = np.isnan(signal)
    known = signal[~missing] if missing.any() else signal
    if not len(known):
        return np.zeros_like(signal)
    ranked = np.sort(known)
    leading = ranked[-_SPREAD:]
    filled: Floats = signal if len(known) == len(signal) else np.where(missing, ranked[0], signal)
    centre = float(leading[-_LEADERS:].sum()) / min(_LEADERS, len(leading))
    apart = leading - float(leading.sum()) / len(leading)
    spread = max(sqrt(float(apart @ apart) / len(leading)), floor)
    return (filled - centre) / spread


def fact_signals(asked: Asked, pool: FactPool, wanted: Names = FACT_SIGNALS) -> dict[str, Floats]:
    """Return those of ``FACT_SIGNALS`` that are wanted, each aligned with the pool."""
    trust = trust_in_words(asked, pool.traits)
    words = np.array([traits.words for traits in pool.traits], dtype=np.float64)
    cosine = standard(pool.cosine, _COSINE_FLOOR)
    bm25 = _trusted(standard(pool.bm25, _BM25_FLOOR), trust)
    line = beside(pool.traits) if any(name in wanted for name in _OF_NEIGHBOURS) else Line(_NO_ROWS, _NO_ROWS)
    return _made(
        wanted,
        {
            "cosine": lambda: cosine,
            "bm25": lambda: bm25,
            "context_cosine": lambda: standard(pool.context_cosine, _COSINE_FLOOR),
            "context_bm25": lambda: _trusted(standard(pool.context_bm25, _BM25_FLOOR), trust),
            "named": lambda: _stand_out(_named(asked, [one.people for one in pool.traits])),
            "partner": lambda: _stand_out(_named(asked, [one.others for one in pool.traits])),
            "question": lambda: _flags([one.question for one in pool.traits]),
            "answers": lambda: _flags([one.answers for one in pool.traits]),
            "length": lambda: np.log1p(words),
            "short": lambda: (words < _SHORT_WORDS).astype(np.float64),
            "time": lambda: _flags([asked.time and one.timed for one in pool.traits]),
            "number": lambda: _flags([asked.number and one.counted for one in pool.traits]),
            "period": lambda: _stand_out(_near(asked, pool.traits)),
            "confidence": lambda: np.array([one.confidence for one in pool.traits], dtype=np.float64),
            "before_cosine": lambda: _taken(cosine, line.before),
            "before_bm25": lambda: _taken(bm25, line.before),
            "after_cosine": lambda: _taken(cosine, line.after),
            "after_bm25": lambda: _taken(bm25, line.after),
            "across": lambda: cosine * (trust < 1),
        },
    )


def episode_signals(
    asked: Asked, pool: EpisodePool, facts: FactPool, wanted: Names = EPISODE_SIGNALS
) -> dict[str, Floats]:
    """Return those of ``EPISODE_SIGNALS`` that are wanted, each aligned with the pool.

    The best facts of an episode speak for it too; an episode of which none is known counts as the least.
    """
    trust = trust_in_words(asked, pool.traits)
    row = {id_: at for at, id_ in enumerate(pool.ids)}
    rows = np.array([row.get(parent, -1) for parent in facts.parents], dtype=np.intp)
    best_cosine = standard(_best(facts.cosine, rows, len(row)), _COSINE_FLOOR)

    def best_bm25() -> Floats:
        best = np.nan_to_num(_best(facts.bm25, rows, len(row)))
        return _trusted(standard(best, _BM25_FLOOR), trust)

    return _made(
        wanted,
        {
            "cosine": lambda: standard(pool.cosine, _COSINE_FLOOR),
            "bm25": lambda: _trusted(standard(pool.bm25, _BM25_FLOOR), trust),
            "best_cosine": lambda: best_cosine,
            "best_bm25": best_bm25,
            "named": lambda: _stand_out(_named(asked, [one.people for one in pool.traits])),
            "period": lambda: _stand_out(_near(asked, pool.traits)),
            "across": lambda: best_cosine * (trust < 1),
        },
    )


def _made(wanted: Names, makers: Mapping[str, Callable[[], Floats]]) -> dict[str, Floats]:
    return {name: make() for name, make in makers.items() if name in wanted}


def search_signals(asked: Asked, facts: FactPool) -> dict[str, float]:
    """Return the signals of ``SEARCH_SIGNALS``: how well the best matches in absolute terms.

    ``cosine``: of the best fact. ``lead``: how far the best three are above the best hundred. ``words``: BM25
    sums of the best three facts, and of their surroundings where those count, per term of the question. Each
    way from the script of the question to that of what was found has signals of its own, those that tell most
    there: between scripts cosines are low whatever is asked, and only the lead speaks. All others are NaN,
    and so is what no lane tells.
    """
    found = dict.fromkeys(SEARCH_SIGNALS, float("nan"))
    known = np.flatnonzero(~np.isnan(facts.cosine))
    leaders = known[np.argsort(-facts.cosine[known], kind="stable")][:_SPREAD]
    way = _way(asked, [facts.traits[at] for at in leaders[:_LEADERS].tolist()] or facts.traits)
    told: dict[str, float] = {}
    if len(leaders):
        cosines = facts.cosine[leaders]
        told[f"cosine_{way}"] = float(cosines[0])
        told[f"lead_{way}"] = float(cosines[:_FIRST].mean() - cosines.mean())
    if len(facts.ids):
        # Where surroundings do not count they were not asked about.
        asked_about = [lane for lane in (facts.bm25, facts.context_bm25) if lane.any()] or [facts.bm25]
        best = [np.sort(lane)[::-1][:_FIRST].mean() for lane in asked_about]
        told[f"words_{way}"] = float(np.mean(best)) / max(1, len(asked.terms.indices))
    return found | {name: value for name, value in told.items() if name in found}


def _way(asked: Asked, traits: Sequence[Traits]) -> str:
    """From the script of the question to that of most of what was found."""
    cjk = sum(one.language in _CJK for one in traits) * 2 > len(traits)
    if asked.cjk:
        return "cjk" if cjk else "from_cjk"
    return "to_cjk" if cjk else "latin"


def _taken(signal: Floats, at: Places) -> Floats:
    """What is said right before or after: it tells whose words made the surroundings match."""
    return np.where(at >= 0, signal[at], float(signal.min())) if len(signal) else signal


def _best(signal: Floats, rows: Places, size: int) -> Floats:
    """Return the best value of each row's facts; NaN where there is none."""
    best = np.full(size, -np.inf)
    known = (rows >= 0) & ~np.isnan(signal)
    np.maximum.at(best, rows[known], signal[known])
    best[np.isinf(best)] = np.nan
    return best


def trust_in_words(asked: Asked, traits: tuple[Traits, ...]) -> Floats:
    """Return how far word matches count for each item: little where question and item differ in script.

    There only names and numbers can match, and those few match by chance.
    """
    return np.array([1.0 if asked.cjk == (one.language in _CJK) else _CROSS_SCRIPT for one in traits])


def _trusted(words: Floats, trust: Floats) -> Floats:
    """Draw word matches towards those of an ordinary item in the question's own script, where trust is low.

    Without this an item in another script, which can match no word, would be better off than one that could
    and does not.
    """
    own = words[trust == 1.0]
    ordinary = float(own.mean()) if len(own) else 0.0
    return trust * words + (1 - trust) * ordinary


def _named(asked: Asked, people: Sequence[tuple[str, ...]]) -> Floats:
    # The same few people come up again and again.
    known = {names: float(asked.names(names)) for names in set(people)}
    return np.array([known[names] for names in people])


def _near(asked: Asked, traits: Sequence[Traits]) -> Floats:
    if not asked.periods:
        return np.zeros(len(traits))
    return np.array([asked.near(one) for one in traits])


def _stand_out(values: Floats) -> Floats:
    """Return values as they stand out from the rest of the pool: what all share tells nothing."""
    return values - values.mean() if len(values) else values


def _flags(values: list[bool]) -> Floats:
    return np.array(values, dtype=np.float64)
