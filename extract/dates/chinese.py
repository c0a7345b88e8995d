"""Dates in Chinese that name a year, half, quarter, month or day; the Japanese ones are written alike."""

from __future__ import annotations

import re

from extract.dates.calendar import (
    Reference,
    Rule,
    date,
    full_year,
    half,
    months,
    nearest,
    number,
    quarter,
    shifted,
    yearless,
    years,
)
from extract.dates.numeric import nearest_quarter
from extract.model import TimeSpan

NUMERAL = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_FULL_YEAR = r"(?:\d{4}|[〇零一二三四五六七八九]{4})\s*年(?:度)?"
_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "昨年": -1,
    "上年": -1,
    "今年": 0,
    "本年": 0,
    "本年度": 0,
    "明年": 1,
    "来年": 1,
    "后年": 2,
}
_YEAR_WORDS = "|".join(sorted(_YEARS, key=len, reverse=True))
_YEAR_PART = rf"(?:({_FULL_YEAR}|{_YEAR_WORDS})的?\s*)?"

# Days of the lunar calendar and of "the same year" are told against something else than the source's date.
_NOT_AFTER = r"(?<![历曆])(?<![历曆]的)(?<![同当當次翌]年)(?<![\d一二三四五六七八九十])"
_DATE = re.compile(
    rf"{_NOT_AFTER}{_YEAR_PART}({NUMERAL})\s*月\s*(?:份的?)?({NUMERAL})\s*(?:日|号|號)?"
    rf"(?:\s*(?:[-–—~～至到]|から)\s*({NUMERAL})\s*(?=日|号|號))?(?:日|号|號)?"
)
_MONTH = re.compile(rf"{_NOT_AFTER}{_YEAR_PART}(?<![\d第])({NUMERAL})\s*月(?:份)?(?![\d个])")
_QUARTER = re.compile(rf"{_YEAR_PART}第?([一二三四1-4])\s*季度?(?![节])")
_HALF = re.compile(rf"{_YEAR_PART}(上|下)半年")
_YEAR = re.compile(rf"(?<![\d一二三四五六七八九〇零])({_FULL_YEAR}|{_YEAR_WORDS})(?:年?(?:底|末|初))?")
_YEAR_END = re.compile(r"(?<![一-鿿\d])(年底|年末|年初)")
_BARE_DAY = re.compile(rf"(?<![\d月第一二三四五六七八九十./\-])({NUMERAL})\s*[号號](?![\d线楼门馆机院文])")


def _year_of(words: str | None, reference: Reference) -> int | None:
    if words is None:
        return None
    if words in _YEARS:
        return reference.today.year + _YEARS[words] if reference.today else None
    return full_year(words.split("年")[0])


def _date(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, month, day, last = found.groups()
    if not found.group().endswith(("日", "号", "號")) and year_words is None:
        return None
    month_number, day_number, last_day = number(month), number(day), number(last) if last else None
    if month_number is None or day_number is None or not 1 <= month_number <= 12:
        return None
    if year_words is None:
        return yearless(month_number, day_number, reference, last_day)
    year = _year_of(year_words, reference)
    return date(year, month_number, day_number, reference.zone, last_day) if year else None


def _month(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, month = found.groups()
    value, today = number(month), reference.today
    if value is None or not 1 <= value <= 12:
        return None
    if year_words:
        year = _year_of(year_words, reference)
        return months(year, value, reference.zone) if year else None
    if today is None:
        return None
    return nearest(
        (months(today.year + shift, value, reference.zone) for shift in (-1, 0, 1)), today.replace(day=1)
    )


def _quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, which = found.groups()
    wanted = number(which)
    if wanted is None or (not found.group().endswith("季度") and "第" not in found.group()):
        return None
    if year_words is None:
        return nearest_quarter(wanted, reference)
    year = _year_of(year_words, reference)
    return quarter(year, wanted, reference.zone) if year else None


def _half(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, which = found.groups()
    year = _year_of(year_words, reference) if year_words else reference.today and reference.today.year
    return half(year, 1 if which == "上" else 2, reference.zone) if year else None


def _year(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year = _year_of(found.group(1), reference)
    if year is None:
        return None
    if found.group().endswith(("底", "末")):
        return months(year, 12, reference.zone)
    return months(year, 1, reference.zone) if found.group().endswith("初") else years(year, reference.zone)


def _year_end(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    today = reference.today
    return months(today.year, 1 if found.group() == "年初" else 12, reference.zone) if today else None


def _bare_day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    today, day = reference.today, number(found.group(1))
    if today is None or day is None:
        return None
    return nearest(
        (
            date(span.start.year, span.start.month, day, reference.zone)
            for shift in (-1, 0, 1)
            if (span := shifted(today, shift, "month"))
        ),
        today,
    )


RULES: tuple[Rule, ...] = (
    (_DATE, _date), (_MONTH, _month), (_QUARTER, _quarter), (_HALF, _half), (_YEAR, _year),
    (_YEAR_END, _year_end), (_BARE_DAY, _bare_day),
)  # fmt: skip
