"""Gutters: the white strips from top to bottom that no line of some rows touches."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from ingest.parsers.page_lines import Line

Strip: TypeAlias = tuple[float, float]
"""From x to x."""


def gutters_of(rows: Sequence[Sequence[Line]]) -> list[Strip]:
    """Return the white strips that no line of ``rows`` touches, from left to right."""
    if len(rows) == 1 and len(rows[0]) == 1:
        return []
    cover = Cover()
    for row in rows:
        cover.add(row)
    return cover.gutters()


class Cover:
    """What some rows leave white between them, kept up to date row by row."""

    def __init__(self) -> None:
        self._sizes: list[float] = []
        self._covered: list[Strip] = []

    def add(self, row: Iterable[Line]) -> None:
        """Take in the lines of a row."""
        for line in row:
            insort(self._sizes, line.size)
            left, right = line.box[0], line.box[2]
            first = bisect_left(self._covered, left, key=_right)
            last = first
            while last < len(self._covered) and self._covered[last][0] <= right:
                left, right = min(left, self._covered[last][0]), max(right, self._covered[last][1])
                last += 1
            self._covered[first:last] = [(left, right)]

    def gutters(self) -> list[Strip]:
        """Return the strips that no line touches and that are wide enough to be meant, from left to right."""
        if len(self._covered) < 2:
            return []
        least = 0.7 * _median(self._sizes)
        return [(left[1], right[0]) for left, right in pairwise(self._covered) if right[0] - left[1] >= least]


def _right(strip: Strip) -> float:
    return strip[1]


def _median(ordered: Sequence[float]) -> float:
    """Return the median of sorted values."""
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
