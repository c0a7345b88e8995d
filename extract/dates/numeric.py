"""Dates written in digits, the same in every language: ISO, slashes and dots, quarters."""

from __future__ import annotations

import re
from datetime import datetime

from extract.dates.calendar import (
    DateOrder,
    Reference,
    Rule,
    date,
    full_year,
    half,
    months,
    quarter,
)
from extract.model import TimeSpan

_B, _E = r"(?<![\w./\-])", r"(?![\w/\-]|\.\d)"
_ISO = re.compile(r"(?<![\w./\-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[-/.]\d)")
_ISO_MONTH = re.compile(r"(?<![\w./\-:])((?:19|20)\d\d)[-/](0[1-9]|1[0-2])(?![\w/\-]|[.,]\d)")
_COMPACT = re.compile(r"(?<![\w./\-])((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=T\d{6}\b)")
_NUMBERS = re.compile(_B + r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|\d{2})" + _E)
_UNAMBIGUOUS = re.compile(r"(?<![\w./\-])(\d{1,2})[/\-](\d{1,2})[/\-](?:\d{4}|\d{2})(?![\w/\-])")
# Small letters count only beside a year: q1 is more often a name of something else.
_QUARTER = re.compile(
    r"(?<![A-Za-z0-9])(?:Q|q(?=[1-4] ?['’]?\d\d))([1-4])"
    r"(?:(?:\s*/\s*|\s+of\s+|[\s,-]*)((?:19|20)\d\d|['’]\d\d)年?(?!\s*-\s*[Qq]))?(?![A-Za-z0-9])"
)
_YEAR_QUARTER = re.compile(
    r"(?<![A-Za-z0-9])((?:19|20)\d\d)(?:年(?:度)?)?[\s\-/.]*[Qq]([1-4])(?![A-Za-z0-9])"
)
_HALF = re.compile(r"(?<![A-Za-z0-9])H([12])[\s,-]*((?:19|20)\d\d)(?!\d)")


def infer_order(text: str, otherwise: DateOrder) -> DateOrder:
    """Return the order that the unambiguous dates of a text show (25/12/2024), else the given one."""
    day_first = month_first = 0
    for found in _UNAMBIGUOUS.finditer(text):
        first, second = int(found.group(1)), int(found.group(2))
        day_first += 12 < first <= 31 and second <= 12
        month_first += first <= 12 < second <= 31
    if day_first == month_first:
        return otherwise
    return DateOrder.DAY_FIRST if day_first > month_first else DateOrder.MONTH_FIRST


def _iso(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year, month, day = (int(found.group(at)) for at in (1, 3, 4))
    return date(year, month, day, reference.zone) if 1000 <= year <= 2999 else None


def _compact(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return date(int(found.group(1)), int(found.group(2)), int(found.group(3)), reference.zone)


def _iso_month(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return months(int(found.group(1)), int(found.group(2)), reference.zone)


def _numbers(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    first, mark, second, year = int(found.group(1)), found.group(2), int(found.group(3)), found.group(4)
    value = full_year(year)
    if value is None or (mark != "/" and len(year) == 2):  # 1.2.24 is more often a version than a date
        return None
    # Above 12 a number is a day. Dots are written day first everywhere.
    day_first = first > 12 or (second <= 12 and (mark == "." or reference.order is DateOrder.DAY_FIRST))
    day, month = (first, second) if day_first else (second, first)
    return date(value, month, day, reference.zone)


def _quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    wanted = int(found.group(1))
    year = full_year(found.group(2).lstrip("'’")) if found.group(2) else None
    if year is not None:
        return quarter(year, wanted, reference.zone)
    return nearest_quarter(wanted, reference)


def nearest_quarter(wanted: int, reference: Reference) -> TimeSpan | None:
    """Return the quarter of that number whose middle lies closest to the reference."""
    today: datetime | None = reference.today
    if today is None:
        return None
    around = [quarter(today.year + shift, wanted, reference.zone) for shift in (-1, 0, 1)]
    middles = {span.start + (span.end - span.start) / 2: span for span in around}
    return middles[min(middles, key=lambda middle: abs(middle - today))]


def _year_quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return quarter(int(found.group(1)), int(found.group(2)), reference.zone)


def _half(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return half(int(found.group(2)), int(found.group(1)), reference.zone)


RULES: tuple[Rule, ...] = (
    (_ISO, _iso),
    (_COMPACT, _compact),
    (_ISO_MONTH, _iso_month),
    (_NUMBERS, _numbers),
    (_YEAR_QUARTER, _year_quarter),
    (_QUARTER, _quarter),
    (_HALF, _half),
)
