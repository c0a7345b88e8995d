"""The block of named values between two lines of "---" that many Markdown files start with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

_FENCE = re.compile(r"\ufeff?---[ \t]*$")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*$")
_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?$")
_MOST_LINES = 200


class FrontMatter(NamedTuple):
    """Named values and the text after them.

    Attributes:
        fields: name, value as text, and 1-based line; the values of a list are joined by ", ".
        lines: how many lines the block takes, its fences included.
        body: the text after it.
    """

    fields: list[tuple[str, str, int]]
    lines: int
    body: str

    @property
    def title(self) -> str | None:
        """Return the value of "title"."""
        return self._value("title")

    @property
    def authors(self) -> tuple[str, ...]:
        """Return the values of "author" or "authors"."""
        names = self._value("authors") or self._value("author") or ""
        return tuple(name.strip() for name in names.split(",") if name.strip())

    @property
    def moment(self) -> datetime | None:
        """Return the value of "date" where it is an ISO 8601 date or time, in UTC unless it says."""
        try:
            moment = datetime.fromisoformat(self._value("date") or "")
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _value(self, name: str) -> str | None:
        return next((value for key, value, _ in self.fields if key.lower() == name and value), None)


def split_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text, None when it has none.

    The flat part of YAML is read: ``name: value`` and lists of plain values. Deeper structure stays as text.
    """
    lines = text.split("\n", _MOST_LINES)
    if not _FENCE.match(lines[0]):
        return None
    end = next((place for place in range(1, len(lines) - 1) if _END.match(lines[place])), None)
    if end is None:
        return None
    fields: list[tuple[str, str, int]] = []
    for number, line in enumerate(lines[1:end], start=2):
        found = _FIELD.match(line)
        if found:
            fields.append((found.group(1), _plain(found.group(2) or ""), number))
        elif fields and line.strip():
            name, value, first = fields[-1]
            more = _plain(line.strip().removeprefix("- "))
            fields[-1] = (name, f"{value}, {more}" if value else more, first)
    if not fields:
        return None
    return FrontMatter(fields, end + 1, "\n".join(lines[end + 1 :]))


def _plain(value: str) -> str:
    """Take quotes, block marks and the brackets of an inline list off a value."""
    value = value.strip()
    if value in (">", "|", ">-", "|-"):
        return ""
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(_plain(item) for item in value[1:-1].split(","))
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
