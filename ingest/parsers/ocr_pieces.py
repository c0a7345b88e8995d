"""From lines read in a picture to pieces, in the order a person reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median

from ingest.anchors import PageAnchor
from ingest.context import Piece
from ingest.model import Cell, ElementKind
from ingest.ocr import OcrLine
from ingest.ocr_picture import PictureText, bounds, is_tall
from ingest.parsers.page_lines import Box, Line, hull, rounded
from ingest.parsers.paragraphs import paragraphs
from ingest.parsers.reading_order import Grid, read_order

# The engine's boxes are about this much higher than the type in them.
_BOX_TO_TYPE = 0.75
_SAME_SIZE = 0.3


def picture_pieces(
    found: PictureText, page: int, place: Callable[[Box], Box] = lambda box: box
) -> Iterator[Piece]:
    """Yield what was read as paragraphs and rows.

    Args:
        found: lines of one picture.
        page: 1-based page or frame.
        place: maps pixels of the picture to the unit of the anchor.
    """
    flat = [line for line in found.lines if not _runs_down(line)]
    down = [line for line in found.lines if _runs_down(line)]
    groups = [_framed(flat, 2 if found.turn else 0, found.skew), _framed(down, 3 if found.turn else 1, 0.0)]
    groups.sort(key=lambda lines: -sum(len(line.text) for line in lines))
    for lines in groups:
        for region in read_order(_levelled(lines)):
            if isinstance(region, Grid):
                for row in region.rows:
                    yield from _row(row, page, place)
                continue
            for block in paragraphs(region.lines):
                yield _piece(block.text, block.place, page, place)


def _piece(
    text: str, box: Box, page: int, place: Callable[[Box], Box], cells: tuple[Cell, ...] = ()
) -> Piece:
    return Piece(ElementKind.IMAGE_TEXT, text, PageAnchor(page=page, bbox=rounded(place(box))), cells=cells)


def _row(row: tuple[Line | None, ...], page: int, place: Callable[[Box], Box]) -> Iterator[Piece]:
    filled = [(str(column), line) for column, line in enumerate(row, start=1) if line]
    if len(filled) == 1:
        yield _piece(filled[0][1].text.strip(), filled[0][1].place, page, place)
    elif filled:
        cells = tuple(Cell(name=name, value=line.text.strip()) for name, line in filled)
        text = " | ".join(cell.value for cell in cells)
        yield _piece(text, hull(line.place for _, line in filled), page, place, cells)


def _runs_down(line: OcrLine) -> bool:
    return is_tall(line.quad) and len(line.text.strip()) > 1


def _framed(lines: list[OcrLine], turn: int, skew: float) -> list[Line]:
    """Turn lines into the frame in which their text runs from left to right, without the skew."""
    angle = math.radians(-skew - 90 * turn)
    cos, sin = math.cos(angle), math.sin(angle)
    framed = []
    for line in lines:
        turned = [(x * cos - y * sin, x * sin + y * cos) for x, y in line.quad]
        xs, ys = [x for x, _ in turned], [y for _, y in turned]
        box = (min(xs), min(ys), max(xs), max(ys))
        framed.append(Line(line.text, box, bounds(line.quad), _BOX_TO_TYPE * (box[3] - box[1])))
    return framed


def _levelled(lines: list[Line]) -> list[Line]:
    """Give lines of about the usual height one size: boxes vary with the letters in them."""
    if not lines:
        return []
    usual = median(line.size for line in lines)
    return [
        replace(line, size=usual) if abs(line.size - usual) < _SAME_SIZE * usual else line for line in lines
    ]
