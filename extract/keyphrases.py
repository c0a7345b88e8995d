"""What a stretch of text is about, in its own words (after RAKE, Rose et al. 2010).

English and its neighbours: runs of words between stop words, scored by the frequency of their words.
Chinese and Japanese: runs of two to six characters between grammatical ones, scored by how often they
recur, the longer form winning over its parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import sqrt

from extract.scripts import CJK, is_mostly_cjk
from extract.terms import is_stop_word
from extract.wordlists import word_list

_PIECE = re.compile(rf"[^\s{CJK}]+|[{CJK}]+")
_WORD = re.compile(rf"[^\W_{CJK}][^\s{CJK}]*[^\W_{CJK}]|[^\W_{CJK}]")
_NUMERIC = re.compile(r"[\d.,:%$€£¥/\-]+\w?$")
_CJK_RUN = re.compile(f"[{CJK}]+")
_MAX_WORDS = 3
# Too common to be what a text is about, though they are not stop words.
_LOOSE = frozenset(
    {"good", "great", "nice", "new", "time", "way", "day", "week", "year", "today", "first", "last", "next"}
)


def keyphrases(texts: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """Return up to ``most`` phrases that stand for the texts, the most telling first."""
    kept = list(texts)
    joined = "\n".join(kept)
    ranked = _ranked_cjk(joined) if is_mostly_cjk(joined) else _ranked_words(kept)
    chosen: list[str] = []
    for phrase in ranked:
        if len(chosen) == most:
            break
        if not any(_overlap(phrase.lower(), other.lower()) for other in chosen):
            chosen.append(phrase)
    return tuple(chosen)


def _overlap(one: str, other: str) -> bool:
    if one in other or other in one:
        return True
    return bool(set(one.split()) & set(other.split()))


def _ranked_words(texts: list[str]) -> list[str]:
    shown: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for run in (run for text in texts for run in _runs(text)):
        key = " ".join(run).lower()
        counts[key] += 1
        shown.setdefault(key, Counter())[" ".join(run)] += 1
        words.update(word.lower() for word in run)
    scores = {key: _score(key, counts[key], words, shown[key]) for key in counts}
    order = sorted(
        scores, key=lambda key: (-scores[key], list(counts).index(key) if len(counts) < 200 else 0)
    )
    return [shown[key].most_common(1)[0][0] for key in order]


def _score(key: str, count: int, words: Counter[str], forms: Counter[str]) -> float:
    parts = key.split()
    weight = sum(words[part] for part in parts) / sqrt(len(parts)) + count - 1
    named = any(word[0].isupper() for form in forms for word in form.split()[-1:])
    if len(parts) == 1 and (parts[0] in _LOOSE or len(parts[0]) < 4):
        weight *= 0.3
    return weight * (1.3 if named else 1.0)


def _runs(text: str) -> Iterator[list[str]]:
    """Yield runs of up to three words that no stop word, number or mark interrupts."""
    run: list[str] = []
    for piece in _PIECE.findall(text):
        found = _WORD.search(piece)
        word = found.group() if found else ""
        broken = not word or not piece.startswith(word)
        if run and (broken or len(run) == _MAX_WORDS or _is_boundary(word)):
            yield run
            run = []
        if word and not _is_boundary(word):
            run.append(word)
            if not piece.endswith(word):
                yield run
                run = []
    if run:
        yield run


def _is_boundary(word: str) -> bool:
    lower = word.lower()
    return (
        is_stop_word(lower)
        or lower in word_list("fillers")
        or _NUMERIC.match(lower) is not None
        or _CJK_RUN.match(word) is not None
        or "@" in word
        or "://" in word
        or len(word) < 2
    )


def _ranked_cjk(text: str) -> list[str]:
    stops = word_list("stop_characters")
    counts: Counter[str] = Counter()
    for run in _CJK_RUN.findall(text):
        for start in range(len(run)):
            if run[start] in stops:
                continue
            for size in range(2, 7):
                gram = run[start : start + size]
                if len(gram) < size or gram[-1] in stops:
                    break
                counts[gram] += 1
    repeated = {gram: count for gram, count in counts.items() if count > 1}
    whole = {gram: count for gram, count in repeated.items() if not _is_part(gram, count, repeated)}
    order = list(counts)
    first = {gram: at for at, gram in enumerate(order)}
    ranked = sorted(whole, key=lambda gram: (-whole[gram] * (len(gram) - 0.5), first[gram]))
    return ranked or [run[:6] for run in re.split(f"[{''.join(stops)}]|[^{CJK}]", text) if 2 <= len(run) <= 8]


def _is_part(gram: str, count: int, repeated: dict[str, int]) -> bool:
    """Say whether a longer phrase occurs (almost) as often and holds this one."""
    return any(
        len(other) > len(gram) and gram in other and repeated[other] >= count - 1 for other in repeated
    )
