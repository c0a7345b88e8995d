"""Words a model copied with small slips, found again in the source.

Exact words come first, evened-out ones next (``extract.grounding``). What remains is aligned: the stretch of
the source that shares the longest run with the quote is taken if nearly all of the quote stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from extract.fillers import telling_words
from extract.grounding import SourceWords, even_out, verbatim
from extract.names import speaker_of
from extract.scripts import CJK
from extract.stretch import Stretch, anchors_of
from ingest.anchors import Anchor
from ingest.model import Element

_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_MIN_TOKENS = 5
_MIN_SHARE = 0.85
# A quote that is this much longer than the source, spelled out or with blanks, is not in it.
_LONGER = 1.5
_AROUND = re.compile(r"^(?:[-•*>]\s+|\[[^\[\]]{1,60}\]\s+|[\"“'‘])+|[\"”'’]+$")
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…+|\[\.\.\.\])\s*")


class _Token(NamedTuple):
    word: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    return [_Token(found.group().casefold(), *found.span()) for found in _TOKEN.finditer(text)]


class Grounded(NamedTuple):
    """Where a quote stands, in the source's own words."""

    quote: str
    anchors: tuple[Anchor, ...]
    elements: tuple[Element, ...]
    exact: bool


class Aligner:
    """Finds the quotes of one segment."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements = tuple(elements)
        self._words = SourceWords(elements)
        self._stretch = Stretch.join(elements)
        self._tokens = _tokens(self._stretch.text)
        self._speakers = {name.casefold() for element in elements if (name := speaker_of(element))}

    def find(self, quote: str) -> Grounded | None:
        """Return where a quote stands, or None when the source does not hold it.

        Of a quote with gaps ("We move … June 14") the longest piece counts. A quote without a word that
        means something, like "and the", stands everywhere and proves nothing, and so does a speaker's name.
        """
        if quote.strip().casefold() in self._speakers:
            return None
        if not telling_words(quote) and not any(map(str.isdigit, quote)) and not self._is_whole(quote):
            return None
        if len(quote) > len(self._stretch.text) * _LONGER:
            return None  # and aligning it would take for ever
        bare = self._bare(quote)
        return self._exact(quote) or self._exact(bare) or self._longest_piece(bare) or self._aligned(bare)

    def ground(self, quote: str, statement: str) -> Grounded | None:
        """Return where a statement stands: its own words, or else its quote.

        Small models copy the source into the statement and give a name or a heading for a quote. A statement
        in the source's words needs no other proof, and tells its place best. Where it holds them with slips
        only, it still comes before a word or two that stand anywhere.
        """
        short = len(_tokens(quote)) < _MIN_TOKENS
        own = self.find(statement) if short else self._exact(self._bare(statement))
        return own or self.find(quote) or self.find(statement)

    def _bare(self, quote: str) -> str:
        """Return a quote without what is put around words to show them: a speaker, a list mark, quotes."""
        bare = _AROUND.sub("", quote.strip())
        speaker, colon, said = bare.replace("：", ":", 1).partition(":")
        return said.strip() if colon and speaker.strip().casefold() in self._speakers else bare

    def _exact(self, quote: str) -> Grounded | None:
        anchors = self._words.find(quote)
        if anchors is None:
            return None
        elements = tuple(element for element in self._elements if element.anchor in anchors)
        return Grounded(verbatim(quote, elements), anchors, elements, exact=True)

    def _longest_piece(self, quote: str) -> Grounded | None:
        pieces = sorted(_ELLIPSIS.split(quote.strip()), key=len, reverse=True)
        if len(pieces) < 2 or len(pieces[0]) * 2 < len(quote):
            return None
        found = self._exact(pieces[0])
        return found._replace(exact=False) if found else None

    def _is_whole(self, quote: str) -> bool:
        words = even_out(quote)
        return bool(words) and any(even_out(element.text) == words for element in self._elements)

    def _aligned(self, quote: str) -> Grounded | None:
        wanted = [token.word for token in _tokens(quote)]
        if len(wanted) < _MIN_TOKENS:
            return None
        run = SequenceMatcher(None, [token.word for token in self._tokens], wanted, autojunk=False)
        longest = run.find_longest_match()
        first = max(0, longest.a - longest.b)
        window = self._tokens[first : first + len(wanted)]
        if not _says_the_same([token.word for token in window], wanted):
            return None
        start, end = window[0].start, window[-1].end
        elements = self._stretch.within(start, end)
        return Grounded(self._stretch.text[start:end], anchors_of(elements), elements, exact=False)


def _says_the_same(source: list[str], wanted: list[str]) -> bool:
    """Slips in words are forgiven, a number that is not there never."""
    if not source or any(word not in source for word in wanted if any(map(str.isdigit, word))):
        return False
    blocks = SequenceMatcher(None, source, wanted, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= _MIN_SHARE * len(wanted)
