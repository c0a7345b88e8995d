"""Running heads and feet: lines that stand in the same margin of neighbouring pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ingest.parsers.page_lines import Box, Line, fold, join_row, rows_of

_BAND = 0.12
_MAX_ROWS = 4
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")

Key: TypeAlias = tuple[bool, str]
"""(at the top, text without its numbers)."""


@dataclass(frozen=True, slots=True)
class Margins:
    """Lines of a page that may be its running head or foot, with what they are compared by."""

    rows: tuple[tuple[Key, tuple[Line, ...]], ...]

    def keys(self) -> set[Key]:
        """Return what the lines are compared by."""
        return {key for key, _ in self.rows}


def margin_rows(lines: Iterable[Line], aside: Iterable[Line], frame: Box, body: float) -> Margins:
    """Return the outermost rows of text in the top and bottom margin, and what stands at the sides.

    Args:
        lines: of one page, in its reading frame.
        aside: lines that run in another direction.
        frame: the page in the frame of ``lines``.
        body: size of body type, 0 if unknown; much larger type is a title and no running head.
    """
    height = frame[3] - frame[1]
    rows = [row for row in rows_of(lines) if all(line.table is None for line in row)]
    top = [row for row in rows[:_MAX_ROWS] if max(line.box[3] for line in row) < frame[1] + _BAND * height]
    foot = [row for row in rows[-_MAX_ROWS:] if min(line.box[1] for line in row) > frame[3] - _BAND * height]
    found = [(at_top, row) for at_top, part in ((True, top), (False, foot)) for row in part]
    found += [(False, [line]) for line in aside]
    return Margins(
        tuple(
            ((at_top, _NUMBER.sub("#", fold(join_row(row).text))), tuple(row))
            for at_top, row in found
            if not body or max(line.size for line in row) < 1.4 * body
        )
    )


def running(margins: Margins, neighbours: Iterable[Margins]) -> list[tuple[Key, tuple[Line, ...]]]:
    """Return the rows that neighbouring pages repeat: on two of them, or on the only one there is."""
    others = [other.keys() for other in neighbours]
    least = min(2, len(others))
    return [(key, row) for key, row in margins.rows if least and sum(key in keys for keys in others) >= least]
