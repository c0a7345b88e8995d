"""Reciprocal rank fusion, and log-odds as probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CLIP = 1e-9


def rrf(signals: Sequence[Floats], k: int, weights: Sequence[float | Floats] | None = None) -> Floats:
    """Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009), scaled to [0, 1].

    Args:
        signals: one array per lane, aligned. A value of 0 or NaN says the lane did not find the item: it gets
            no vote from it. Equal values share the better rank.
        k: the constant that flattens the top ranks, usually 60.
        weights: how much a lane's vote counts, at most 1, for all items or for each; 1 when None.

    Returns:
        1 for an item that leads every lane, 0 for one that no lane found.
    """
    total = np.zeros(len(signals[0]) if signals else 0)
    for signal, weight in zip(signals, weights or [1.0] * len(signals), strict=True):
        found = np.nan_to_num(signal) > 0
        ranks = np.searchsorted(np.sort(-signal[found]), -signal[found], side="left") + 1
        total[found] += np.broadcast_to(weight, signal.shape)[found] / (k + ranks)
    return total * (k + 1) / len(signals) if signals else total


def sigmoid(odds: Floats) -> Floats:
    """Return 1 / (1 + e^-x), safe for large values."""
    return np.exp(-np.logaddexp(0.0, -odds))


def log_odds(chance: Floats) -> Floats:
    """Return log(p / (1 - p)), safe at 0 and 1."""
    safe = np.clip(chance, CLIP, 1 - CLIP)
    return np.log(safe / (1 - safe))
