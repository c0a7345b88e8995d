"""Whether words stand in the source, and where: the check that nothing was made up.

First the exact words, then the words with everything evened out that readers do not see: blanks and line
breaks, NFKC forms, kinds of quotation marks and dashes, soft hyphens.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from extract.stretch import anchors_of
from ingest.anchors import Anchor
from ingest.model import Element

_SAME = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″〝〞＂", '"'),
        **dict.fromkeys("‘’‚‛′＇`´", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)


def even_out(text: str) -> str:
    """Return a text without blanks, in NFKC, with one kind of quotation mark and dash."""
    return "".join(unicodedata.normalize("NFKC", text.translate(_SAME)).split())


class SourceWords:
    """The words of some elements, ready to be searched many times."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements = tuple(elements)
        self._starts: list[int] = []
        pieces: list[str] = []
        length = 0
        for element in self._elements:
            self._starts.append(length)
            pieces.append(even_out(element.text))
            length += len(pieces[-1])
        self._text = "".join(pieces)

    def find(self, quote: str) -> tuple[Anchor, ...] | None:
        """Return the anchors of the elements that hold the quote, or None when none do.

        A quote inside one element is preferred to one that runs across a border.
        """
        words = quote.strip()
        if not words:
            return None
        for element in self._elements:
            if words in element.text:
                return (element.anchor,)
        wanted = even_out(words)
        start = self._text.find(wanted) if wanted else -1
        if start < 0:
            return None
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, start + len(wanted) - 1)
        return anchors_of([element for element in self._elements[first:last] if element.text.strip()])


def ground(quote: str, elements: Sequence[Element]) -> tuple[Anchor, ...] | None:
    """Return where a quote stands among elements, or None when it is not there.

    Args:
        quote: the words to find; may run across neighbouring elements.
        elements: in document order.
    """
    return SourceWords(elements).find(quote)


def verbatim(quote: str, elements: Sequence[Element]) -> str:
    """Return the source's own words for a quote that stands in it, blanks and marks as they are there."""
    words = quote.strip()
    text = " ".join(element.text for element in elements)
    if words in text:
        return words
    # Where each character of the text begins in its evened-out form.
    starts, length = [], 0
    for character in text:
        starts.append(length)
        length += len(even_out(character))
    wanted = even_out(words)
    begin = even_out(text).find(wanted)
    if begin < 0 or length != len(even_out(text)):  # composed characters: the places cannot be told
        return words
    first = bisect_right(starts, begin) - 1
    last = bisect_right(starts, begin + len(wanted) - 1)
    return text[first:last].strip()
