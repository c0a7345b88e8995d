"""The one tokenizer of the sparse index, for stored texts and for questions.

NFKC and case folding first. Words of alphabetic scripts are kept whole and stemmed (Snowball English on
ASCII words); identifiers and numbers are kept whole *and* split ("INV-2024/17" gives "inv-2024/17", "inv",
"2024", "17"); Chinese, Japanese and Korean runs become single characters and overlapping pairs.
Change anything here and ``TOKENIZER_VERSION`` must change: the collection's name carries it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

TOKENIZER_VERSION = "t1"

_CJK = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_IS_CJK = re.compile(f"[{_CJK}]")
# A word may hold inner joiners: version numbers, dates, amounts, paths, e-mail addresses, apostrophes.
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’._\-/:@+,][^\W_{_CJK}]+)*")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s$")
_MAX_TOKEN = 64


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    # A stemmer object keeps state while it works, so each call takes its own: threads share this cache.
    return str(snowballstemmer.stemmer("english").stemWord(word))


def _alphabetic(word: str) -> Iterator[str]:
    word = _POSSESSIVE.sub("", word)
    parts = _PART.findall(word)
    if len(parts) == 1:
        yield _stem(parts[0][:_MAX_TOKEN]) if parts[0].isascii() else parts[0][:_MAX_TOKEN]
        return
    if any(char.isdigit() for char in word) or "@" in word:
        yield word[:_MAX_TOKEN]
    for part in parts:
        yield _stem(part[:_MAX_TOKEN]) if part.isascii() else part[:_MAX_TOKEN]


def tokenize(text: str) -> Iterator[str]:
    """Yield the index terms of a text, in order, with repeats."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _IS_CJK.match(word):
            yield from word
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield from _alphabetic(word)
