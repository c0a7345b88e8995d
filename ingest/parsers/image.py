"""Pictures (PNG, JPEG, WebP, TIFF, BMP): text by OCR, one page per frame."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, datetime

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge
from ingest.parsers.ocr_budget import OcrBudget
from ingest.parsers.ocr_pieces import picture_pieces
from ingest.parsers.pixels import DAMAGE, to_rgb
from ingest.parsers.views import show_unread

_FRAMES_ARE_PAGES = ("TIFF", "MPO")


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the text of a picture, frame by frame for TIFF.

    Raises:
        FileTooLarge: more pixels than ``limits.max_pixels``; told from the header, before decoding.
        CorruptFile: it cannot be decoded, or it is cut off and what is left shows no text.
    """
    Image.MAX_IMAGE_PIXELS = None  # checked here, with a typed error
    # Pillow warns of odd metadata.
    with warnings.catch_warnings(action="ignore"), _open(context) as picture:
        _check_size(context, picture)
        _describe(context, picture)
        yield from _read_frames(context, picture)


def _open(context: ParseContext) -> Image.Image:
    try:
        return Image.open(context.path)
    except UnidentifiedImageError as error:
        raise CorruptFile("The picture cannot be decoded.") from error
    except DAMAGE as error:
        raise CorruptFile(f"The picture cannot be decoded: {error}.") from error


def _check_size(context: ParseContext, picture: Image.Image) -> None:
    width, height = picture.size
    if width * height > context.limits.max_pixels:
        raise FileTooLarge(
            f"The picture has {width} x {height} pixels; PARSE_MAX_PIXELS is {context.limits.max_pixels}."
        )


def _read_frames(context: ParseContext, picture: Image.Image) -> Iterator[Piece]:
    budget = OcrBudget(context.limits.ocr_s)
    frames = texts = 0
    damage = ""
    for frame in range(context.limits.max_pages if picture.format in _FRAMES_ARE_PAGES else 1):
        try:
            picture.seek(frame)
            _check_size(context, picture)
            pixels = to_rgb(_loaded(picture))
        except EOFError:
            break
        except DAMAGE as error:
            damage = str(error) or type(error).__name__
            break
        frames += 1
        if not budget.left():
            budget.skipped.append(frames)
            continue
        found = budget.read(pixels)
        show_unread(context, frames, pixels, found)
        for piece in picture_pieces(found, frames):
            texts += 1
            yield piece
    budget.report(context)
    context.describe(page_count=frames or None)
    if damage and not texts:
        raise CorruptFile(f"The picture is damaged: {damage}.")
    if damage:
        context.warn("picture_damaged", f"Reading stopped at frame {frames + 1}: {damage}.")
    elif not texts and not budget.skipped:
        context.warn("no_text", "No text was found in the picture.")


def _loaded(picture: Image.Image) -> Image.Image:
    """Decode the frame and turn it as its EXIF orientation says."""
    picture.load()
    return ImageOps.exif_transpose(picture)


def _describe(context: ParseContext, picture: Image.Image) -> None:
    try:
        exif = picture.getexif()
    except DAMAGE as error:  # a PNG is decoded to the end for it
        context.warn("metadata_unreadable", f"The picture's metadata cannot be read: {error}.")
        return
    taken = _date(
        exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal)
        or exif.get(ExifTags.Base.DateTime)
    )
    artist, caption = _text(exif.get(ExifTags.Base.Artist)), _text(exif.get(ExifTags.Base.ImageDescription))
    extra = {"width": picture.width, "height": picture.height, "format": picture.format or ""}
    context.describe(
        title=_text(picture.info.get("Title")) or None,
        authors=(artist,) if artist else None,
        created_at=taken,
        occurred_at=taken,
        extra={**extra, **({"description": caption} if caption else {})},
    )


def _text(value: object) -> str:
    return " ".join(value.replace("\0", " ").split()) if isinstance(value, str) else ""


def _date(value: object) -> datetime | None:
    """Read an EXIF date ("2024:01:31 12:00:00"); it carries no zone and is taken as UTC."""
    try:
        return datetime.strptime(_text(value), "%Y:%m:%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
