"""Long text in parts: cut after a sentence, else at a blank, else anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PLACES = (
    re.compile(r"\n\s*\n"),
    re.compile(r"[.!?…][\"'”’)]*\s+|[。！？]\s*|\n"),
    re.compile(r"\s+"),
)


def cut_at(text: str, most: int) -> int:
    """Return where to cut a text of more than ``most`` characters, in the second half of what fits."""
    for pattern in _PLACES:
        ends = [match.end() for match in pattern.finditer(text, most // 2, most)]
        if ends:
            return ends[-1]
    return most


def in_parts(text: str, most: int) -> Iterator[str]:
    """Yield a text in parts of at most ``most`` characters; nothing is lost but blanks at the cuts."""
    while len(text) > most:
        place = cut_at(text, most)
        part = text[:place].rstrip()
        if part:
            yield part
        text = text[place:]
    if text.strip():
        yield text
