from __future__ import annotations

import pytest

from retrieval.evaluation.judging import Hit, Level, gold_of, measure, ranking, within

UNITS = {"a": "one", "b": "one", "c": "two", "d": "three"}
EPISODE = Hit(frozenset({"a", "b"}), 0.9, 100, 25, statement=False)
FACT_C = Hit(frozenset({"c"}), 0.8, 10, 3)
FACT_A = Hit(frozenset({"a"}), 0.7, 10, 3)
HITS = [EPISODE, FACT_C, FACT_A]


def test_each_level_sees_its_own_list() -> None:
    assert ranking(HITS, Level.EVIDENCE, UNITS) == [{"a", "b"}, {"c"}, {"a"}]
    assert ranking(HITS, Level.FACT, UNITS) == [{"c"}, {"a"}]
    assert ranking(HITS, Level.EPISODE, UNITS) == [{"one"}, {"two"}]


def test_gold_of_episodes_takes_the_highest_grade_and_leaves_out_what_is_nowhere() -> None:
    gold = {"a": 1, "b": 2, "c": 1, "gone": 1}
    assert gold_of(gold, Level.EVIDENCE, UNITS) == gold
    assert gold_of(gold, Level.EPISODE, UNITS) == {"one": 2, "two": 1}


def test_measures_of_one_list_by_hand() -> None:
    values = measure([{"x"}, {"a", "b"}, {"c"}], {"a": 1, "b": 1, "c": 1, "d": 1}, (1, 2, 3))
    assert [values[f"recall@{k}"] for k in (1, 2, 3)] == [0, 0.5, 0.75]
    assert [values[f"hit@{k}"] for k in (1, 2, 3)] == [0, 1, 1]
    assert [values[f"mrr@{k}"] for k in (1, 2, 3)] == [0, 0.5, 0.5]
    assert [values[f"all@{k}"] for k in (1, 2, 3)] == [0, 0, 0]
    assert set(values) == {
        f"{name}@{k}" for name in ("recall", "hit", "all", "ndcg", "mrr") for k in (1, 2, 3)
    }


def test_nothing_found_is_worth_nothing() -> None:
    assert set(measure([], {"a": 1}, (1, 5)).values()) == {0.0}


@pytest.mark.parametrize(
    ("characters", "used", "recall", "hit"),
    [(5, 100, 0.5, 1.0), (109, 100, 0.5, 1.0), (110, 110, 1.0, 1.0), (1000, 120, 1.0, 1.0)],
)
def test_a_budget_ends_the_list_but_never_before_its_first_hit(
    characters: int, used: int, recall: float, hit: float
) -> None:
    assert within(HITS, {"b": 1, "c": 1}, characters) == (used, recall, hit)


def test_an_empty_list_uses_nothing() -> None:
    assert within([], {"b": 1}, 100) == (0, 0, 0)
