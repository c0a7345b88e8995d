"""What a file is: its content first, its name second."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ingest.errors import UnsupportedFile
from ingest.formats import PDF, by_name, extension_of
from ingest.limits import ParseLimits
from ingest.model import ParseWarning

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


class Detected(NamedTuple):
    """The type of a file and what was strange about it."""

    media_type: str
    warnings: tuple[ParseWarning, ...] = ()


def detect(path: Path, name: str, limits: ParseLimits) -> Detected:
    """Return the type of a file.

    Raises:
        UnsupportedFile: neither content nor name belongs to a type that is read.
    """
    with path.open("rb") as stream:
        head = stream.read(4096)
    if b"%PDF-" in head[:1024]:
        return Detected(PDF)
    for magic, media_type in _MAGIC:
        if head.startswith(magic):
            return Detected(media_type)
    row = by_name(name)
    if row is None:
        raise UnsupportedFile(f"Files named .{extension_of(name) or '(nothing)'} are not read.")
    return Detected(row.media_type)
