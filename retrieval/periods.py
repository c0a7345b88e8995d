"""The times a question names, and how near an item lies to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import exp
from typing import NamedTuple

from extract.times import find_times

_YEAR = re.compile(r"(?<![\d.,/-])(?:19|20)\d\d(?![\d.,/-]?\d)")
_DAY_S = 86_400.0
_YEARS_BACK = 10
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
    """Return the times that a question names.

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
        yearless = moved and other.span is not None and _same_day(start, other.span.start)
        found.append(Period(start.timestamp(), end.timestamp(), yearless))
        if yearless and start > now:
            found.append(Period(start.timestamp() - _YEAR_S, end.timestamp() - _YEAR_S, yearless))
        taken = taken[: mention.start] + " " * (mention.end - mention.start) + taken[mention.end :]
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
    # 29 February does not exist in every year.
    return now.replace(year=now.year - _YEARS_BACK, day=min(now.day, 28))


def _same_day(one: datetime, other: datetime) -> bool:
    return (one.month, one.day) == (other.month, other.day)
