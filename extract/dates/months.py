"""Dates that name a month, a quarter, a half or a year, in English words.

Full dates with the month names of French, German, Italian, Portuguese and Spanish are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from extract.dates.calendar import (
    Reference,
    Rule,
    date,
    full_year,
    half,
    months,
    nearest,
    quarter,
    yearless,
    years,
)
from extract.dates.numeric import nearest_quarter
from extract.model import TimeSpan

_MONTH_NAMES = (
    "jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
    "sep sept september", "oct october", "nov november", "dec december",
)  # fmt: skip
_FOREIGN_NAMES = (
    "januar jänner janvier enero gennaio janeiro", "februar février febrero febbraio fevereiro",
    "märz mars marzo março", "april avril abril aprile", "mai mayo maggio maio",
    "juni juin junio giugno junho", "juli juillet julio luglio julho", "august août agosto",
    "september septembre septiembre settembre setembro",
    "oktober octobre octubre ottobre outubro", "november novembre noviembre novembro",
    "dezember décembre diciembre dicembre dezembro",
)  # fmt: skip
_WEEKDAY_NAMES = (
    "monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs", "friday fri",
    "saturday sat", "sunday sun",
)  # fmt: skip
_ORDINAL_NAMES = ("first 1st", "second 2nd", "third 3rd", "fourth 4th last final")


def _numbered(rows: Iterable[str], start: int) -> dict[str, int]:
    return {name: at for at, names in enumerate(rows, start) for name in names.split()}


_MONTHS = _numbered(_MONTH_NAMES, 1)
_FOREIGN_MONTHS = _numbered(_FOREIGN_NAMES, 1)
WEEKDAYS = _numbered(_WEEKDAY_NAMES, 0)
_ORDINALS = _numbered(_ORDINAL_NAMES, 1)
# Written small these are other words far more often than months.
_ALSO_WORDS = frozenset({"may", "march", "mar", "dec", "jan", "sep", "oct"})
WHICH = r"(this past|this coming|last|next|this|past|coming|previous|following|upcoming)"


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def phrase(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that starts at a word and ignores case."""
    return re.compile(rf"(?<![\w-]){pattern}", re.IGNORECASE)


def which_shift(which: str | None) -> int:
    """Read last/this/next as -1, 0, 1."""
    word = (which or "this").lower().split()[-1]
    if word in ("last", "past", "previous"):
        return -1
    return 0 if word == "this" else 1


_M = rf"({alternatives(_MONTHS)})\b\.?"
_D = r"(\d{1,2})(?:st|nd|rd|th)?"
_TO = r"(?:\s*(?:-|–|—|to|until|till|through|and|&)\s*"
_Y = r"(1\d{3}|20\d\d)(?!\d)"
_W = rf"(?:{alternatives(WEEKDAYS)})\b\.?"
_IN = r"(?:in|by|since|until|till|through|during|from|for|to|of|before|after|around)"
_PART = r"(?:early|mid|late|end of|beginning of|start of|middle of)"
_DAY_MONTH = phrase(rf"(?:{_W},?\s+)?(?:the\s+)?{_D}{_TO}{_D})?\s+(?:of\s+)?{_M}(?:,?\s+{_Y})?(?!\w)")
_ORDINAL_DAY = re.compile(r"\d(?:st|nd|rd|th)", re.IGNORECASE)
_MONTH_DAY = phrase(
    rf"{_M}\s+(?:the\s+)?{_D}(?![\d%]|[.,:]\d|\s*(?:%|percent)){_TO}{_D}(?!\d))?(?:,?\s+{_Y})?(?!\w)"
)
_FOREIGN = phrase(
    rf"(?:(?:le|el|il|den|am) )?(\d{{1,2}})\.?(?:º|er)?\s+(?:de\s+)?({alternatives(_FOREIGN_MONTHS)})"
    rf"\s+(?:del?\s+)?{_Y}"
)
_YEAR_MONTH_DAY = phrase(rf"{_Y},?\s+{_M}\s+{_D}(?![\w:])")
_MONTH_YEAR = phrase(rf"{_M}(?:,|\s+of|\s+in)?\s+((?:1[5-9]|20)\d\d)(?!\d)")
_MONTH_ALONE = phrase(rf"{_IN}\s+(?:the\s+)?(?:{_PART}[\s-]+)?(?:{WHICH}\s+)?{_M}(?!\s*\d)")
_MONTH_WHICH = phrase(rf"(?:{WHICH}|{_PART})[\s-]+{_M}(?!\s*\d)")
_QUARTER_WORDS = phrase(
    rf"(?:the\s+)?({alternatives(_ORDINALS)})\s+(quarter|half)"
    rf"(?:\s+of\s+(?:{_Y}|(?:the\s+)?{WHICH}?\s*year)|\s+{_Y})?\b"
)
_YEAR_BEFORE = r"(?:in|since|until|by|from|before|after|during|of|year|through|late|early|mid|around|to|for)"
_YEAR_AFTER = (
    r"(?:and|to|by|with|for|after|when|as|at|was|were|is|it|he|she|they|we|in|on|the|that|but|or|while)"
)
# A bare number is a year only beside words that go with years: "in 2000 cases" is not one.
_YEAR = phrase(
    rf"(?:{_YEAR_BEFORE}[\s-]+|\()((?:19|20)\d\d)(?![.,]\d)(?=\s*(?:[.,;:!?)\]，。；）、]|$|\s{_YEAR_AFTER}\b))"
)
_DECADE = phrase(r"(?:the\s+)?((?:19|20)\d)0s\b")


def _month(word: str) -> int | None:
    name = word.lower()
    return None if word[0].islower() and name in _ALSO_WORDS else _MONTHS[name]


def _on(
    month: int | None, day: str, last: str | None, year: str | None, reference: Reference
) -> TimeSpan | None:
    if month is None:
        return None
    last_day = int(last) if last else None
    if year:
        return date(int(year), month, int(day), reference.zone, last_day)
    return yearless(month, int(day), reference, last_day)


def _day_month(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    day, last, month, year = found.groups()
    return _on(_month(month), day, last, year, reference)


def _month_day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    month, day, last, year = found.groups()
    certain = _ORDINAL_DAY.search(found.group()) is not None  # "march 12th" is a date in any case
    return _on(_MONTHS[month.lower()] if certain else _month(month), day, last, year, reference)


def _foreign(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    day, month, year = found.groups()
    return _on(_FOREIGN_MONTHS[month.lower()], day, None, year, reference)


def _year_month_day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year, month, day = found.groups()
    return date(int(year), _MONTHS[month.lower()], int(day), reference.zone)


def _month_year(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return months(int(found.group(2)), _MONTHS[found.group(1).lower()], reference.zone)


def _month_alone(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, name = found.groups()
    month, today = _month(name), reference.today
    if month is None or today is None:
        return None
    around = [months(today.year + shift, month, reference.zone) for shift in (-1, 0, 1)]
    match which_shift(which):
        case -1:
            return max((span for span in around if span.end <= today), key=lambda span: span.start)
        case 1:
            return min((span for span in around if span.start > today), key=lambda span: span.start)
    return nearest(around, today.replace(day=1))


def _quarter_words(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    ordinal, unit, year, which, plain_year = found.groups()
    wanted, today = _ORDINALS[ordinal.lower()], reference.today
    year = year or plain_year
    named = full_year(year) if year else (today.year + which_shift(which) if which and today else None)
    if unit.lower() == "half":
        return half(named, min(wanted, 2), reference.zone) if named else None
    if named:
        return quarter(named, wanted, reference.zone)
    return nearest_quarter(wanted, reference) if ordinal.lower() not in ("last", "final") else None


def _year(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return years(int(found.group(1)), reference.zone)


def _decade(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return years(int(found.group(1)) * 10, reference.zone, 10)


RULES: tuple[Rule, ...] = (
    (_DAY_MONTH, _day_month), (_MONTH_DAY, _month_day), (_FOREIGN, _foreign),
    (_YEAR_MONTH_DAY, _year_month_day), (_MONTH_YEAR, _month_year),
    (_MONTH_ALONE, _month_alone), (_MONTH_WHICH, _month_alone), (_QUARTER_WORDS, _quarter_words),
    (_YEAR, _year), (_DECADE, _decade),
)  # fmt: skip
