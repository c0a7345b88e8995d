"""Questions about nothing in memory: they measure whether the top score tells that nothing was found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
_FIRST_HAN, _LAST_HAN = 0x4E00, 0x9FA5


def nonsense(count: int, seed: int = 0) -> list[str]:
    """Return questions of words that do not exist, half in letters and half in Chinese characters."""
    draw = random.Random(seed)
    return [_letters(draw) if number % 2 else _characters(draw) for number in range(count)]


def evenly(items: Sequence[T], count: int, seed: int = 0) -> list[T]:
    """Return ``count`` items spread evenly over a sequence, in order; all of them when there are no more.

    Args:
        items: where to take from.
        count: how many.
        seed: moves the grid, so that another sample can be had.
    """
    if count >= len(items):
        return list(items)
    shift = random.Random(seed).random()
    return [items[int((number + shift) * len(items) / count)] for number in range(count)]


def _letters(draw: random.Random) -> str:
    words = ("".join(draw.choices(_LETTERS, k=draw.randint(3, 9))) for _ in range(draw.randint(3, 8)))
    return f"{' '.join(words)}?"


def _characters(draw: random.Random) -> str:
    return "".join(chr(draw.randint(_FIRST_HAN, _LAST_HAN)) for _ in range(draw.randint(6, 14))) + "？"
