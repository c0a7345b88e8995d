"""The text of one HTML block while it is gathered, and the block it becomes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from pydantic import JsonValue

from ingest.model import Cell, ElementKind

_TO_BLANK = {ord(char): " " for char in "\n\t\f\v"} | {0xAD: None}  # soft hyphens are not read
_BLANKS = re.compile(r"[^\S\n]+")
_AROUND_BREAK = re.compile(r" ?\n ?")
_WHOLE_CODE = 4000  # characters of code that stay one block whatever blank lines it holds


class Block(NamedTuple):
    """A piece of a page that stands by itself; fields as in ``Element``, lines 1-based.

    ``headings`` are those above it, outermost first.
    """

    kind: ElementKind
    text: str
    line_start: int
    line_end: int
    level: int = 0
    headings: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    metadata: dict[str, JsonValue] = {}  # noqa: RUF012  shared default is never written


class TextRun:
    """Text between two block boundaries.

    Attributes:
        preformatted: spaces and line breaks count.
        pictures: alternative texts met on the way, each with its first and last line.
        links: absolute addresses of the links in it.
        fields: form values in it by name.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._marks: list[tuple[int, int]] = []  # of each preformatted part: offset, line less breaks before
        self._length = self._newlines = 0
        self._first = self._last = 0
        self._just_broken = False
        self._annotation: list[str] = []
        self._chosen_from: tuple[str, int] | None = None
        self.preformatted = False
        self.pictures: list[tuple[str, int, int]] = []
        self.links: list[str] = []
        self.fields: dict[str, str] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read in it."""
        return not self._first and not self.pictures

    def add(self, data: str, line: int) -> None:
        """Add running text that begins on a line."""
        shown = data.strip()
        if shown:
            start = data.index(shown[0])
            self._reach(line + data.count("\n", 0, start), line + data.count("\n", 0, start + len(shown)))
        if shown or self._parts:
            self._parts.append(data.translate(_TO_BLANK))

    def add_shown(self, value: str, first: int, last: int) -> None:
        """Add what an element shows that is no text of the source: a form value, an alternative text."""
        if value:
            self._reach(first, last)
            self._parts.append(f" {value} ")

    def add_preformatted(self, data: str, line: int) -> None:
        """Add text whose spaces and line breaks count."""
        self.preformatted = True
        self._marks.append((self._length, line - self._newlines))
        self._length += len(data)
        self._newlines += data.count("\n")
        self._parts.append(data)
        if data.strip():
            self._reach(line, line + data.count("\n"))

    def add_break(self) -> bool:
        """Add a line break; False when it follows another one, which divides paragraphs."""
        if self._just_broken and not self.preformatted:
            return False
        if self._first:
            self._parts.append("\n")
            self._length += 1
            self._newlines += 1
            self._just_broken = True
        return True

    def annotate(self, data: str, line: int) -> None:
        """Add the reading of a ruby base; it is shown after the base, in parentheses."""
        if data.strip():
            self._reach(line, line + data.rstrip().count("\n"))
            self._annotation.append(data.strip())

    def end_annotation(self) -> None:
        """End a ruby base."""
        if self._annotation:
            reading = "".join(self._annotation)
            self._parts.append(f"({reading})" if any(map(str.strip, self._parts)) else reading)
            self._annotation.clear()

    def choose(self, name: str) -> None:
        """Take the text that follows, up to ``end_choice``, for the value of a form field."""
        self._chosen_from = (name, len(self._parts))

    def end_choice(self) -> None:
        """End the text that began with ``choose``."""
        if self._chosen_from:
            name, start = self._chosen_from
            self.fields[name] = " ".join("".join(self._parts[start:]).split())
        self._chosen_from = None

    def read(self) -> tuple[str, int, int]:
        """Return running text with its first and last line."""
        self.end_annotation()
        text = _AROUND_BREAK.sub("\n", _BLANKS.sub(" ", "".join(self._parts))).strip()
        return text, self._first, self._last

    def paragraphs(self, is_code: bool) -> Iterator[tuple[str, int, int]]:
        """Yield preformatted text, divided at blank lines unless it is code of modest length."""
        self.end_annotation()
        lines = "".join(self._parts).split("\n")
        offsets = [0, *accumulate(len(line) + 1 for line in lines)]
        for first, last in _runs(lines, self._length if is_code else 0):
            text = "\n".join(line.rstrip() for line in lines[first : last + 1])
            yield text, self._line_of(first, offsets), self._line_of(last, offsets)

    def _line_of(self, index: int, offsets: list[int]) -> int:
        """Return the source line of a line of the preformatted text."""
        _, base = self._marks[max(bisect_right(self._marks, (offsets[index], 1 << 60)) - 1, 0)]
        return base + index

    def _reach(self, first: int, last: int) -> None:
        self._first = self._first or first
        self._last = max(self._last, last)
        self._just_broken = False


def _runs(lines: list[str], code_length: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) index of each stretch of lines that stays together."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if 0 < code_length <= _WHOLE_CODE and filled:
        yield filled[0], filled[-1]
        return
    first = None
    for index, following in zip(filled, [*filled[1:], -1], strict=True):
        first = index if first is None else first
        if following != index + 1:
            yield first, index
            first = None
