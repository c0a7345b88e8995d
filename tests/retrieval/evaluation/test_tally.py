from __future__ import annotations

import math

import numpy as np
import pytest

from retrieval.evaluation.judging import Level
from retrieval.evaluation.metrics import interval, intervals
from retrieval.evaluation.tally import ALL, Tally, spread


def filled(values: list[tuple[str, float]], seed: int = 0) -> Tally:
    tally = Tally(rounds=200, seed=seed)
    for kind, value in values:
        tally.add(kind, {level: {"recall@5": value, "hit@5": float(value > 0)} for level in Level})
    return tally


def test_figures_are_means_over_all_and_by_type() -> None:
    figures = filled([("one", 1.0), ("two", 0.0), ("two", 0.5)]).figures(Level.EVIDENCE)
    assert list(figures) == [ALL, "one", "two"]
    assert figures[ALL].values["recall@5"].mean == 0.5
    assert figures["two"].values["hit@5"].mean == 0.5
    assert [figures[kind].questions for kind in figures] == [3, 1, 2]
    assert figures["one"].public() == {
        "questions": 1, "recall@5": 1.0, "hit@5": 1.0,
        "intervals": {"recall@5": [1.0, 1.0], "hit@5": [1.0, 1.0]},
    }  # fmt: skip


def test_the_difference_is_paired() -> None:
    better = filled([("one", value + 0.25) for value in (0.0, 0.25, 0.5, 0.75)])
    worse = filled([("one", value) for value in (0.0, 0.25, 0.5, 0.75)])
    ahead = better.ahead_of(worse, Level.FACT)[ALL].values["recall@5"]
    assert ahead == (0.25, 0.25, 0.25)


def test_no_questions_no_figures() -> None:
    assert Tally().figures(Level.EVIDENCE) == {}


def test_equal_seeds_draw_equally_and_columns_see_the_same_draws() -> None:
    rows = np.random.default_rng(3).random((40, 1))
    both = intervals(np.hstack([rows, rows]), seed=5)
    assert both[0] == pytest.approx(both[1])
    assert both[0] == pytest.approx(interval(rows[:, 0].tolist(), seed=5))
    assert intervals(rows, seed=5) == intervals(rows, seed=5)
    assert intervals(rows, seed=5)[0].low != intervals(rows, seed=6)[0].low


def test_the_interval_is_as_wide_as_theory_says() -> None:
    found = interval([0.0, 1.0] * 200, rounds=4000)
    expected = 1.96 * 0.5 / math.sqrt(400)
    assert found.high - found.low == pytest.approx(2 * expected, rel=0.1)


def test_spread() -> None:
    assert spread([]) == {}
    assert spread([1.0, 2.0, 3.0]) == {"p50": 2.0, "p95": pytest.approx(2.9)}
