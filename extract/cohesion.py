"""How far neighbouring turns of a talk speak of different things (after TextTiling, Hearst 1997)."""

from __future__ import annotations

from collections import Counter
from math import sqrt

from extract.terms import terms

_WINDOW = 8


def topic_shifts(texts: list[str]) -> list[float]:
    """Return for each place before a text how deep the likeness of its two sides dips there, 0 to 1.

    The first value is 0: nothing stands before the first text.
    """
    bags = [Counter(terms(text)) for text in texts]
    likeness = [1.0] + [
        _cosine(_sum(bags[max(0, at - _WINDOW) : at]), _sum(bags[at : at + _WINDOW]))
        for at in range(1, len(texts))
    ]
    return [0.0] + [_depth(likeness, at) for at in range(1, len(texts))]


def _sum(bags: list[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    shared = sum(count * right[term] for term, count in left.items())
    if not shared:
        return 0.0
    return shared / sqrt(
        sum(count * count for count in left.values()) * sum(count * count for count in right.values())
    )


def _depth(likeness: list[float], at: int) -> float:
    left = right = here = likeness[at]
    for value in reversed(likeness[1:at]):
        if value < left:
            break
        left = value
    for value in likeness[at + 1 :]:
        if value < right:
            break
        right = value
    return min(1.0, left + right - 2 * here)
