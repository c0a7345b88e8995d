"""The dates of an episode and a fact: the sentence's own words resolved, else the source's date."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from extract.dates.calendar import DateOrder, days
from extract.model import Granularity, TimeSpan
from extract.phrases import say_span
from extract.times import find_times

_HAS_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)|[〇零一二三四五六七八九]{4}年|['’]\d\d")
# Words that already name the day, month or quarter: only the year is missing.
_NAMED = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?<![a-z])q[1-4]|\bquarter of|\d\s*月"
    r"|[一二三四五六七八九十]月|第.季度",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:last|next|this|past|coming|previous)\b|[去今明前后]年|[上下本这]", re.IGNORECASE
)
_MAX_NOTES = 3
_EXACTNESS = tuple(Granularity)


def talk_span(start: datetime, last: datetime) -> TimeSpan:
    """Return the stretch from the first to the last moment of a talk; a date without a clock is a day."""
    if start.time() == start.time().min and last == start:
        return day_span(start)
    end = max(start, last) + timedelta(minutes=1)
    return TimeSpan(start=start, end=end, granularity=Granularity.MINUTE)


def day_span(moment: datetime) -> TimeSpan:
    """Return the day that holds a moment."""
    return days(moment.replace(hour=0, minute=0, second=0, microsecond=0))


def annotate(said: str, at: datetime | None, order: DateOrder, language: str) -> tuple[str, TimeSpan | None]:
    """Return a statement with the resolved date in brackets behind each relative one, and its own time.

    "We shipped last week." said on 12 March 2024 becomes "We shipped last week [4–10 March 2024]."; a named
    day gets its year ("June 14 [2024]"), today gets nothing. The most exact expression is the time of the
    statement. One that names several equally exact times ("moved from June 30 to July 14") happens at none of
    them but when it is said; only where that is not known, the first counts.
    """
    spans: list[TimeSpan] = []
    text, grown = said, 0
    for mention in find_times(said, at, order):
        if mention.span is None:
            continue
        spans.append(mention.span)
        expression = said[mention.start : mention.end].rstrip(" .,")
        note = _note(expression, mention.span, at, language) if len(spans) <= _MAX_NOTES else ""
        end = mention.start + len(expression) + grown
        text = text[:end] + note + text[end:]
        grown += len(note)
    return text, _own_time(spans, at)


def _own_time(spans: list[TimeSpan], at: datetime | None) -> TimeSpan | None:
    if not spans:
        return None
    exactest = min(_EXACTNESS.index(span.granularity) for span in spans)
    named = [span for span in spans if _EXACTNESS.index(span.granularity) == exactest]
    several = len({(span.start, span.end) for span in named}) > 1
    return None if several and at is not None else named[0]


def _note(expression: str, span: TimeSpan, at: datetime | None, language: str) -> str:
    if _HAS_YEAR.search(expression):
        return ""
    exact = span.granularity in (Granularity.DAY, Granularity.MINUTE)
    if exact and at is not None and span.start.date() == at.date():
        return ""
    if _NAMED.search(expression) and not _RELATIVE.search(expression):
        words = f"{span.start.year}年" if language == "zh" else str(span.start.year)
    else:
        words = say_span(span, language)
    return f"（{words}）" if language == "zh" else f" [{words}]"
