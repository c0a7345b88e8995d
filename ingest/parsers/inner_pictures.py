"""Pictures inside documents: what is written in them, within bounds of number, size and time.

A picture is read once, at the first place where it stands. Those that cannot hold a line of text (icons,
rules, plain colours) are passed over unread, and so are kinds that are drawings and no pixels (EMF, WMF).
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ingest.anchors import Anchor
from ingest.context import ParseContext, Piece

if TYPE_CHECKING:  # at run time Pillow and the OCR engine are loaded with the first picture, not before
    from PIL import Image

_LEAST_WIDE, _LEAST_HIGH, _LEAST_AREA = 48, 14, 4_000
_LEAST_SPREAD = 6.0  # standard deviation of tones; a plain colour with noise has less
_LEAST_LETTERS = 3
_MARKS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"RIFF")
# Of the processor time a file may take in all, so that its own text always comes out.
_SHARE_OF_ALL = 1 / 3


class InnerPictures:
    """Reads the pictures of one document.

    Args:
        context: where the bounds come from and what was left unread is told.
    """

    def __init__(self, context: ParseContext) -> None:
        self._context = context
        limits = context.limits
        self._seconds = min(limits.pictures_s, limits.ocr_s, _SHARE_OF_ALL * limits.cpu_s)
        self._most = limits.max_pictures
        self._seen: set[bytes] = set()
        self._spent = 0.0
        self._unread = 0

    def read(
        self, data: bytes, anchor: Anchor, metadata: dict[str, JsonValue] | None = None
    ) -> Iterator[Piece]:
        """Yield what is written in a picture, marked as image text, with the anchor of its place."""
        if not data.startswith(_MARKS) or not self._is_new(data):
            return
        if self._most <= 0 or self._spent >= self._seconds:
            self._unread += 1
            return
        started = time.process_time()
        pieces = list(self._pieces(data))
        self._spent += time.process_time() - started
        if sum(map(str.isalnum, "".join(piece.text for piece in pieces))) < _LEAST_LETTERS:
            return
        for piece in pieces:
            yield piece._replace(anchor=anchor, metadata={**(metadata or {}), "picture": len(self._seen)})

    def report(self) -> None:
        """Warn of pictures that were left unread."""
        limits = self._context.limits
        if self._unread:
            self._context.warn(
                "pictures_unread",
                f"{self._unread} pictures were not read: PARSE_MAX_PICTURES ({limits.max_pictures}),"
                f" PARSE_PICTURES_S ({limits.pictures_s:.0f}), PARSE_OCR_S ({limits.ocr_s:.0f}) or"
                " PARSE_MAX_PIXELS was reached.",
            )

    def _is_new(self, data: bytes) -> bool:
        key = hashlib.sha256(data).digest()
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _pieces(self, data: bytes) -> Iterator[Piece]:
        from ingest.ocr_picture import read_picture
        from ingest.parsers.ocr_pieces import picture_pieces

        picture = self._decoded(data)
        if picture is not None and _may_hold_text(picture):
            self._most -= 1
            yield from picture_pieces(read_picture(picture), 1)

    def _decoded(self, data: bytes) -> Image.Image | None:
        """Decode a picture of a size worth reading; None for others, and for damaged ones with a warning."""
        import warnings

        from PIL import Image, ImageOps

        from ingest.parsers.pixels import DAMAGE, to_rgb

        Image.MAX_IMAGE_PIXELS = None  # checked here
        try:
            with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data)) as opened:
                wide, high = opened.size
                if wide * high > self._context.limits.max_pixels:
                    self._unread += 1
                    return None
                if wide < _LEAST_WIDE or high < _LEAST_HIGH or wide * high < _LEAST_AREA:
                    return None
                return to_rgb(ImageOps.exif_transpose(opened))
        except DAMAGE as error:
            detail = f"A picture in the document cannot be decoded: {error!s:.200}"
            self._context.warn("picture_unreadable", detail)
            return None


def _may_hold_text(picture: Image.Image) -> bool:
    """Tell whether a picture has contrast enough for letters."""
    from PIL import ImageStat

    small = picture.convert("L")
    small.thumbnail((256, 256))
    return bool(ImageStat.Stat(small).stddev[0] >= _LEAST_SPREAD)
