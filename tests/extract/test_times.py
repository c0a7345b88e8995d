from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.dates.calendar import DateOrder
from extract.model import Granularity
from extract.times import date_order, find_times
from tests.extract.samples import PATIENT

TUESDAY = datetime(2024, 3, 12, 10, 0, tzinfo=UTC)


def resolved(text: str, at: datetime | None = TUESDAY, order: DateOrder = DateOrder.MONTH_FIRST) -> list[str]:
    """Return "first day..last day/granularity" of every resolved expression."""
    out = []
    for mention in find_times(text, at, order):
        if mention.span:
            last = mention.span.end - timedelta(seconds=1)
            if mention.span.granularity is Granularity.MINUTE:
                out.append(f"{mention.span.start:%Y-%m-%d %H:%M}")
            else:
                out.append(f"{mention.span.start:%Y-%m-%d}..{last:%Y-%m-%d}/{mention.span.granularity.value}")
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 12 March 2024", ["2024-03-12..2024-03-12/day"]),
        ("March 12th, 2024", ["2024-03-12..2024-03-12/day"]),
        ("the 3rd of April", ["2024-04-03..2024-04-03/day"]),
        ("december 20th", ["2023-12-20..2023-12-20/day"]),
        ("2024-03-12", ["2024-03-12..2024-03-12/day"]),
        ("2024-03-12T10:30:00Z", ["2024-03-12 10:30"]),
        ("2024/3/12 14:05", ["2024-03-12 14:05"]),
        ("12.03.2024", ["2024-03-12..2024-03-12/day"]),
        ("25/12/2024", ["2024-12-25..2024-12-25/day"]),
        ("12-14 March", ["2024-03-12..2024-03-14/day"]),
        ("from March 3 to April 5, 2024", ["2024-03-03..2024-04-05/day"]),
        ("March 2023", ["2023-03-01..2023-03-31/month"]),
        ("in June", ["2024-06-01..2024-06-30/month"]),
        ("by the end of next month", ["2024-04-01..2024-04-30/month"]),
        ("Q2 2024", ["2024-04-01..2024-06-30/quarter"]),
        ("the Q2 deadline", ["2024-04-01..2024-06-30/quarter"]),
        ("2023-Q4", ["2023-10-01..2023-12-31/quarter"]),
        ("the second quarter of 2025", ["2025-04-01..2025-06-30/quarter"]),
        ("H1 2025", ["2025-01-01..2025-06-30/quarter"]),
        ("since 2019", ["2019-01-01..2019-12-31/year"]),
        ("the 1990s", ["1990-01-01..1999-12-31/year"]),
        ("yesterday", ["2024-03-11..2024-03-11/day"]),
        ("the day after tomorrow", ["2024-03-14..2024-03-14/day"]),
        ("last week", ["2024-03-04..2024-03-10/week"]),
        ("last weekend", ["2024-03-09..2024-03-10/day"]),
        ("last Friday", ["2024-03-08..2024-03-08/day"]),
        ("last Monday", ["2024-03-11..2024-03-11/day"]),
        ("this Friday", ["2024-03-15..2024-03-15/day"]),
        ("next Friday", ["2024-03-22..2024-03-22/day"]),
        ("next Monday", ["2024-03-18..2024-03-18/day"]),
        ("Friday of next week", ["2024-03-22..2024-03-22/day"]),
        ("by Friday", ["2024-03-15..2024-03-15/day"]),
        ("on Friday we shipped it", ["2024-03-08..2024-03-08/day"]),
        ("we will ship on Friday", ["2024-03-15..2024-03-15/day"]),
        ("We moved it to the demo on Friday", ["2024-03-15..2024-03-15/day"]),
        ("on Friday the weather is mild", []),
        ("in two weeks", ["2024-03-25..2024-03-31/week"]),
        ("in 3 days", ["2024-03-15..2024-03-15/day"]),
        ("two months ago", ["2024-01-01..2024-01-31/month"]),
        ("a couple of days ago", ["2024-03-10..2024-03-10/day"]),
        ("It was built in two weeks.", []),
        ("over the last 3 days", ["2024-03-09..2024-03-12/day"]),
        ("the week after next", ["2024-03-25..2024-03-31/week"]),
        ("tomorrow at 3 pm", ["2024-03-13 15:00"]),
        ("at 10:30 on 12 March", ["2024-03-12 10:30"]),
        ("am 3. März 2024", ["2024-03-03..2024-03-03/day"]),
        ("le 12 juin 2024", ["2024-06-12..2024-06-12/day"]),
    ],
)  # fmt: skip
def test_english(text: str, expected: list[str]) -> None:
    assert resolved(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024年3月12日", ["2024-03-12..2024-03-12/day"]),
        ("3月12日", ["2024-03-12..2024-03-12/day"]),
        ("三月十二号", ["2024-03-12..2024-03-12/day"]),
        ("3月12日至15日", ["2024-03-12..2024-03-15/day"]),
        ("9月1日-9月5日", ["2024-09-01..2024-09-05/day"]),
        ("2024年3月12日（周二）上午10点启动", ["2024-03-12 10:00"]),
        ("十二号交付", ["2024-03-12..2024-03-12/day"]),
        ("昨天", ["2024-03-11..2024-03-11/day"]),
        ("大后天", ["2024-03-15..2024-03-15/day"]),
        ("下周五", ["2024-03-22..2024-03-22/day"]),
        ("上周", ["2024-03-04..2024-03-10/week"]),
        ("下下周三下午3点半", ["2024-03-27 15:30"]),
        ("周五前提交", ["2024-03-15..2024-03-15/day"]),
        ("每周五例会", []),
        ("上个月", ["2024-02-01..2024-02-29/month"]),
        ("下月5号", ["2024-04-05..2024-04-05/day"]),
        ("去年12月", ["2023-12-01..2023-12-31/month"]),
        ("2024年第二季度", ["2024-04-01..2024-06-30/quarter"]),
        ("第四季度", ["2023-10-01..2023-12-31/quarter"]),
        ("今年上半年", ["2024-01-01..2024-06-30/quarter"]),
        ("明年年初", ["2025-01-01..2025-01-31/month"]),
        ("二〇二三年", ["2023-01-01..2023-12-31/year"]),
        ("三天前", ["2024-03-09..2024-03-09/day"]),
        ("两周后", ["2024-03-25..2024-03-31/week"]),
        ("他等了三个月", []),
        ("先週の金曜日", ["2024-03-08..2024-03-08/day"]),
    ],
)  # fmt: skip
def test_chinese_and_japanese(text: str, expected: list[str]) -> None:
    assert resolved(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "She may march to the sun on her second visit.",
        "Version 2.0.1 runs on 10.0.0.1 with 2000 cases.",
        "The budget of 1,200 for 3 rooms, 45% of the total.",
        "We can do it; it is up to you.",
        "第一章第二节共有3个问题",
        "一号楼三单元",
        "They scored 12-14 in the match.",
        "Call 2024-555-1234.",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert resolved(text) == []


def test_without_a_source_date_relative_words_stay_unresolved() -> None:
    mentions = find_times("last week, 昨天, March 12, and 12 March 2024", None)
    assert [mention.span is not None for mention in mentions] == [False, False, False, True]


def test_the_original_words_are_kept() -> None:
    text = "We ship next Friday, not before."
    (mention,) = find_times(text, TUESDAY)
    assert mention.span is not None
    assert mention.span.expression == "next Friday" == text[mention.start : mention.end]


def test_ambiguous_numbers_follow_the_text_then_the_language() -> None:
    assert resolved("3/12/2024") == ["2024-03-12..2024-03-12/day"]
    assert resolved("3/12/2024", order=DateOrder.DAY_FIRST) == ["2024-12-03..2024-12-03/day"]
    assert resolved("3.12.2024") == ["2024-12-03..2024-12-03/day"]
    assert date_order("Due 3/12/2024, paid 25/11/2024.", "en") is DateOrder.DAY_FIRST
    assert date_order("Fällig 3/12/2024.", "de") is DateOrder.DAY_FIRST
    assert date_order("Due 3/12/2024.", "en") is DateOrder.MONTH_FIRST


def test_resolved_times_carry_the_offset_of_the_source() -> None:
    beijing = timezone(timedelta(hours=8))
    (mention,) = find_times("昨天", TUESDAY.astimezone(beijing))
    assert mention.span is not None
    assert mention.span.start == datetime(2024, 3, 11, tzinfo=beijing)


def test_dates_that_do_not_exist_are_not_resolved() -> None:
    assert resolved("31 February 2024, 2024-13-40, 2月30日, 45/45/2024") == []


@PATIENT
@given(st.text(alphabet="0123456789年月日号周上下个前后三天QqMarchMay ,./-:to第季度ago last", max_size=60))
def test_any_text_is_read_without_error_and_without_overlap(text: str) -> None:
    at = 0
    for mention in find_times(text, TUESDAY):
        assert at <= mention.start < mention.end <= len(text)
        at = mention.end
