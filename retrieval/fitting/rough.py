"""A ranking on its way to becoming weights: the order is right, the scale is not yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from retrieval.fitting.samples import Sample
from retrieval.ranking.fusion import Floats
from retrieval.ranking.mixing import elders

_FAR_BELOW = -9.0


def fair_shares(learned_from: Sequence[Sample]) -> dict[str, float]:
    """Return how much a question of each set counts, 1 on the whole.

    A large set knows more than a small one, but not as much more as it is larger: a set counts by the square
    root of its number of questions.
    """
    counts = Counter(one.set_name for one in learned_from)
    total = sum(count**0.5 for count in counts.values())
    return {name: len(learned_from) / total / count**0.5 for name, count in counts.items()}


class Rough(NamedTuple):
    """Weights of a fact's own signals, of its episode's, and how much the latter count.

    ``sibling`` is what each doubling or so of better facts of the same episode costs; see ``Layers``.
    """

    facts: Mapping[str, float]
    episodes: Mapping[str, float]
    share: float
    sibling: float

    def coarse(self, one: Sample) -> Floats:
        """Return the score of each episode."""
        return _sum(self.episodes, one.episodes, len(one.holds))

    def scores(self, one: Sample) -> Floats:
        """Return the score of each fact, its episode's part included."""
        coarse = np.append(self.coarse(one), _FAR_BELOW)
        return _sum(self.facts, one.facts, len(one.answers)) + self.share * coarse[one.parent]

    def ranked(self, one: Sample) -> Floats:
        """Return the score of each fact, less what it loses behind its siblings."""
        scores = self.scores(one)
        parents = [str(at) for at in one.parent.tolist()]
        return scores - self.sibling * np.log1p(elders(scores, parents))


def _sum(weights: Mapping[str, float], signals: Mapping[str, Floats], size: int) -> Floats:
    total = np.zeros(size)
    for name, weight in weights.items():
        total += weight * signals[name]
    return total
