"""Values of the API in words, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def said(value: Any) -> str:  # noqa: ANN401  anything JSON can hold
    """Return a value as a person would write it: "3 ready, 1 failed", "yes", "-" where there is nothing."""
    if value is None or value in ({}, [], ""):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(_pair(key.replace("_", " "), one) for key, one in value.items() if one is not None)
    if isinstance(value, list | tuple):
        return "; ".join(said(one) for one in value)
    return str(value)


def _pair(name: str, value: Any) -> str:  # noqa: ANN401  anything JSON can hold
    counts = isinstance(value, int) and not isinstance(value, bool)
    return f"{said(value)} {name}" if counts else f"{name} {said(value)}"


def table_said(values: Mapping[str, Any]) -> str:
    """Return names and numbers side by side ("dense rank 1, cosine 0.83"); what is None is left out."""
    told = {name.replace("_", " "): one for name, one in values.items() if one not in (None, [], ())}
    return ", ".join(f"{name} {said(one)}" for name, one in told.items())
