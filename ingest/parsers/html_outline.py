"""Where in the outline of a page a block stands, and what that makes of it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ingest.model import ElementKind
from ingest.parsers.html_stack import HEADINGS, LISTS
from ingest.parsers.html_text import TextRun

_KINDS = (
    ("title", ElementKind.TITLE),
    ("caption", ElementKind.CAPTION),
    ("figcaption", ElementKind.CAPTION),
    ("nav", ElementKind.HEADER),
)
_PATH_TEXT = 160  # characters of a heading in the path of what follows


class Outline:
    """The headings above the current place and the numbers of the lists around it."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._numbers: list[int] = []  # of each open list the last item, -1 where items have none

    def enter_list(self, name: str, start: str) -> None:
        """Open a list; ``start`` is the number of its first item, as written."""
        first = int(start) if start.isdecimal() and len(start) < 9 else 1
        self._numbers.append(first - 1 if name == "ol" else -1)

    def leave_list(self) -> None:
        """Close the innermost list."""
        if self._numbers:
            self._numbers.pop()

    def enter_item(self) -> None:
        """Begin the next item of the innermost list."""
        if self._numbers and self._numbers[-1] >= 0:
            self._numbers[-1] += 1

    def add_heading(self, level: int, text: str) -> None:
        """Put a heading above what follows."""
        self._path = [*self._above(level), (level, text[:_PATH_TEXT])]

    def headings(self, level: int = 0) -> tuple[str, ...]:
        """Return the headings above this place; for a heading pass its level."""
        return tuple(text for _, text in (self._above(level) if level else self._path))

    def metadata(self, kind: ElementKind, run: TextRun, is_quoted: bool) -> dict[str, JsonValue]:
        """Return what else is known of a block."""
        found: dict[str, JsonValue] = {}
        if run.links:
            found["links"] = list(run.links)
        if run.fields:
            found["fields"] = dict(run.fields)
        if is_quoted:
            found["quoted"] = True
        if kind is ElementKind.LIST_ITEM and self._numbers and self._numbers[-1] > 0:
            found["number"] = self._numbers[-1]
        return found

    def _above(self, level: int) -> list[tuple[int, str]]:
        return [(other, text) for other, text in self._path if other < level]


def kind_of(opened: Mapping[str, int], has_fields: bool, is_code: bool) -> tuple[ElementKind, int]:
    """Return what text inside these open elements is, and its level."""
    heading = max((name for name in HEADINGS if opened[name]), default="")
    if heading:
        return ElementKind.HEADING, int(heading[1])
    for name, kind in _KINDS:
        if opened[name]:
            return kind, 0
    if has_fields:
        return ElementKind.FORM_FIELD, 0
    if is_code:
        return ElementKind.CODE, 0
    if opened["footer"] and not opened["article"] and not opened["blockquote"]:
        return ElementKind.FOOTER, 0
    depth = sum(opened[name] for name in LISTS)
    return (ElementKind.LIST_ITEM, depth) if depth else (ElementKind.PARAGRAPH, 0)
