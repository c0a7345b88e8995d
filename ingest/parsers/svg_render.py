"""The rendering of a drawing without text, and what OCR reads in it."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

from ingest.context import ParseContext, Piece
from ingest.mupdf import MUPDF_ERRORS, pymupdf
from ingest.parsers.ocr_budget import OcrBudget
from ingest.parsers.ocr_pieces import picture_pieces
from ingest.parsers.pdf_scan import zoom_for


def read_rendered(context: ParseContext, data: bytes) -> Iterator[Piece]:
    """Yield what is read in the rendering of an SVG document; a warning where there is nothing."""
    budget = OcrBudget(context.limits.ocr_s)
    if not budget.left():
        context.warn("ocr_time_is_up", "The drawing has no text, and pixels are not read (PARSE_OCR_S is 0).")
        return
    try:
        with pymupdf.open(stream=data, filetype="svg") as drawing:
            page = drawing[0]
            zoom = zoom_for(page.rect.width, page.rect.height)
            pixels = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB, alpha=False)
    except MUPDF_ERRORS as error:
        context.warn("not_rendered", f"The drawing has no text and cannot be rendered: {error}.")
        return
    picture = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
    found = budget.read(picture)
    if not found.lines:
        context.warn("no_text", "No text was found in the drawing.")
    yield from picture_pieces(
        found, 1, lambda box: (box[0] / zoom, box[1] / zoom, box[2] / zoom, box[3] / zoom)
    )
