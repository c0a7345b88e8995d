"""Lists of words, kept as text files beside the code: ``extract/words/NAME.txt``."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def word_list(name: str) -> frozenset[str]:
    """Return the words of a list; they stand apart by blanks, and lines that start with # are notes."""
    text = (files("extract.words") / f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
