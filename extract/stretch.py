"""Text of several elements read as one, with the way back to them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from extract.scripts import glue
from ingest.anchors import Anchor
from ingest.model import Element


@dataclass(frozen=True, slots=True)
class Stretch:
    """Elements joined into running text; ``starts`` holds where each begins in it."""

    text: str
    elements: tuple[Element, ...]
    starts: tuple[int, ...]

    @classmethod
    def join(cls, elements: Sequence[Element]) -> Stretch:
        """Join elements by a space, or by nothing between Chinese or Japanese characters."""
        pieces: list[str] = []
        starts: list[int] = []
        length, before = 0, ""
        for element in elements:
            between = glue(before, element.text)
            starts.append(length + len(between))
            pieces += (between, element.text)
            length += len(between) + len(element.text)
            before = element.text or before
        return cls("".join(pieces), tuple(elements), tuple(starts))

    def within(self, start: int, end: int) -> tuple[Element, ...]:
        """Return the elements that hold ``text[start:end]``."""
        first = max(0, bisect_right(self.starts, start) - 1)
        last = bisect_right(self.starts, max(start, end - 1))
        return tuple(element for element in self.elements[first:last] if element.text.strip())


def anchors_of(elements: Sequence[Element]) -> tuple[Anchor, ...]:
    """Return the anchors of elements in order, each once."""
    return tuple(dict.fromkeys(element.anchor for element in elements))
