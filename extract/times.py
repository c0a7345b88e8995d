"""When a sentence says something happens, resolved against the source's own date, never against now.

Relative words ("last week", "下周五") need the date the source was said or written; without one they stay
unresolved. The original words are kept in ``TimeSpan.expression``. The rules:

- A day without a year ("March 12") is the one closest to the source's date; so is a month or quarter.
- 3/12/2024 is read month first, or day first when the text shows an unambiguous day-first date, when its
  language is not English, or when a number is above 12. Dots (3.12.2024) are always day first.
- "last Friday" is the one before the source's day, "this Friday" lies in its week (Monday to Sunday),
  "next Friday" and "下周五" in the following week. "on Friday" follows the sentence: ahead with will, due,
  by …, behind with a past verb, else unresolved.
- "in two weeks" is the week that holds that day, "two months ago" the month, "in 3 days" the day.

dateparser was measured and not used: it reads "We" as Wednesday, "6月14日" as a day in August, knows no
quarters, and takes 1.4 ms a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from extract.dates import chinese, chinese_relative, english, months, numeric
from extract.dates.calendar import DateOrder, Reference, minute, number
from extract.model import Granularity, TimeSpan

_LATIN_RULES = (*numeric.RULES, *months.RULES, *english.RULES)
_CHINESE_RULES = (*chinese.RULES, *chinese_relative.RULES)
_HINT = re.compile(
    r"\d|days?\b|week|month|year|quarter|tonight|tomorrow|\b(?:first|second|third|fourth|last) half"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_CHINESE_HINT = re.compile("[年月日天号號周週末晚早夜晨]|星期|礼拜|季度")
_HAN = re.compile("[一-鿿]")
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|gonna|plan|plans|planned|due|deadline|should|must|needs? to|want to|let['’]?s"
    r"|upcoming|moved?|postponed?|(?:re)?schedul\w+|agreed|set for|pushed?|delay\w*|booked|finish|deliver)\b"
    r"|['’]ll\b"
    r"|[将要会请需]|截止|之前|推迟|提前|改到|安排|计划|务必|前完成",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\b(?:was|were|had|did|went|came|got|said|met|took|made|saw|gave|found|sent|told|bought|left|ran|ate|won|lost"
    r"|[a-z]{3,}ed)\b|[了过過]|已经?|曾",
    re.IGNORECASE,
)
_CLOCK_AFTER = re.compile(
    r"(?:\s*[（(](?:周|星期|礼拜)?[一二三四五六日天月火水木金土](?:曜日?)?[)）])?(?:\s*(?:,|at|@|from|around|T|的|に)?\s*)(?:(凌晨|早上|上午|中午|下午|傍晚|晚上|午前|午後|夜)?\s*"
    r"(\d{1,2}|[一二三四五六七八九十]{1,3})(?:[:：点點時时](?:(\d{2})(?!\d)|(半)|(\d{1,2})分)?)(?::(\d{2}))?"
    r"|(\d{1,2})(?=\s*[ap]\.?m))\s*([ap])?(?:\.?m\b\.?)?",
    re.IGNORECASE,
)
_CLOCK_BEFORE = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::(\d{2}))?\s*(?:([ap])\.?m\.?)?\s*(?:,|on|\s)\s*(?:the\s+)?$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:-|–|—|~|to|until|till|through|至|到|から)\s*", re.IGNORECASE)


class TimeMention(NamedTuple):
    """A time expression in a text: ``text[start:end]``; ``span`` is None when it cannot be resolved."""

    start: int
    end: int
    span: TimeSpan | None


def find_times(text: str, at: datetime | None, order: DateOrder = DateOrder.MONTH_FIRST) -> list[TimeMention]:
    """Return the time expressions of a text in order, without overlaps.

    Args:
        text: a sentence, or a few; direction words count for the whole of it.
        at: when the text was said or written, or None. A naive time counts as UTC.
        order: how 3/12/2024 is read.
    """
    latin = _HINT.search(text) is not None
    han = _CHINESE_HINT.search(text) is not None
    if not latin and not han:
        return []
    reference = Reference(at=at, order=order, direction=_direction(text))
    found = sorted(
        _matches(text, reference, latin, han), key=lambda one: (one.start, -one.end, one.span is None)
    )
    kept: list[TimeMention] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(_with_clock(text, one))
    return _join_ranges(text, kept)


def date_order(text: str, language: str) -> DateOrder:
    """Return how the ambiguous dates of a text in this language are read."""
    usual = DateOrder.MONTH_FIRST if language in ("en", "und") else DateOrder.DAY_FIRST
    return numeric.infer_order(text, usual)


def _direction(text: str) -> int:
    if _AHEAD.search(text):
        return 1
    return -1 if _BEHIND.search(text) else 0


def _matches(text: str, reference: Reference, latin: bool, han: bool) -> Iterator[TimeMention]:
    rules = (_LATIN_RULES if latin else ()) + (_CHINESE_RULES if han and _HAN.search(text) else ())
    for pattern, resolve in rules:
        for found in pattern.finditer(text):
            span = resolve(found, reference)
            if span is not None:
                span = span.model_copy(update={"expression": found.group().strip(" (,.")})
            yield TimeMention(found.start(), found.end(), span)


def _with_clock(text: str, mention: TimeMention) -> TimeMention:
    """Take a time of day standing beside a day into the mention."""
    span = mention.span
    if span is None or span.granularity is not Granularity.DAY or span.end - span.start > timedelta(days=1):
        return mention
    after = _CLOCK_AFTER.match(text, mention.end)
    if after is not None:
        part, hour, two, half, one, _, plain, half_day = after.groups()
        clock = _clock(hour or plain, "30" if half else two or one, part, half_day)
        if clock is not None:
            return _timed(text, mention.start, after.end(), span, clock)
    before = _CLOCK_BEFORE.search(text, max(0, mention.start - 24), mention.start)
    if before is not None and (before.group(2) or before.group(3)):
        clock = _clock(before.group(1), before.group(2), None, before.group(3))
        if clock is not None:
            return _timed(text, before.start(), mention.end, span, clock)
    return mention


def _clock(
    hour_text: str, minute_text: str | None, part: str | None, half_day: str | None
) -> timedelta | None:
    hour, minutes = number(hour_text), number(minute_text or "0")
    if hour is None or minutes is None or hour > 24 or minutes > 59:
        return None
    if hour < 12 and ((half_day or "").lower() == "p" or part in ("下午", "傍晚", "晚上", "午後", "夜")):
        hour += 12
    if hour == 12 and (half_day or "").lower() == "a":
        hour = 0
    return timedelta(hours=hour, minutes=minutes)


def _timed(text: str, start: int, end: int, day: TimeSpan, clock: timedelta) -> TimeMention:
    span = minute(day.start + clock).model_copy(update={"expression": text[start:end].strip()})
    return TimeMention(start, end, span)


def _join_ranges(text: str, mentions: list[TimeMention]) -> list[TimeMention]:
    """Make one mention of "from 3 March to 5 April"."""
    joined: list[TimeMention] = []
    for one in mentions:
        last = joined[-1] if joined else None
        if (
            last
            and last.span
            and one.span
            and last.span.start < one.span.start
            and _BETWEEN.fullmatch(text, last.end, one.start)
        ):
            expression = text[last.start : one.end].strip()
            span = TimeSpan(
                start=last.span.start,
                end=one.span.end,
                granularity=one.span.granularity,
                expression=expression,
            )
            joined[-1] = TimeMention(last.start, one.end, span)
        else:
            joined.append(one)
    return joined
