"""Split text into the pieces multilingual-e5-small reads: a SentencePiece unigram model (Kudo 2018).

Characters are normalised by the model's own map, blanks are collapsed and written as the first character of
the word that follows, and each word is split along its most probable path of pieces (Viterbi 1967). No piece
crosses a blank, so words are split one by one and remembered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from retrieval.embedders.e5_weights import Vocabulary

_BLANK = "▁"
_WORD = re.compile(f"{_BLANK}?[^{_BLANK}]+|{_BLANK}")
_REMEMBERED_WORDS = 100_000
_LONGEST_REMEMBERED = 40
# What an unknown character costs, below the least probable piece.
_UNKNOWN_PENALTY = 10.0


class PieceTokenizer:
    """Turns text into piece numbers; safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._numbers = {piece: number for number, (piece, _) in enumerate(vocabulary.pieces) if piece}
        self._scores = [score for _, score in vocabulary.pieces]
        self._longest = max(map(len, self._numbers))
        self._unknown = vocabulary.unknown
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._replacements = vocabulary.replacements
        self._remembered = lru_cache(maxsize=_REMEMBERED_WORDS)(self._split)

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of the pieces of a text, without the marks at its ends."""
        words = re.sub(" {2,}", " ", text.translate(self._replacements))
        spaced = words if words.startswith(" ") else " " + words
        numbers: list[int] = []
        for word in _WORD.findall(spaced.replace(" ", _BLANK)):
            numbers += self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._split(word)
        return numbers

    def _split(self, word: str) -> Sequence[int]:
        length = len(word)
        best = [0.0] + [float("-inf")] * length
        piece_to = [0] * (length + 1)
        start_of = [0] * (length + 1)
        for start in range(length):
            base = best[start]
            for end in range(start + 1, min(length, start + self._longest) + 1):
                number = self._numbers.get(word[start:end])
                if number is not None and number != self._unknown:
                    score = base + self._scores[number]
                    if score > best[end]:
                        best[end], piece_to[end], start_of[end] = score, number, start
            if base + self._unknown_score > best[start + 1]:
                best[start + 1] = base + self._unknown_score
                piece_to[start + 1], start_of[start + 1] = self._unknown, start
        path = []
        while length:
            path.append(piece_to[length])
            length = start_of[length]
        return path[::-1]
