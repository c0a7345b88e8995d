"""From lines in reading order to paragraphs: where one ends, and how its lines are joined."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest.parsers.page_lines import Box, Line, glue, hull, is_rtl, split_marker

SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？", "：")
"""Characters after which a sentence does not go on."""

_SOFT_HYPHEN = "\u00ad"
_HYPHENS = ("-", "\u2010", _SOFT_HYPHEN)
_LAST_PART = re.compile(r"[^\W\d_]{2,}[-\u2010]$")
_FIRST_PART = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading or a list item.

    Attributes:
        lines: its lines from top to bottom, all of one size and weight.
        text: the lines joined.
        aside: it runs in another direction than the page's text (a stamp, a note in the margin).
    """

    lines: tuple[Line, ...]
    text: str
    aside: bool = False

    @property
    def place(self) -> Box:
        """Bounds on the page as shown."""
        return hull(line.place for line in self.lines)

    @property
    def box(self) -> Box:
        """Bounds in the reading frame."""
        return hull(line.box for line in self.lines)

    @property
    def size(self) -> float:
        """Font size of most lines."""
        return median(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        """Whether all of it is set in bold."""
        return all(line.bold for line in self.lines)


def paragraphs(lines: Sequence[Line], words: Container[str] = frozenset()) -> Iterator[Block]:
    """Split lines that follow each other into paragraphs.

    Args:
        lines: from top to bottom, one per row.
        words: lower-case words of the document; they settle whether a hyphen at a line's end belongs to
            the word ("well-known") or only to the line break ("infor-mation").
    """
    if not lines:
        return
    left, _, right, _ = hull(line.box for line in lines)
    pitch = _pitch(lines)
    start = 0
    for index in range(1, len(lines)):
        if _breaks(lines[start:index], lines[index], (left, right), pitch):
            yield _block(lines[start:index], words)
            start = index
    yield _block(lines[start:], words)


def _pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance between the bottoms of two neighbouring lines, in font sizes."""
    steps = [
        (lower.box[3] - upper.box[3]) / max(upper.size, 1)
        for upper, lower in pairwise(lines)
        if 0.5 < (lower.box[3] - upper.box[3]) / max(upper.size, 1) < 3
    ]
    # The lower quartile: a page of one-line paragraphs must not take their spacing for line spacing.
    return sorted(steps)[len(steps) // 4] if steps else 1.2


def _breaks(block: Sequence[Line], line: Line, edges: tuple[float, float], pitch: float) -> bool:
    """Tell whether ``line`` starts a paragraph of its own."""
    last = block[-1]
    step = (line.box[3] - last.box[3]) / max(last.size, 1)
    if step > pitch * 1.3 + 0.05 or step <= 0:
        return True
    if abs(line.size - last.size) > 0.1 * last.size or line.bold != last.bold:
        return True
    if split_marker(line.text.strip())[0]:
        return True
    return _ends_short(block, line, edges)


def _ends_short(block: Sequence[Line], line: Line, edges: tuple[float, float]) -> bool:
    """Tell whether the last line of ``block`` ends early although the next word would have fitted."""
    last = block[-1]
    rtl = is_rtl(last.text)
    start, room = (
        (edges[1] - last.box[2], last.box[0] - edges[0])
        if rtl
        else (last.box[0] - edges[0], edges[1] - last.box[2])
    )
    indent = (last.box[2] - line.box[2]) if rtl else (line.box[0] - last.box[0])
    width = edges[1] - edges[0]
    word = line.text.split(maxsplit=1)[0] if line.text.strip() else ""
    per_char = (line.box[2] - line.box[0]) / max(len(line.text), 1)
    fits = room > (len(word) + 1) * per_char + 0.04 * width
    if fits and (room > 0.15 * width) and not _continues(last.text, line.text):
        return True
    has_label = bool(split_marker(block[0].text.strip())[0])
    return (
        indent > 1.0 * line.size
        and start < line.size
        and not has_label
        and not _continues(last.text, line.text)
    )


def _continues(upper: str, lower: str) -> bool:
    """Tell whether a sentence runs on: no full stop above, a small letter below."""
    return not upper.rstrip().endswith(SENTENCE_ENDS) and lower.lstrip()[:1].islower()


def _block(lines: Sequence[Line], words: Container[str]) -> Block:
    text = ""
    for line in lines:
        text = join_lines(text, line.text, words)
    return Block(tuple(lines), text.strip().replace(_SOFT_HYPHEN, ""))


def join_lines(upper: str, lower: str, words: Container[str] = frozenset()) -> str:
    """Join two lines of a paragraph, undoing a word break.

    A soft hyphen always goes. A hyphen between two letters of which the second is small goes unless
    the word with its hyphen is known and the word without it is not.
    """
    upper, lower = upper.rstrip(), lower.lstrip()
    if not upper.endswith(_HYPHENS):
        return glue(upper, lower)
    if upper.endswith(_SOFT_HYPHEN):
        return upper[:-1] + lower
    head, tail = _LAST_PART.search(upper), _FIRST_PART.match(lower)
    if head is None or tail is None:
        return upper + lower if upper[-2:-1].isalnum() and lower[:1].isalnum() else glue(upper, lower)
    first, second = head.group()[:-1], tail.group()
    compound = f"{first}-{second}".lower() in words and (first + second).lower() not in words
    if compound or not second[0].islower() or upper[: head.start()].endswith("-"):
        return upper + lower
    return upper[:-1] + lower
