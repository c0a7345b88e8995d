"""Light terms of a text: enough to say which sentences are about the same thing.

Words without stop words and plural endings; Chinese and Japanese as overlapping pairs. Not the index's
tokenizer: that one is versioned with the collections, this one only weighs sentences against each other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from extract.scripts import CJK, HAN
from extract.wordlists import word_list

_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’\-.][^\W_{CJK}]+)*")
_IS_HAN = re.compile(f"[{HAN}]")
_IS_CJK = re.compile(f"[{CJK}]")


@lru_cache(maxsize=32_768)
def _normal(word: str) -> str:
    word = word.replace("’", "'")
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def is_stop_word(word: str) -> bool:
    """Say whether a lower-case word only holds a sentence together."""
    return word in word_list("stop_words") or word.replace("’", "'") in word_list("stop_words")


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repeats."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if _IS_CJK.match(token):
            stops = word_list("stop_characters")
            pairs = [token[at : at + 2] for at in range(len(token) - 1)]
            found += [pair for pair in pairs if pair[0] not in stops and pair[1] not in stops]
        elif (len(token) > 1 or token.isdigit()) and not is_stop_word(token):
            found.append(_normal(token))
    return found
