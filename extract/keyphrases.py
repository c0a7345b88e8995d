"""What a stretch of text is about, in its own words (after RAKE, Rose et al. 2010).

Alphabetic scripts: runs of words between stop words, common verbs and marks, scored by the frequency of
their words. Chinese and Japanese: runs of two to six characters between grammatical ones, scored by how
often they recur, the longer form winning over its parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import sqrt

from extract.scripts import CJK, is_mostly_cjk
from extract.terms import singular, stop_words
from extract.wordlists import word_list

_WORD = re.compile(rf"[^\W_{CJK}]+(?:[-'’.&/][^\W_{CJK}]+)*")
_NUMERIC = re.compile(r"[\d.,:%$€£¥/\-]+\w?$|.*(?:@|://|www\.)")
_CJK_RUN = re.compile(f"[{CJK}]+")
_MAX_WORDS = 3
_MAX_GRAM = 8


def keyphrases(
    texts: Sequence[str], language: str = "en", most: int = 5, leave_out: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return up to ``most`` phrases that stand for the texts, the most telling first.

    Args:
        texts: sentences, rows or turns.
        language: whose stop words part the phrases.
        most: how many are wanted.
        leave_out: words that are no topics here, such as the names of the speakers.
    """
    joined = "\n".join(texts)
    ranked = _ranked_cjk(joined) if is_mostly_cjk(joined) else _ranked_words(texts, language)
    banned = [word.lower() for name in leave_out for word in (name, *name.split()) if len(word) > 1]
    chosen: list[str] = []
    for phrase in ranked:
        if len(chosen) == most:
            break
        if not any(_overlap(phrase.lower(), other) for other in (*banned, *(one.lower() for one in chosen))):
            chosen.append(phrase)
    return tuple(chosen)


def _overlap(one: str, other: str) -> bool:
    if _CJK_RUN.match(one):
        return one in other or other in one
    return not set(map(singular, one.split())).isdisjoint(map(singular, other.split()))


def _ranked_words(texts: Sequence[str], language: str) -> list[str]:
    shown: dict[str, str] = {}
    counts: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for form in (form for text in texts for form in _phrases(text, language)):
        key = form.lower()
        # Small letters sort behind capitals, so a form without the capital of a sentence's start wins.
        shown[key] = max(form, shown.get(key, ""))
        counts[key] += 1
        words.update(key.split())
    scores = {key: _score(key, count, words, shown[key]) for key, count in counts.items()}
    # Sorting is stable: of equals the one that comes first in the text stays first.
    return [shown[key] for key in sorted(scores, key=lambda key: -scores[key])]


def _score(key: str, count: int, words: Counter[str], form: str) -> float:
    parts = key.split()
    weight: float = sum(words[part] for part in parts) / sqrt(len(parts)) + count - 1
    if len(parts) == 1 and len(key) < 4:
        weight *= 0.3
    return weight * (1.3 if form.split()[-1][0].isupper() else 1.0)


def _phrases(text: str, language: str) -> Iterator[str]:
    """Yield runs of up to three words that no stop word, number or mark interrupts."""
    run: list[str] = []
    for piece in text.split():
        found = _WORD.search(piece)
        word = found.group() if found else ""
        parts = not word or is_breaker(word, language)
        if run and (parts or len(run) == _MAX_WORDS or not piece.startswith(word)):
            yield " ".join(run)
            run = []
        if not parts:
            run.append(word)
            if not piece.endswith(word):
                yield " ".join(run)
                run = []
    if run:
        yield " ".join(run)


@lru_cache(maxsize=65_536)
def is_breaker(word: str, language: str) -> bool:
    """Say whether a word ends a phrase: it is grammatical, vague, a number or an address."""
    lower = word.lower().replace("’", "'")
    if len(word) < 2 or lower in stop_words(language) or _NUMERIC.match(lower) or _CJK_RUN.match(word):
        return True
    if language not in ("en", "und"):
        return False
    adverb = lower.endswith("ly") and len(lower) > 4
    return adverb or lower in word_list("topic_breakers") or lower in word_list("fillers")


def _ranked_cjk(text: str) -> list[str]:
    runs = [run for run in _cjk_splitter().split(text) if len(run) > 1]
    counts: Counter[str] = Counter()
    for run in runs:
        for start in range(len(run) - 1):
            longest = min(_MAX_GRAM, len(run) - start)
            counts.update(run[start : start + size] for size in range(2, longest + 1))
    repeated = {gram: count for gram, count in counts.items() if count > 1}
    whole = {gram: count for gram, count in repeated.items() if not _is_part(gram, count, repeated)}
    ranked = sorted(whole, key=lambda gram: -whole[gram] * (len(gram) - 0.5))
    # Where nothing recurs: the short runs between grammatical characters, as they come.
    return _unshifted(ranked) or [run for run in runs if len(run) <= _MAX_GRAM]


@lru_cache(maxsize=1)
def _cjk_splitter() -> re.Pattern[str]:
    """What parts Chinese and Japanese phrases: counters behind numbers, common verbs, grammar."""
    words = "|".join(sorted(word_list("topic_breakers_zh"), key=len, reverse=True))
    stops = "".join(sorted(word_list("stop_characters")))
    return re.compile(rf"\d[年月日号號时時分点點岁歲次个個]?|{words}|[{stops}]|[^{CJK}]")


def _is_part(gram: str, count: int, repeated: dict[str, int]) -> bool:
    """Say whether a longer phrase occurs (almost) as often and holds this one."""
    if len(gram) == _MAX_GRAM:
        return False
    return any(repeated[other] >= count - 1 for other in repeated if len(other) > len(gram) and gram in other)


def _unshifted(ranked: list[str]) -> list[str]:
    """Keep the first of windows that slide over one long name."""
    kept: list[str] = []
    for gram in ranked:
        if not any(gram[1:] in other or gram[:-1] in other for other in kept if len(gram) == _MAX_GRAM):
            kept.append(gram)
    return kept
