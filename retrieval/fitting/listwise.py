"""Logistic regression over ranked lists: which of a question's candidates answers it.

The conditional logit model (McFadden 1974), known in ranking as ListNet's top-one loss (Cao et al. 2007):
the chance that a candidate is picked is the softmax of its weighted signals among the candidates of the same
question. What all candidates share cancels out, so easy and hard questions teach alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from retrieval.errors import FitImpossible
from retrieval.fitting.samples import Truth
from retrieval.ranking.fusion import Floats

# Candidates beyond these have no chance and only cost time.
_KEPT = 250


class Ranked(NamedTuple):
    """The candidates of one question: signals by name, which of them are right, and how much it counts."""

    signals: Mapping[str, Floats]
    right: Truth
    weight: float = 1.0


def fit_listwise(
    lists: Sequence[Ranked],
    names: Sequence[str],
    ridge: float,
    *,
    never_against: Collection[str] = (),
    given: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Return the weight of each signal, per unit.

    Args:
        lists: the questions; those of which no candidate, or every one, is right teach nothing.
        names: the signals to weigh.
        ridge: pull of the weights towards 0, per spread of a signal and in questions.
        never_against: signals whose weight may not be negative.
        given: weights that are known and only have to be reckoned with.

    Raises:
        FitImpossible: no list teaches anything.
    """
    from scipy.optimize import minimize

    held = [_kept(one, names) for one in lists if one.right.any() and not one.right.all()]
    if not held:
        raise FitImpossible("No question has candidates that answer it beside others that do not.")
    spread = np.concatenate([matrix for matrix, _, _ in held]).std(axis=0) + 1e-9
    scaled = [(matrix / spread, right, weight) for matrix, right, weight in held]
    total = sum(weight for _, _, weight in scaled)
    known = {} if given is None else given
    bounds: list[tuple[float | None, float | None]] = []
    for name, own in zip(names, spread.tolist(), strict=True):
        held_at = known[name] * own if name in known else None
        bounds.append(
            (held_at, held_at) if held_at is not None else (0.0 if name in never_against else None, None)
        )

    def loss(weights: Floats) -> tuple[float, Floats]:
        value = ridge * float(weights @ weights) / 2
        slope = ridge * weights
        for matrix, right, weight in scaled:
            score = matrix @ weights
            log_total = float(np.logaddexp.reduce(score))
            chance = np.exp(score - log_total)
            value += weight * (log_total - float(score[right].mean()))
            slope = slope + weight * (chance @ matrix - matrix[right].mean(axis=0))
        return value / total, slope / total

    found = minimize(
        loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}
    )
    return {name: float(weight) for name, weight in zip(names, found.x / spread, strict=True)}


def _kept(one: Ranked, names: Sequence[str]) -> tuple[Floats, Truth, float]:
    matrix = np.stack([one.signals[name] for name in names], axis=1)
    if len(matrix) <= _KEPT:
        return matrix, one.right, one.weight
    # The lanes' signals are all in spreads from their leaders, so their plain sum finds the contenders.
    lanes = [name for name in names if name.endswith(("cosine", "bm25"))]
    rough = np.sum([one.signals[name] for name in lanes], axis=0)
    keep = one.right.copy()
    keep[np.argsort(-rough)[:_KEPT]] = True
    return matrix[keep], one.right[keep], one.weight
