"""From the measures of single questions to the figures of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from pydantic import JsonValue

from ingest.anchors import Frozen
from retrieval.evaluation.judging import Level
from retrieval.evaluation.metrics import Interval, intervals
from retrieval.ranking.fusion import Floats

# All types of questions together.
ALL = "all"


class Figures(Frozen):
    """Mean measures of some questions, with their 95 % intervals.

    Attributes:
        questions: how many.
        values: by the name of the measure, such as ``recall@5``.
    """

    questions: int
    values: dict[str, Interval]

    def public(self) -> dict[str, JsonValue]:
        """Return the JSON form: the means by name, and the intervals beside them."""
        means: dict[str, JsonValue] = {name: one.mean for name, one in self.values.items()}
        sure: dict[str, JsonValue] = {name: [one.low, one.high] for name, one in self.values.items()}
        return {"questions": self.questions, **means, "intervals": sure}


class Tally:
    """The measures of one configuration, question by question.

    Args:
        rounds: of the bootstrap.
        seed: of the bootstrap.
    """

    def __init__(self, rounds: int = 1000, seed: int = 0) -> None:
        self._rounds = rounds
        self._seed = seed
        self._kinds: list[str] = []
        self._rows: dict[Level, list[tuple[float, ...]]] = {level: [] for level in Level}
        self._names: tuple[str, ...] = ()

    def add(self, kind: str, measured: Mapping[Level, Mapping[str, float]]) -> None:
        """Add a question of a type with its measures at every level, the same ones each time."""
        self._kinds.append(kind)
        for level, values in measured.items():
            self._names = self._names or tuple(values)
            self._rows[level].append(tuple(values[name] for name in self._names))

    def figures(self, level: Level) -> dict[str, Figures]:
        """Return the figures of all questions together and of each type."""
        return {
            kind: Figures(questions=len(rows), values=self._named(rows))
            for kind, rows in self._by_kind(level)
        }

    def ahead_of(self, other: Tally, level: Level) -> dict[str, Figures]:
        """Return by how much this is ahead of another tally of the same questions, paired."""
        pairs = zip(self._by_kind(level), other._by_kind(level), strict=True)
        return {
            kind: Figures(questions=len(rows), values=self._named(rows - others))
            for (kind, rows), (_, others) in pairs
        }

    def _named(self, rows: Floats) -> dict[str, Interval]:
        return dict(zip(self._names, intervals(rows, self._rounds, self._seed), strict=True))

    def _by_kind(self, level: Level) -> Iterable[tuple[str, Floats]]:
        rows = np.array(self._rows[level], dtype=np.float64)
        if not len(rows):
            return
        yield ALL, rows
        kinds = np.array(self._kinds)
        for kind in sorted(set(self._kinds)):
            yield kind, rows[kinds == kind]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    if not values:
        return {}
    p50, p95 = np.percentile(values, [50, 95])
    return {"p50": float(p50), "p95": float(p95)}
