"""How likely it is that memory holds an answer, and how likely a hit then is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from retrieval.fitting.rough import fair_shares
from retrieval.fitting.samples import Sample
from retrieval.ranking.fusion import Floats, log_odds, sigmoid
from retrieval.ranking.mixing import elders, mixed
from retrieval.ranking.signals import SEARCH_SIGNALS
from retrieval.ranking.weights import Layers, Presence, Sharpness

_LEADERS = 10
_LEAST_SLOPE = 0.1
# Log-odds of an answer where no question about nothing was ever asked.
_SURE = 4.0
# Of all questions asked of a memory, this share is about nothing in it.
_NOTHING = 0.2


def fit_presence(learned_from: Sequence[Sample]) -> Presence:
    """Return how to tell searches that memory can answer from those it cannot, taken as equally frequent.

    Args:
        learned_from: answerable and unanswerable samples; without the latter every search counts as
            answerable.
    """
    from sklearn.linear_model import LogisticRegression

    truth = np.array([bool(one.gold) for one in learned_from])
    if truth.all():
        return Presence(intercept=_SURE)
    typical = _typical(learned_from)
    ways = sorted({_way(name) for name in typical})
    design = np.array([_row(one, typical, ways) for one in learned_from])
    spread = np.append(design[:, : len(typical)].std(axis=0) + 1e-9, np.ones(len(ways)))
    counts = Counter((one.set_name, bool(one.gold)) for one in learned_from)
    shares = Counter(answerable for _, answerable in counts)
    fair = [
        len(learned_from) / shares[bool(one.gold)] / counts[one.set_name, bool(one.gold)]
        for one in learned_from
    ]
    model = LogisticRegression(C=1.0, max_iter=1000).fit(design / spread, truth, sample_weight=fair)
    found = (model.coef_[0] / spread).tolist()
    weights = dict(zip(typical, found, strict=False))
    # What a way adds is told by its first signal: as much as if that had another usual value.
    for way, more in zip(ways, found[len(typical) :], strict=True):
        first = next(name for name in typical if _way(name) == way)
        if weights[first]:
            typical[first] -= more / weights[first]
    return Presence(intercept=float(model.intercept_[0]), typical=typical, weights=weights)


def _row(one: Sample, typical: Mapping[str, float], ways: Sequence[str]) -> list[float]:
    """Return how far each signal is from its usual value, and by flags which way the search went."""
    known = {name: one.search[name] - middle for name, middle in typical.items()}
    taken = {_way(name) for name, value in known.items() if not np.isnan(value)}
    return [*np.nan_to_num(list(known.values())).tolist(), *(float(way in taken) for way in ways)]


def _way(signal: str) -> str:
    """From which script to which one a signal tells of: all of its name but what is measured."""
    return signal.partition("_")[2]


def _typical(learned_from: Sequence[Sample]) -> dict[str, float]:
    values = {
        name: [one.search[name] for one in learned_from if one.gold and not np.isnan(one.search[name])]
        for name in SEARCH_SIGNALS
    }
    # What no answerable question shows has no usual value, and so no say.
    return {name: float(np.mean(found)) for name, found in values.items() if found}


def final_odds(one: Sample, layers: Mapping[bool, Layers]) -> Floats:
    """Return the log-odds of each fact as the loop mixes them with those of its episode."""
    own_layers = layers[one.talk]
    own = own_layers.facts(one.facts)
    own = own - own_layers.sibling * np.log1p(elders(own, [str(at) for at in one.parent.tolist()]))
    return mixed(own, own_layers.episodes(one.episodes), one.parent)


def fit_sharpness(
    learned_from: Sequence[Sample], layers: Mapping[bool, Layers], presence: Presence
) -> Sharpness:
    """Return what turns the log-odds of "memory holds it, and this is it" into honest chances.

    Args:
        learned_from: answerable and unanswerable samples.
        layers: of talks (True) and texts (False).
        presence: the chance that memory holds an answer.
    """
    from sklearn.linear_model import LogisticRegression

    kinds = {truth: [one for one in learned_from if bool(one.gold) is truth] for truth in (True, False)}
    fair = {truth: fair_shares(own) for truth, own in kinds.items()}
    rate = {truth: len(learned_from) / max(1, len(own)) for truth, own in kinds.items()}
    values, truths, weights = [], [], []
    for one in learned_from:
        odds = final_odds(one, layers)
        best = np.argsort(-odds, kind="stable")[:_LEADERS]
        both = log_odds(presence(one.search) * sigmoid(odds[best]))
        known = bool(one.gold)
        weight = (1 - _NOTHING if known else _NOTHING) * rate[known] * fair[known][one.set_name]
        values.append(np.column_stack([both, np.full(len(best), np.logaddexp.reduce(odds))]))
        truths.append(one.answers[best])
        weights.append(np.full(len(best), weight))
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit(np.concatenate(values), np.concatenate(truths), sample_weight=np.concatenate(weights))
    slope, crowd = model.coef_[0].tolist()
    return Sharpness(intercept=float(model.intercept_[0]), slope=max(_LEAST_SLOPE, slope), crowd=crowd)
