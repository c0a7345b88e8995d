from __future__ import annotations

import math

import pytest

from retrieval.evaluation.metrics import (
    all_at,
    auroc,
    hit_at,
    interval,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)

HITS = [{"x"}, {"a", "y"}, set(), {"b"}]
GOLD = {"a": 1, "b": 1}


def test_recall_counts_gold_covered_so_far() -> None:
    assert [recall_at(HITS, GOLD, k) for k in (1, 2, 3, 4, 9)] == [0, 0.5, 0.5, 1, 1]
    assert (hit_at(HITS, GOLD, 1), hit_at(HITS, GOLD, 2)) == (0, 1)
    assert (all_at(HITS, GOLD, 3), all_at(HITS, GOLD, 4)) == (0, 1)
    assert recall_at([], GOLD, 5) == 0


def test_reciprocal_rank_is_of_the_first_that_covers_any() -> None:
    assert reciprocal_rank(HITS, GOLD, 10) == 0.5
    assert reciprocal_rank(HITS, GOLD, 1) == 0


def test_ndcg_weighs_rank_and_grade_and_counts_gold_once() -> None:
    expected = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert ndcg_at(HITS, GOLD, 10) == pytest.approx(expected)
    assert ndcg_at([{"a"}, {"a"}, {"b"}], {"a": 2, "b": 1}, 10) < 1
    assert ndcg_at([{"a"}, {"b"}], {"a": 2, "b": 1}, 10) == pytest.approx(1)
    assert ndcg_at([{"a", "b"}], GOLD, 10) == 1


def test_an_interval_holds_its_mean_and_shrinks_with_more() -> None:
    few, many = interval([0, 1] * 10), interval([0, 1] * 1000)
    assert few.low < few.mean == 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    assert interval([1.0]) == (1, 1, 1)
    assert math.isnan(interval([]).mean)


def test_auroc() -> None:
    assert auroc([3, 4], [1, 2]) == 1
    assert auroc([1, 2], [1, 2]) == 0.5
    assert auroc([0], [1, 1]) == 0
