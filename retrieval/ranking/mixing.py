"""Facts and episodes weighed together: a fact among its episode's, and all of them among each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.fusion import Floats
from retrieval.ranking.neighbours import coded, earlier

Rows = NDArray[np.intp]


def elders(scores: Floats, parents: Sequence[str]) -> Floats:
    """Return for each fact how many better ones its episode has; equal ones in the order given."""
    return earlier(np.argsort(-scores, kind="stable"), coded(parents)).astype(np.float64)


def rows_of(parents: Sequence[str], episodes: Sequence[str]) -> Rows:
    """Return the row of each fact's episode, -1 where it is not among them."""
    row = {id_: at for at, id_ in enumerate(episodes)}
    return np.array([row.get(parent, -1) for parent in parents], dtype=np.intp)


def mixed(facts: Floats, episodes: Floats, parent: Rows) -> Floats:
    """Return the scores of facts mixed half and half with their episodes', as weights are fitted for."""
    lifted = np.append(episodes, episodes.min() if len(episodes) else 0.0)[parent]
    both: Floats = (facts + lifted) / 2
    return both


def crowd(facts: Floats, episodes: Floats, parent: Rows) -> float:
    """Return the log of the sum of the odds of all facts; 0 when there is none."""
    return float(np.logaddexp.reduce(mixed(facts, episodes, parent))) if len(facts) else 0.0
