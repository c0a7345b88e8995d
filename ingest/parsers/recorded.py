"""When a recording began, from what its file and its name tell."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import NamedTuple

_DATE = r"(?P<year>(?:19|20)\d\d)(?P<gap>[-_/.]?)(?P<month>\d\d)(?P=gap)(?P<day>\d\d)"
_TIME = r"(?P<hour>[01]\d|2[0-3])[-_:.h]?(?P<minute>[0-5]\d)(?:[-_:.m]?(?P<second>[0-5]\d))?(?:[.,]\d+)?"
_ZONE = r"(?P<zone>\s?(?:Z|UTC|GMT)|\s?[+-]\d\d:?\d\d)?"
_MOMENT = re.compile(
    rf"(?<!\d)(?P<gmt>GMT)?{_DATE}(?:(?:[T\s_-]|\sat\s|,\s?){{1,3}}{_TIME}(?!\d){_ZONE})?(?!\d)"
)


class Moment(NamedTuple):
    """A point in time as a source tells it.

    Attributes:
        at: aware; UTC where no zone is told, midnight where no time is told.
        has_time: whether the time of day is told.
        has_zone: whether the zone is told.
    """

    at: datetime
    has_time: bool
    has_zone: bool


def find_moment(text: str) -> Moment | None:
    """Return the first date, with the time of day beside it, written year first in a text or file name."""
    for match in _MOMENT.finditer(text):
        parts = match.groupdict()
        zone = _zone("Z" if parts["gmt"] else (parts["zone"] or "").strip())
        try:
            day = date(int(parts["year"]), int(parts["month"]), int(parts["day"]))
            clock = time(int(parts["hour"] or 0), int(parts["minute"] or 0), int(parts["second"] or 0))
            at = datetime.combine(day, clock, zone or UTC)
            return Moment(at, bool(parts["hour"]), zone is not None)
        except ValueError:
            continue
    return None


def _zone(text: str) -> timezone | None:
    if text in ("Z", "UTC", "GMT"):
        return UTC
    if not text:
        return None
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes)) if minutes < 1440 else None
