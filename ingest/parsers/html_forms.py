"""What a form control shows."""

from __future__ import annotations

_SILENT = frozenset({"hidden", "password", "file", "color", "range"})
_BOXES = frozenset({"checkbox", "radio"})


def field_text(attributes: dict[str, str]) -> str:
    """Return the text an input shows: its value, "[x]" or "[ ]" for a box, "" when it shows none."""
    kind = attributes.get("type", "text").lower()
    if kind in _BOXES:
        return "[x]" if "checked" in attributes else "[ ]"
    if kind == "image":
        return attributes.get("alt", "")
    return "" if kind in _SILENT else " ".join(attributes.get("value", "").split())
