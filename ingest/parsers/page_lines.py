"""Lines of text on a page, the common ground of text layers and OCR.

A ``Line`` stands in a *reading frame*: the page turned so that its text runs from left to right and its
lines follow each other downwards. ``place`` keeps where it stands on the page as shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1 from the top left corner."""

# Fullwidth forms, CJK ideographs, kana, bopomofo: scripts written without blanks between words.
_NO_BLANKS = re.compile("[\u3000-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60]")
# Blocks of scripts written from right to left: a text without them need not be looked at letter by letter.
_RTL = re.compile("[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
_BULLETS = "•‣◦▪▫■□●○◆◇►▶➢➤✓✔❖⁃∙·*–—-"
_MARKER = re.compile(
    rf"(?:[{re.escape(_BULLETS)}]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivxlcIVXLC]{{1,5}})[.)]|\.?\d{{1,2}}(?:\.\d{{1,2}}){{1,4}}\.?|\.\d{{1,2}})"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A run of text on one baseline.

    Attributes:
        text: its characters in logical order, runs of blanks collapsed; a blank at an edge is kept, it
            tells that the next piece on the same baseline is another word.
        box: bounds in the reading frame.
        place: bounds on the page as shown.
        size: font size, in the unit of ``box``.
        order: position in which the source draws it; -1 where there is no such thing (OCR).
        table: index of the ruled table this line stands for, None for text.
    """

    text: str
    box: Box
    place: Box
    size: float
    bold: bool = False
    order: int = -1
    table: int | None = None


def rounded(box: Box) -> Box:
    """Round a box to hundredths of a point."""
    x0, y0, x1, y1 = (round(value, 2) for value in box)
    return x0, y0, x1, y1


def hull(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all of ``boxes`` (at least one)."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def contains(outer: Box, inner: Box, slack: float = 1.0) -> bool:
    """Tell whether the centre of ``inner`` lies in ``outer``, which is widened by ``slack``."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - slack <= x <= outer[2] + slack and outer[1] - slack <= y <= outer[3] + slack


def fold(text: str) -> str:
    """Return a text as texts are compared: case and blanks do not count."""
    return "".join(text.casefold().split())


def is_marker(text: str) -> bool:
    """Tell whether a text is nothing but the label of a list item: a bullet, "3.", "(a)", "2.1"."""
    return _MARKER.fullmatch(text.strip()) is not None


def split_marker(text: str) -> tuple[str, str]:
    """Split a list item into its label and its text; the label is "" where there is none."""
    match = _MARKER.match(text)
    rest = text[match.end() :] if match else ""
    if match is None or not rest.startswith(" ") or not rest[1:2].strip(_BULLETS):
        return "", text
    return match.group(), rest.lstrip()


def is_rtl(text: str) -> bool:
    """Tell whether most letters of a text are written from right to left."""
    if _RTL.search(text) is None:
        return False
    directions = [unicodedata.bidirectional(char) for char in text if char.isalpha()]
    return sum(direction in ("R", "AL") for direction in directions) * 2 > len(directions)


def glue(left: str, right: str) -> str:
    """Join two stretches of one text with a blank, or without where the script has none."""
    left, right = left.rstrip(), right.lstrip()
    if not left or not right:
        return left + right
    if _NO_BLANKS.match(left[-1]) and _NO_BLANKS.match(right[0]):
        return left + right
    return f"{left} {right}"


def join_row(lines: Sequence[Line]) -> Line:
    """Join pieces that stand on one baseline, in the direction their script is read."""
    if len(lines) == 1:
        return lines[0]
    rtl = is_rtl("".join(line.text for line in lines))
    ordered = sorted(lines, key=lambda line: -line.box[2] if rtl else line.box[0])
    text = ""
    previous: Line | None = None
    for line in ordered:
        apart = rtl and text.startswith(" ")  # right-to-left runs may carry their blank on the wrong edge
        together = previous and _touch(previous, line) and not apart
        text = f"{text}{line.text}" if together else glue(text, line.text)
        previous = line
    widest = max(ordered, key=lambda line: line.box[2] - line.box[0])
    return replace(
        widest,
        text=text,
        box=hull(line.box for line in ordered),
        place=hull(line.place for line in ordered),
        bold=all(line.bold for line in ordered),
        order=min(line.order for line in ordered),
    )


def _touch(one: Line, other: Line) -> bool:
    gap = max(one.box[0], other.box[0]) - min(one.box[2], other.box[2])
    return gap < 0.12 * min(one.size, other.size)


def rows_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Gather lines that share a baseline into rows, from top to bottom, each from left to right.

    Two lines share a row when the middles of both lie within the height of the other: leading that lets
    boxes of neighbouring rows overlap does not join them.
    """
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: ((line.box[1] + line.box[3]) / 2, line.box[0])):
        if rows and _same_row(rows[-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda line: line.box[0])
    return rows


def _same_row(row: list[Line], line: Line) -> bool:
    if len(row) == 1:
        _, top, _, bottom = row[0].box
    else:
        top, bottom = median(item.box[1] for item in row), median(item.box[3] for item in row)
    middle, own = (top + bottom) / 2, (line.box[1] + line.box[3]) / 2
    return top < own < bottom and line.box[1] < middle < line.box[3]


def stack(lines: Sequence[Line]) -> Line:
    """Join lines that follow each other downwards into one."""
    text = ""
    for line in lines:
        text = glue(text, line.text)
    return replace(
        lines[0],
        text=text,
        box=hull(line.box for line in lines),
        place=hull(line.place for line in lines),
        bold=all(line.bold for line in lines),
    )
