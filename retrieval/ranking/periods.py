"""The times a question names, and how near an item lies to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import exp
from typing import NamedTuple

from extract.model import Granularity, TimeSpan
from extract.times import find_times

_YEAR = re.compile(r"(?<![\d.,/-])(?:19|20)\d\d(?![\d.,/-]?\d)")
_DAY_S = 86_400.0
# Another moment of asking, at which "yesterday", "last month" and "last quarter" are other days of the year.
_YEARS_BACK, _MONTHS_BACK = 10, 5
_YEAR_S = 365.2425 * _DAY_S
# A day is still spoken of two days later; a longer period blurs with its length.
_BLUR_DAYS = 2.0
_BLUR_SHARE = 0.25
# "In May" means the last or the next one first, and after them some May.
_SOME_YEAR = 0.8


class Period(NamedTuple):
    """A time a question names; seconds since 1970, ``end`` exclusive.

    ``yearless`` says that no year was named, so that the same days of another year may be meant.
    """

    start: float
    end: float
    yearless: bool


def named_periods(text: str, now: datetime) -> tuple[Period, ...]:
    """Return the times that a question names; a quarter without a year is a name, not a time.

    Args:
        text: the question.
        now: what "last week" is resolved against; with an offset.
    """
    mentions = find_times(text, now)
    found, taken = [], text
    others = find_times(text, _years_back(now)) if mentions else []
    for mention, other in zip(mentions, others, strict=False):
        if mention.span is None:
            continue
        start, end = mention.span.start, mention.span.end
        moved = other.span is not None and other.span.start != start
        yearless = moved and other.span is not None and _same_days(mention.span, other.span)
        taken = taken[: mention.start] + " " * (mention.end - mention.start) + taken[mention.end :]
        if yearless and mention.span.granularity is Granularity.QUARTER:
            # "The Q2 deadline", a column "Q2": mostly a name, and its words are looked for as they stand. As
            # a time it would lift whatever is dated in those months over what has no date and says "Q2".
            continue
        found.append(Period(start.timestamp(), end.timestamp(), yearless))
        if yearless and start > now:
            found.append(Period(start.timestamp() - _YEAR_S, end.timestamp() - _YEAR_S, yearless))
    for year in map(int, _YEAR.findall(taken)):
        start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
        found.append(Period(start.timestamp(), end.timestamp(), yearless=False))
    return tuple(found)


def closeness(periods: Sequence[Period], start: float | None, end: float | None) -> float:
    """Return how near an item's time lies to the nearest of some periods: 1 when they overlap, 0 when far."""
    if start is None:
        return 0.0
    return max((_close(period, start, end or start) for period in periods), default=0.0)


def _close(period: Period, start: float, end: float) -> float:
    exact = _overlap(period.start, period.end, start, end)
    if not period.yearless:
        return exact
    shift = round((start - period.start) / _YEAR_S) * _YEAR_S
    return max(exact, _SOME_YEAR * _overlap(period.start + shift, period.end + shift, start, end))


def _overlap(start: float, end: float, other_start: float, other_end: float) -> float:
    gap = max(other_start - end, start - other_end, 0.0)
    return exp(-gap / max(_BLUR_DAYS * _DAY_S, _BLUR_SHARE * (end - start)))


def _years_back(now: datetime) -> datetime:
    # Not every month has a 29th.
    year, month = divmod(12 * (now.year - _YEARS_BACK) + now.month - 1 - _MONTHS_BACK, 12)
    return now.replace(year=year, month=month + 1, day=min(now.day, 28))


def _same_days(one: TimeSpan, other: TimeSpan) -> bool:
    """Say whether two spans are the same days of different years; a whole year is no days of one."""
    begins = (one.start.month, one.start.day) == (other.start.month, other.start.day)
    return begins and one.granularity is not Granularity.YEAR
