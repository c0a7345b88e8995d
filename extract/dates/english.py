"""Relative dates in English words: yesterday, last week, next Friday, in two weeks, three days ago."""

from __future__ import annotations

import re

from extract.dates.calendar import Reference, Rule, days, number, shifted, stretch, weekday
from extract.dates.months import WEEKDAYS, WHICH, alternatives, phrase, which_shift
from extract.model import TimeSpan

_W = rf"({alternatives(WEEKDAYS)})\b\.?"
_FULL = rf"({alternatives(word for word in WEEKDAYS if len(word) > 5)})"
_NUMBER = (
    r"(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?couple(?: of)?)"
)
_UNIT = r"(day|week|fortnight|month|quarter|year)s?"

_DAYS = phrase(
    r"(the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|last night"
    r"|this (?:morning|afternoon|evening))\b"
)
_WHICH_UNIT = phrase(rf"(?:the\s+)?(?:end of\s+)?{WHICH}\s+(week|weekend|month|quarter|year)\b(?!-)")
_WEEK_AFTER = phrase(r"the (week|month|year|weekend) (after next|before last)\b")
_END_OF = phrase(r"(?:by|before|until|at) (?:the )?end of (?:the )?(day|week|month|quarter|year)\b")
_WHICH_WEEKDAY = phrase(rf"{WHICH}\s+{_W}(?:\s+(?:morning|afternoon|evening|night))?\b")
_WEEKDAY_WHICH = phrase(rf"(?:on\s+)?{_W}\s+(?:of\s+)?(last|next|this)\s+week\b")
_WEEKDAY = phrase(
    rf"(?:by|on|until|till|before|due|after|since|from)\s+{_FULL}(?!s)(?:\s+(?:morning|afternoon|evening|night))?(?!['’]s)\b"
)
_AGO = phrase(rf"{_NUMBER}\s+{_UNIT}\s+(ago|from now|from today)\b")
_IN = phrase(rf"(?:in|within)\s+(?:the next\s+)?{_NUMBER}\s+{_UNIT}(?:['’]s?)?(?:\s+time)?\b(?!\s+of\b)")
_SPAN = phrase(rf"(?:the\s+)?(last|past|previous|next|coming)\s+{_NUMBER}\s+{_UNIT}\b")


def _relative_day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    shift = {
        "the day before yesterday": -2,
        "the day after tomorrow": 2,
        "yesterday": -1,
        "last night": -1,
        "tomorrow": 1,
    }
    return shifted(reference.today, shift.get(found.group(1).lower(), 0), "day") if reference.today else None


def _which_unit(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, unit = found.groups()
    return _unit(unit.lower(), which_shift(which), reference)


def _unit(unit: str, shift: int, reference: Reference) -> TimeSpan | None:
    today = reference.today
    if today is None:
        return None
    if unit == "weekend":
        return days(weekday(today, 5, shift).start, 2)
    return shifted(today, shift, unit)


def _week_after(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return _unit(found.group(1).lower(), 2 if found.group(2).lower() == "after next" else -2, reference)


def _end_of(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return _unit(found.group(1).lower(), 0, reference)


def _which_weekday(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    """Last Friday is the one before today; this one lies in this week, next one in the following week."""
    which, name = found.groups()
    today, day = reference.today, WEEKDAYS[name.lower().rstrip(".")]
    if today is None:
        return None
    match which_shift(which):
        case -1:
            return weekday(today, day, 0 if day < today.weekday() else -1)
        case 1 if which.lower().endswith(("coming", "upcoming")):
            return weekday(today, day, 0 if day > today.weekday() else 1)
        case shift:
            return weekday(today, day, shift)


def _weekday_which(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    name, which = found.groups()
    today = reference.today
    return weekday(today, WEEKDAYS[name.lower().rstrip(".")], which_shift(which)) if today else None


def _bare_weekday(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    ahead = found.group().lower().startswith(("by", "until", "till", "before", "due"))
    return directed_weekday(WEEKDAYS[found.group(1).lower()], 1 if ahead else reference.direction, reference)


def directed_weekday(day: int, direction: int, reference: Reference) -> TimeSpan | None:
    """Return the nearest such day ahead (today included) or behind; None where the direction is unknown."""
    today = reference.today
    if today is None or direction == 0:
        return None
    if direction > 0:
        return weekday(today, day, 0 if day >= today.weekday() else 1)
    return weekday(today, day, 0 if day < today.weekday() else -1)


def _counted(count: str, unit: str, sign: int) -> tuple[int, str] | None:
    value, unit = number(count), unit.lower()
    if value is None:
        return None
    return (value * 2 * sign, "week") if unit == "fortnight" else (value * sign, unit)


def _ago(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    count, unit, where = found.groups()
    steps = _counted(count, unit, -1 if where.lower() == "ago" else 1)
    return shifted(reference.today, *steps) if steps and reference.today else None


def _in(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    # "It was built in two weeks" tells how long, not when.
    steps = _counted(found.group(1), found.group(2), 1) if reference.direction >= 0 else None
    return shifted(reference.today, *steps) if steps and reference.today else None


def _span(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, count, unit = found.groups()
    steps = _counted(count, unit, which_shift(which))
    return stretch(reference.today, *steps) if steps and reference.today else None


RULES: tuple[Rule, ...] = (
    (_DAYS, _relative_day), (_WHICH_UNIT, _which_unit), (_WEEK_AFTER, _week_after), (_END_OF, _end_of),
    (_WHICH_WEEKDAY, _which_weekday), (_WEEKDAY_WHICH, _weekday_which), (_WEEKDAY, _bare_weekday),
    (_AGO, _ago), (_IN, _in), (_SPAN, _span),
)  # fmt: skip
