from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.ranking.asked import ask
from retrieval.ranking.periods import closeness, named_periods
from retrieval.traits import Traits

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def near(question: str, day: str, until: str | None = None) -> float:
    start = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    end = datetime.fromisoformat(until).replace(tzinfo=UTC).timestamp() if until else start + 86_400
    return closeness(named_periods(question, NOW), start, end)


def test_a_named_day_prefers_that_day_and_blurs_after_it() -> None:
    question = "What did we buy on 12 May 2024?"
    assert near(question, "2024-05-12") == 1
    assert near(question, "2024-05-12") > near(question, "2024-05-14") > near(question, "2024-05-20") > 0
    assert near(question, "2023-05-12") < 0.01


def test_relative_times_count_from_now() -> None:
    assert near("What happened last week?", "2026-11-25") == 1
    assert near("What happened last week?", "2025-11-25") < 0.01
    assert near("去年五月发生了什么？", "2025-05-20") == 1


def test_without_a_year_another_year_may_be_meant() -> None:
    assert near("What did we plant in May?", "2026-05-10") == 1
    assert near("What did we plant in May?", "2023-05-10") == 0.8
    assert near("What did we plant in May?", "2023-09-10") < 0.05


def test_a_year_alone_counts() -> None:
    assert near("What did we do in 2019?", "2019-07-01") == 1
    assert near("What did we do in 2019?", "2024-07-01") < 0.01
    assert named_periods("Invoice 2019-0042, part 20191", NOW) == ()


@pytest.mark.parametrize("day", [5, 20, 28, 29, 30])
@pytest.mark.parametrize(
    ("asked", "meant", "another"),
    [
        ("What happened last year?", "2025-06-01", "2023-06-01"),
        ("去年发生了什么？", "2025-06-01", "2023-06-01"),
        ("What did we do last month?", "2026-10-15", "2023-10-15"),
        ("How did last quarter go?", "2026-08-15", "2023-08-15"),
    ],
)
def test_a_relative_time_is_of_one_year_on_whatever_day_it_is_asked(
    day: int, asked: str, meant: str, another: str
) -> None:
    periods = named_periods(asked, NOW.replace(day=day))
    moments = [datetime.fromisoformat(one).replace(tzinfo=UTC).timestamp() for one in (meant, another)]
    assert closeness(periods, moments[0], moments[0]) == 1
    assert closeness(periods, moments[1], moments[1]) < 0.05


def test_yesterday_is_not_that_day_of_any_year() -> None:
    for day in (5, 20, 29):
        (period,) = named_periods("What did I eat yesterday?", NOW.replace(day=day))
        assert not period.yearless


@pytest.mark.parametrize("asked", ["What did we decide about the Q2 deadline?", "第二季度的预算是多少？"])
def test_a_quarter_without_a_year_is_a_name_and_no_time(asked: str) -> None:
    assert named_periods(asked, NOW) == ()
    assert ask(asked, NOW).terms.indices


def test_a_quarter_of_a_year_is_a_time() -> None:
    assert near("What was decided in Q2 2024?", "2024-05-10") == 1
    assert near("What was decided in Q2 2024?", "2024-09-10") < 0.05


def test_no_time_named_is_near_to_nothing() -> None:
    assert near("Who likes tea?", "2024-01-01") == 0
    assert closeness(named_periods("in May", NOW), None, None) == 0


@pytest.mark.parametrize("told", [True, False])
def test_an_item_is_near_by_its_own_time_or_by_its_telling(told: bool) -> None:
    may, june = (datetime(2024, month, 10, tzinfo=UTC).timestamp() for month in (5, 6))
    traits = Traits("e", start=may, end=may, told_start=june, told_end=june)
    assert ask("What happened in May 2024?" if told else "What happened in June 2024?", NOW).near(traits) == 1


def test_leap_days_are_no_trap() -> None:
    assert named_periods("yesterday", datetime(2028, 2, 29, tzinfo=UTC))
