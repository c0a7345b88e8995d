"""From a ranking to probabilities: logistic regression over the leaders (Platt 1999)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from retrieval.fitting.rough import Rough, fair_shares
from retrieval.fitting.samples import Sample, Truth
from retrieval.ranking.fusion import Floats, sigmoid
from retrieval.ranking.weights import Layers, Linear, Squash

_LEADERS = 10
_LEAST_SLOPE = 0.05
_NEWTON_STEPS = 50


class _Rows(NamedTuple):
    talk: Truth
    score: Floats
    right: Truth
    weight: Floats


def calibrate(learned_from: Sequence[Sample], rough: Mapping[bool, Rough]) -> dict[bool, Layers]:
    """Return calibrated layers for talks (True) and texts (False): the chance if memory holds an answer.

    Args:
        learned_from: samples; unanswerable ones are passed over.
        rough: the rankings of both kinds.
    """
    from sklearn.linear_model import LogisticRegression

    answerable = [one for one in learned_from if one.gold]
    rows = _leaders(answerable, rough)
    talk = rows.talk.astype(np.float64)
    design = np.column_stack([talk, talk * rows.score, (1 - talk) * rows.score])
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit(design, rows.right, sample_weight=rows.weight)
    base, (more, talk_slope, text_slope) = float(model.intercept_[0]), model.coef_[0].tolist()
    layers = {}
    for kind, intercept, slope in ((True, base + more, talk_slope), (False, base, text_slope)):
        own = [one for one in answerable if one.talk is kind] or answerable
        layers[kind] = _layers(own, rough[kind], intercept, max(_LEAST_SLOPE, slope))
    return layers


def _leaders(answerable: Sequence[Sample], rough: Mapping[bool, Rough]) -> _Rows:
    fair = fair_shares(answerable)
    parts = []
    for one in answerable:
        scores = rough[one.talk].ranked(one)
        best = np.argsort(-scores, kind="stable")[:_LEADERS]
        parts.append(
            _Rows(
                np.full(len(best), one.talk),
                scores[best],
                one.answers[best],
                np.full(len(best), fair[one.set_name]),
            )
        )
    return _Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _layers(own: Sequence[Sample], rough: Rough, intercept: float, slope: float) -> Layers:
    """Split a calibrated sum into two scores whose mean it is."""
    double = 2 * slope
    episodes = {name: double * rough.share * weight for name, weight in rough.episodes.items()}
    shift = standing(own, Linear(intercept=intercept, weights=episodes))
    return Layers(
        facts=Linear(
            intercept=intercept - shift,
            weights={name: double * weight for name, weight in rough.facts.items()},
        ),
        episodes=Linear(intercept=intercept + shift, weights=episodes),
        sibling=double * rough.sibling,
    )


def standing(own: Sequence[Sample], episodes: Linear) -> float:
    """Return the log-odds to add so that an episode's score is how likely one of its statements answers.

    An episode that stands in an answer competes with facts; its own score must mean the same.
    """
    odds, truth = [], []
    for one in own:
        scores = episodes(one.episodes)
        share = np.bincount(one.parent[one.parent >= 0], minlength=len(scores)).astype(np.float64)
        hits = np.bincount(one.parent[(one.parent >= 0) & one.answers], minlength=len(scores))
        best = [at for at in np.argsort(-scores, kind="stable")[:_LEADERS].tolist() if share[at]]
        odds.append(scores[best])
        truth.append(hits[best] / share[best])
    wanted, found = np.concatenate(truth), np.concatenate(odds)
    shift = 0.0
    for _ in range(_NEWTON_STEPS):
        chance = sigmoid(found + shift)
        shift += float((wanted - chance).sum() / max(1e-9, (chance * (1 - chance)).sum()))
    return shift


def squash(lanes: Sequence[tuple[Floats, Truth]]) -> Squash:
    """Return a lane's raw scores as probabilities.

    Args:
        lanes: raw scores of the candidates of each question, NaN where the lane has none, and the truth.
    """
    from sklearn.linear_model import LogisticRegression

    values, truths = [], []
    for scores, truth in lanes:
        known = np.where(np.isnan(scores), -np.inf, scores)
        best = [at for at in np.argsort(-known, kind="stable")[:_LEADERS].tolist() if known[at] > -np.inf]
        values.append(scores[best])
        truths.append(truth[best])
    raw, right = np.concatenate(values), np.concatenate(truths)
    centre, spread = float(raw.mean()), float(raw.std()) + 1e-9
    model = LogisticRegression(C=1.0).fit(((raw - centre) / spread)[:, None], right)
    slope = max(_LEAST_SLOPE, float(model.coef_[0][0])) / spread
    return Squash(intercept=float(model.intercept_[0]) - slope * centre, slope=slope)
