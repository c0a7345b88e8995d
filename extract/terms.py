"""Light terms of a text: enough to say which sentences are about the same thing.

Words without stop words and plural endings; Chinese and Japanese as overlapping pairs. Not the index's
tokenizer: that one is versioned with the collections, this one only weighs sentences against each other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from extract.scripts import CJK
from extract.wordlists import word_list

_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’\-.][^\W_{CJK}]+)*")
_IS_CJK = re.compile(f"[{CJK}]")
_LISTED = frozenset({"en", "es", "fr", "de", "it", "pt", "nl", "ru"})
_PLURAL_S = frozenset({"en", "und", "fr", "es", "pt"})


@lru_cache(maxsize=32_768)
def singular(word: str) -> str:
    """Return a lower-case word without its plural or possessive ending, as far as its looks tell."""
    word = word.replace("’", "'")
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def is_stop_word(word: str, language: str = "en") -> bool:
    """Say whether a lower-case word only holds a sentence of this language together."""
    plain = word.replace("’", "'")
    return plain in stop_words(language)


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language; English ones where there is no list of its own."""
    return word_list(f"stop_words_{language}" if language in _LISTED else "stop_words_en")


def terms(text: str, language: str = "en") -> list[str]:
    """Return the terms of a text in order, with repeats."""
    stops = stop_words(language)
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if _IS_CJK.match(token):
            found += _pairs(token)
        elif (len(token) > 1 or token.isdigit()) and token.replace("’", "'") not in stops:
            found.append(singular(token) if language in _PLURAL_S else token)
    return found


def _pairs(run: str) -> list[str]:
    stops = word_list("stop_characters")
    return [
        run[at : at + 2] for at in range(len(run) - 1) if run[at] not in stops and run[at + 1] not in stops
    ]
