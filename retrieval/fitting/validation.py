"""How good a fit is on questions it has not seen: cross-validation in which no conversation is split."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ingest.anchors import Frozen
from retrieval.evaluation.metrics import auroc, hit_at, recall_at, reciprocal_rank
from retrieval.fitting.fit import fit_weights
from retrieval.fitting.presence import final_odds
from retrieval.fitting.samples import Sample
from retrieval.ranking.fusion import Floats
from retrieval.ranking.weights import FusionWeights

_CUTOFF = 10
# Far more than there are questions about nothing in a set.
_ANSWERABLE = 100_000


class Measures(Frozen):
    """Means over questions."""

    recall_5: float
    recall_10: float
    hit_5: float
    mrr_10: float


class Comparison(Frozen):
    """Questions of one type of one set, ranked without a fit and with one that has not seen them.

    Attributes:
        before: flat reciprocal rank fusion of the facts' own vectors and words.
        after: the fitted ranking of facts.
    """

    set_name: str
    kind: str
    questions: int
    before: Measures
    after: Measures


class Validation(Frozen):
    """What cross-validation found.

    Attributes:
        folds: how many fits.
        rows: per set and type, and per set as a whole (kind "all").
        auroc: how well the top score tells answerable questions from those about nothing in memory, per set.
        error: expected calibration error of the top facts' scores, 0 is best.
    """

    folds: int
    rows: tuple[Comparison, ...]
    auroc: dict[str, float]
    error: float


def validate(known: Sequence[Sample], encoder: str, folds: int = 5) -> Validation:
    """Fit ``folds`` times, each time judging what was held back.

    Args:
        known: samples of all sets.
        encoder: see ``fit_weights``.
        folds: at least 2; a set with as many conversations leaves one out each time.
    """
    fold_of = folds_of(known, folds)
    scored: list[tuple[Sample, Floats]] = []
    for fold in range(folds):
        weights = fit_weights([one for one in known if fold_of[one.group] != fold], encoder)
        scored += [(one, final(one, weights)) for one in known if fold_of[one.group] == fold]
    return Validation(
        folds=folds, rows=tuple(_rows(scored)), auroc=_auroc(scored), error=_calibration_error(scored)
    )


def final(one: Sample, weights: FusionWeights) -> Floats:
    """Return the score of each fact, as a search gives it."""
    odds = final_odds(one, {True: weights.talk, False: weights.text})
    return weights.hybrid(weights.presence(one.search), odds, float(np.logaddexp.reduce(odds)))


def folds_of(known: Sequence[Sample], folds: int) -> dict[str, int]:
    """Give each group a fold, the largest first to the fold that has least of its set.

    What counts are the answerable questions: a fold without any could not be judged.
    """
    sizes: Counter[tuple[str, str]] = Counter()
    for one in known:
        sizes[one.set_name, one.group] += _ANSWERABLE if one.gold else 1
    filled: dict[str, list[int]] = defaultdict(lambda: [0] * folds)
    found = {}
    for (name, group), size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        least = int(np.argmin(filled[name]))
        found[group] = least
        filled[name][least] += size
    return found


def _rows(scored: Sequence[tuple[Sample, Floats]]) -> list[Comparison]:
    groups: dict[tuple[str, str], list[tuple[Sample, Floats]]] = defaultdict(list)
    for one, scores in scored:
        if one.gold:
            groups[one.set_name, "all"].append((one, scores))
            groups[one.set_name, one.kind].append((one, scores))
    return [
        Comparison(
            set_name=name,
            kind=kind,
            questions=len(found),
            before=_measures([(one, one.flat) for one, _ in found]),
            after=_measures(found),
        )
        for (name, kind), found in sorted(groups.items())
    ]


def _measures(ranked: Sequence[tuple[Sample, Floats]]) -> Measures:
    values = []
    for one, scores in ranked:
        hits = [one.shows[at] for at in np.argsort(-scores, kind="stable")[:_CUTOFF].tolist()]
        values.append(
            (
                recall_at(hits, one.gold, 5),
                recall_at(hits, one.gold, 10),
                hit_at(hits, one.gold, 5),
                reciprocal_rank(hits, one.gold, 10),
            )
        )
    return Measures(**dict(zip(Measures.model_fields, np.mean(values, axis=0).tolist(), strict=True)))


def _auroc(scored: Sequence[tuple[Sample, Floats]]) -> dict[str, float]:
    tops: Mapping[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for one, scores in scored:
        tops[one.set_name][0 if one.gold else 1].append(float(scores.max()))
    return {name: auroc(good, bad) for name, (good, bad) in sorted(tops.items()) if good and bad}


def _calibration_error(scored: Sequence[tuple[Sample, Floats]], bins: int = 10) -> float:
    """Expected calibration error (Naeini et al. 2015) of the best five facts of each question."""
    chances, truths = [], []
    for one, scores in scored:
        best = np.argsort(-scores, kind="stable")[:5]
        chances.append(scores[best])
        truths.append(one.answers[best])
    chance, truth = np.concatenate(chances), np.concatenate(truths)
    place = np.minimum((chance * bins).astype(int), bins - 1)
    gaps = [
        abs(float(chance[place == at].mean()) - float(truth[place == at].mean())) * int((place == at).sum())
        for at in range(bins)
        if (place == at).any()
    ]
    return sum(gaps) / len(chance)
