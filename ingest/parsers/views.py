"""Pictures that hold hardly a word: kept for somebody who can look at them."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from ingest.context import ParseContext
from ingest.ocr_picture import PictureText

# Fewer letters than this and reading has not told what a picture shows.
_FEW_LETTERS = 40
# Vision models scale larger pictures down themselves; smaller ones are icons and rules.
_LONG_SIDE, _LEAST_SIDE = 1568, 64
_QUALITY = 85


def show_unread(context: ParseContext, page: int, picture: Image.Image, found: PictureText) -> None:
    """Keep a picture that says too little in letters.

    Args:
        context: where it is kept, if anybody looks.
        page: 1-based page or frame.
        picture: in RGB.
        found: what was read in it.
    """
    letters = sum(sum(map(str.isalnum, line.text)) for line in found.lines)
    if letters >= _FEW_LETTERS or min(picture.size) < _LEAST_SIDE:
        return

    def save(path: Path) -> None:
        small = picture.copy()
        small.thumbnail((_LONG_SIDE, _LONG_SIDE))
        small.save(path, "JPEG", quality=_QUALITY)

    context.show(page, save)
