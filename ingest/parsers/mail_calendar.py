"""Calendar parts of a mail (iCalendar, RFC 5545): what, when, where and who, in readable words.

Content lines are read one by one: a broken property is passed over and loses nothing but itself, and each
value keeps its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.anchors import MailAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.html_tokens import unify_newlines

_LABELS = {
    "SUMMARY": "Summary", "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration",
    "RRULE": "Repeats", "LOCATION": "Location", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee",
    "STATUS": "Status", "CATEGORIES": "Categories", "URL": "Link", "COMMENT": "Comment",
}  # fmt: skip
_TIMES = frozenset({"DTSTART", "DTEND", "DUE"})
_PEOPLE = frozenset({"ORGANIZER", "ATTENDEE"})
_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_UNREAD = frozenset({"VTIMEZONE", "VALARM", "VFREEBUSY"})
_PARAMETER = r""";([\w-]+)=("[^"]*"|[^";:]*)"""
_LINE = re.compile(rf"([\w-]+)((?:{_PARAMETER})*):(.*)", re.DOTALL)
_PARAMETERS = re.compile(_PARAMETER)
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?")
_ESCAPED = re.compile(r"\\([nN\\;,])")


class _Property(NamedTuple):
    name: str
    parameters: dict[str, str]
    value: str
    line_start: int
    line_end: int


def read_calendar(text: str, part: str) -> Iterator[Piece]:
    """Yield the entries of a calendar part: one field a property, the description as a paragraph."""
    inside: list[str] = []
    for one in _properties(text):
        if one.name == "BEGIN":
            inside.append(one.value.strip().upper())
        elif one.name == "END":
            del inside[-1:]
        elif inside and inside[-1] in _ENTRIES and not _UNREAD.intersection(inside[-8:]):
            piece = _piece(one, part)
            if piece:
                yield piece


def _piece(one: _Property, part: str) -> Piece | None:
    anchor = MailAnchor(part=part, line_start=one.line_start, line_end=one.line_end)
    value = _ESCAPED.sub(lambda match: "\n" if match.group(1) in "nN" else match.group(1), one.value).strip()
    if one.name == "DESCRIPTION":
        return Piece(ElementKind.PARAGRAPH, value, anchor) if value else None
    if one.name in _TIMES:
        value = _when(value, one.parameters.get("TZID", ""))
    elif one.name in _PEOPLE:
        value = _person(value, one.parameters.get("CN", ""))
    label = _LABELS.get(one.name)
    if not (label and value):
        return None
    return Piece(ElementKind.FIELD, f"{label}: {value}", anchor, metadata={"field": label.lower()})


def _when(stamp: str, zone: str) -> str:
    match = _STAMP.fullmatch(stamp)
    if match is None:
        return stamp
    year, month, day, hour, minute, _, is_utc = match.groups()
    shown = f"{year}-{month}-{day}"
    if hour is None:
        return shown
    return " ".join(filter(None, (shown, f"{hour}:{minute}", "UTC" if is_utc else zone)))


def _person(address: str, name: str) -> str:
    address = re.sub("^mailto:", "", address, flags=re.IGNORECASE)
    return f"{name} <{address}>" if name and name != address else address


def _properties(text: str) -> Iterator[_Property]:
    """Yield the content lines, folded ones put together."""
    folded: list[str] = []
    start = 1
    for number, line in enumerate([*unify_newlines(text).split("\n"), ""], start=1):
        if folded and line.startswith((" ", "\t")):
            folded.append(line[1:])
            continue
        match = _LINE.fullmatch("".join(folded))
        if match:
            parameters = {
                name.upper(): value.strip('"') for name, value in _PARAMETERS.findall(match.group(2))
            }
            yield _Property(match.group(1).upper(), parameters, match.group(5), start, number - 1)
        folded, start = [line], number
