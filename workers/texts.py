"""Text as every database takes it."""

from __future__ import annotations

from pydantic import JsonValue


def storable(text: str, limit: int | None = None) -> str:
    """Return text that every database takes: no NUL, no lone surrogates, up to ``limit`` characters."""
    clean = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    clean = clean.encode("utf-8", "replace").decode("utf-8")
    return clean if limit is None else clean[:limit]


def is_storable(value: JsonValue) -> bool:
    """Tell whether every text in a JSON value can be stored as it is: no NUL, no lone surrogates."""
    left = [value]  # not by recursion: a request may be nested as deep as Python's stack
    while left:
        one = left.pop()
        if isinstance(one, str) and storable(one) != one:
            return False
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
    return True
