"""Spans of the calendar, number words, and what a date rule is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from extract.model import Granularity, TimeSpan


class DateOrder(StrEnum):
    """Which number of 3/12/2024 is the month, where neither is above 12."""

    MONTH_FIRST = "month_first"
    DAY_FIRST = "day_first"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a date expression is read against.

    Attributes:
        at: the date the words were said or written; None when the source tells none.
        order: how ambiguous numbers are read.
        direction: what the sentence speaks of where a weekday alone does not tell: -1 the past, 1 the
            future, 0 unknown.
    """

    at: datetime | None = None
    order: DateOrder = DateOrder.MONTH_FIRST
    direction: int = 0

    @property
    def zone(self) -> tzinfo:
        """The offset that resolved times carry: the reference's own, else UTC."""
        return (self.at.tzinfo if self.at else None) or UTC

    @property
    def today(self) -> datetime | None:
        """Midnight of the reference's day."""
        return self.at and self.at.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=self.zone)


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], Reference], TimeSpan | None]]


def minute(start: datetime) -> TimeSpan:
    """Return one minute."""
    start = start.replace(second=0, microsecond=0)
    return TimeSpan(start=start, end=start + timedelta(minutes=1), granularity=Granularity.MINUTE)


def days(start: datetime, count: int = 1) -> TimeSpan:
    """Return whole days from midnight of the start."""
    return TimeSpan(start=start, end=start + timedelta(days=count), granularity=Granularity.DAY)


def week(inside: datetime, shift: int = 0) -> TimeSpan:
    """Return the week (Monday to Sunday) ``shift`` weeks after the one that holds the day."""
    monday = inside + timedelta(days=7 * shift - inside.weekday())
    return TimeSpan(start=monday, end=monday + timedelta(days=7), granularity=Granularity.WEEK)


def weekday(inside: datetime, day: int, shift: int = 0) -> TimeSpan:
    """Return day 0 (Monday) to 6 of the week ``shift`` weeks after the one that holds the date."""
    return days(inside + timedelta(days=7 * shift - inside.weekday() + day))


def months(
    year: int, month: int, zone: tzinfo, count: int = 1, grain: Granularity = Granularity.MONTH
) -> TimeSpan:
    """Return whole months; ``month`` may lie outside 1 to 12 and carries into the year."""
    start, end = (_first_of(year, at, zone) for at in (month, month + count))
    return TimeSpan(start=start, end=end, granularity=grain)


def _first_of(year: int, month: int, zone: tzinfo) -> datetime:
    carry, index = divmod(month - 1, 12)
    return datetime(year + carry, index + 1, 1, tzinfo=zone)


def quarter(year: int, number: int, zone: tzinfo) -> TimeSpan:
    """Return quarter 1 to 4 of a calendar year; numbers outside carry into the year."""
    return months(year, 3 * number - 2, zone, 3, Granularity.QUARTER)


def half(year: int, number: int, zone: tzinfo) -> TimeSpan:
    """Return the first or second half of a calendar year, as exact as a quarter is."""
    return months(year, 6 * number - 5, zone, 6, Granularity.QUARTER)


def years(year: int, zone: tzinfo, count: int = 1) -> TimeSpan:
    """Return whole calendar years."""
    return months(year, 1, zone, 12 * count, Granularity.YEAR)


def date(year: int, month: int, day: int, zone: tzinfo, last_day: int | None = None) -> TimeSpan | None:
    """Return a day, or the days up to ``last_day`` of the same month; None for a date that does not exist."""
    try:
        start = datetime(year, month, day, tzinfo=zone)
        end = start if last_day is None else datetime(year, month, last_day, tzinfo=zone)
    except ValueError:
        return None
    return days(start, (end - start).days + 1) if end >= start else None


def nearest(candidates: Iterable[TimeSpan | None], today: datetime) -> TimeSpan | None:
    """Return the span whose start lies closest to a day; the later of two equally close ones."""
    found = [span for span in candidates if span is not None]
    return min(
        found, key=lambda span: (abs((span.start - today).days), -span.start.timestamp()), default=None
    )


def yearless(month: int, day: int, reference: Reference, last_day: int | None = None) -> TimeSpan | None:
    """Return the occurrence of a day of the year closest to the reference: within six months either way."""
    today = reference.today
    if today is None:
        return None
    return nearest(
        (date(today.year + shift, month, day, today.tzinfo or UTC, last_day) for shift in (-1, 0, 1)), today
    )


def shifted(today: datetime, count: int, unit: str) -> TimeSpan | None:
    """Return the day, week, month, quarter or year ``count`` units after the one that holds the day."""
    zone = today.tzinfo or UTC
    try:
        match unit:
            case "day":
                return days(today + timedelta(days=count))
            case "week":
                return week(today, count)
            case "month":
                return months(today.year, today.month + count, zone)
            case "quarter":
                return quarter(today.year, (today.month + 2) // 3 + count, zone)
            case _:
                return years(today.year + count, zone)
    except (ValueError, OverflowError):
        return None


def stretch(today: datetime, count: int, unit: str) -> TimeSpan | None:
    """Return the ``count`` units that end (negative) or begin (positive) with the day."""
    length = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}[unit] * count
    grain = Granularity(unit) if unit != "quarter" else Granularity.QUARTER
    try:
        other = today + timedelta(days=length)
    except OverflowError:
        return None
    start, end = sorted((today, other))
    return TimeSpan(start=start, end=end + timedelta(days=1), granularity=grain)


_ENGLISH_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "a couple": 2, "a couple of": 2,
    "couple of": 2,
}  # fmt: skip
_HAN_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}


def number(word: str) -> int | None:
    """Read a number up to 9999 in digits, in English words up to twelve, or in Chinese numerals."""
    word = word.strip().lower()
    if word.isdecimal():
        return int(word) if len(word) < 5 else None
    if word in _ENGLISH_NUMBERS:
        return _ENGLISH_NUMBERS[word]
    if not word or any(char not in _HAN_DIGITS and char != "十" for char in word):
        return None
    if "十" not in word:
        return int("".join(str(_HAN_DIGITS[char]) for char in word)) if len(word) < 5 else None
    tens, _, units = word.partition("十")
    return _HAN_DIGITS.get(tens, 1) * 10 + _HAN_DIGITS.get(units, 0)


def full_year(text: str) -> int | None:
    """Read a year of four digits, or of two (70 to 99: the last century); Chinese numerals too."""
    value = number(text)
    if value is None or len(text.strip()) == 3:
        return None
    if value < 100:
        return value + (1900 if value >= 70 else 2000)
    return value if 1000 <= value <= 2999 else None
