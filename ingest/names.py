"""Names that senders and archives give to files: shown to people, never used as paths."""

from __future__ import annotations

_MAX_NAME = 1024


def safe_name(name: str | None) -> str:
    """Return a file name fit to be shown: printable, without empty or dotted parts, of bounded length."""
    text = "".join(char for char in (name or "") if char.isprintable()).replace("\\", "/")
    parts = [part.strip() for part in text.split("/") if part.strip() not in ("", ".", "..")]
    return "/".join(parts)[-_MAX_NAME:] or "unnamed"


def is_litter(name: str) -> bool:
    """Tell a member of an archive that only the packing system needs: resource forks, hidden files."""
    return name.startswith("__MACOSX/") or name.rsplit("/", 1)[-1].startswith(".")
