"""Pages and pictures of a PDF that have to be read from pixels, within a budget of time.

A page is read as a whole when it has no usable text layer (none, or letters whose meaning no font tells);
pictures on a page with text are read on their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from PIL import Image

from ingest.context import ParseContext, Piece
from ingest.mupdf import MUPDF_ERRORS, PdfPage, pymupdf
from ingest.ocr_picture import bounds
from ingest.parsers.ocr_budget import OcrBudget
from ingest.parsers.ocr_pieces import picture_pieces
from ingest.parsers.page_lines import Box, contains
from ingest.parsers.pdf_text import TextLayer
from ingest.parsers.views import show_unread

_FEW_LETTERS = 20
_SPARSE_LETTERS = 200
_GARBAGE_SHARE = 0.3
_FULL_PAGE = 0.5
_LONG_SIDE, _SHORT_SIDE = 2000, 1100
_MAX_ZOOM = 300 / 72
_MAX_RENDERED = 24_000_000
_LEAST_SHARE, _LEAST_SIDE = 0.15, 40
_LEAST_PATHS = 8
_INLINE = re.compile(rb"(?<!\S)BI\s")  # a picture inside the content itself
_MAX_PICTURES = 20
# Share of the budget that pictures on pages with text may use: scans come first.
_PICTURES_SHARE = 0.1


def lacks_text(layer: TextLayer) -> bool:
    """Tell whether a page's text layer is missing or garbage."""
    return layer.letters < _FEW_LETTERS or is_garbage(layer)


def is_garbage(layer: TextLayer) -> bool:
    """Tell whether much of a text layer is letters whose meaning no font tells."""
    return layer.unmapped > _GARBAGE_SHARE * (layer.letters + layer.unmapped)


def scan_pieces(
    context: ParseContext, page: PdfPage, number: int, layer: TextLayer, budget: OcrBudget
) -> Iterator[Piece]:
    """Yield what only the pixels of a page say, and nothing where the text layer says it all."""
    regions = list(_regions(page, layer, budget))
    for region in regions:
        if not budget.left(1.0 if region == box_of(page.rect) else _PICTURES_SHARE):
            budget.skipped.append(number)
            return
        try:
            yield from _read(context, page, region, number, layer, budget)
        except MUPDF_ERRORS as error:
            context.warn("picture_unreadable", f"A picture on page {number} cannot be read: {error}.")


def _regions(page: PdfPage, layer: TextLayer, budget: OcrBudget) -> Iterator[Box]:
    """Yield the parts of a page, as shown, that have to be read from pixels."""
    whole = box_of(page.rect)
    pictures = _pictures(page)
    covered = sum(_area(box) for box, *_ in pictures) / max(_area(whole), 1e-9)
    if lacks_text(layer):
        if pictures or _is_drawn_on(page):
            yield whole
    elif layer.letters < _SPARSE_LETTERS and covered > _FULL_PAGE:
        yield whole
    else:
        for box, wide, high in pictures[:_MAX_PICTURES]:
            key = (wide, high, round(box[0]), round(box[1]))
            large = _area(box) > _LEAST_SHARE * _area(whole) and min(wide, high) >= _LEAST_SIDE
            if large and key not in budget.seen and not _is_written_over(box, layer):
                budget.seen.add(key)
                yield box


def _pictures(page: PdfPage) -> list[tuple[Box, int, int]]:
    """Return the pictures on a page: where as shown, width and height in pixels."""
    whole = box_of(page.rect)
    if not _has_pictures(page):
        return []
    found = []
    for info in page.get_image_info():
        x0, y0, x1, y1 = pymupdf.Rect(info["bbox"]) * page.rotation_matrix
        box = (max(x0, whole[0]), max(y0, whole[1]), min(x1, whole[2]), min(y1, whole[3]))
        if box[0] < box[2] and box[1] < box[3]:
            found.append((box, info["width"], info["height"]))
    return found


def _has_pictures(page: PdfPage) -> bool:
    """Tell whether a page can show a picture, which costs a second reading of its content to find out."""
    return bool(page.get_images()) or _INLINE.search(page.read_contents() or b"") is not None


def _is_drawn_on(page: PdfPage) -> bool:
    """Tell whether a page without text has drawings on it that might be letters."""
    return sum("path" in kind for kind, *_ in page.get_bboxlog()) >= _LEAST_PATHS


def _is_written_over(box: Box, layer: TextLayer) -> bool:
    letters = sum(
        len(line.text) for lines in layer.lines.values() for line in lines if contains(box, line.place)
    )
    return letters > _FEW_LETTERS


def _read(
    context: ParseContext, page: PdfPage, region: Box, number: int, layer: TextLayer, budget: OcrBudget
) -> Iterator[Piece]:
    zoom = zoom_for(region[2] - region[0], region[3] - region[1])
    scale, clip = pymupdf.Matrix(zoom, zoom), pymupdf.Rect(region)
    pixels = page.get_pixmap(matrix=scale, clip=clip, colorspace=pymupdf.csRGB, alpha=False, annots=False)
    picture = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
    found = budget.read(picture)
    show_unread(context, number, picture, found)

    def place(box: Box) -> Box:
        x0, y0, x1, y1 = (value / zoom for value in box)
        return x0 + region[0], y0 + region[1], x1 + region[0], y1 + region[1]

    said = [] if is_garbage(layer) else [line.place for lines in layer.lines.values() for line in lines]
    lines = [line for line in found.lines if not _any_contains(said, place(bounds(line.quad)))]
    yield from picture_pieces(replace(found, lines=lines), number, place)


def _any_contains(places: Sequence[Box], box: Box) -> bool:
    return any(contains(place, box) for place in places)


def zoom_for(width: float, height: float) -> float:
    """Return the scale at which a region of so many points is drawn: large enough to read, and bounded."""
    long, short = max(width, height, 1e-6), max(min(width, height), 1e-6)
    zoom = min(_MAX_ZOOM, max(_LONG_SIDE / long, _SHORT_SIDE / short))
    return min(zoom, math.sqrt(_MAX_RENDERED / (long * short)))


def box_of(rect: Any) -> Box:  # noqa: ANN401  pymupdf.Rect
    """Return a MuPDF rectangle as a box."""
    x0, y0, x1, y1 = rect
    return x0, y0, x1, y1


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)
