"""Reading a whole picture: which way up, how large, in strips where it is long, lines in reading order.

Page rotation is found by reading: an upside-down page scores low, and a page turned by a quarter has tall
lines, which the engine reads downwards. Small skews need no turning of pixels, the engine's boxes follow
the lines; only their order is computed with the angle taken out.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median

from PIL import Image, ImageOps

from ingest.ocr import MAX_SIDE, OcrEngine, OcrLine, Quad, confidence, default_engine, is_sure
from ingest.ocr_tesseract import other_scripts_engine

_DOUBT = 0.8
_TALL = 1.5
_SMALL = 1000
_SMALL_TYPE = 16
_NARROW_RANGE = 110

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PictureText:
    """What a picture says.

    Attributes:
        lines: corners in pixels of the picture as given.
        turn: 2 if the picture stood upside down, else 0.
        skew: angle of the lines in degrees, clockwise.
        doubtful: number of lines that were dropped because the engine was not sure of them.
    """

    lines: list[OcrLine]
    turn: int
    skew: float
    doubtful: int


def read_picture(
    picture: Image.Image, engine: OcrEngine | None = None, other: OcrEngine | None = None
) -> PictureText:
    """Read an RGB picture.

    Args:
        picture: three 8-bit channels.
        engine: the process's default one if None.
        other: for scripts the first does not know; tesseract where installed if None.
    """
    engine = engine or default_engine()
    lines, turn = _upright(_contrasted(picture), engine)
    sure = [line for line in lines if is_sure(line)]
    if any(line.score < _DOUBT for line in lines):
        sure = _with_other_scripts(picture, turn, sure, other or other_scripts_engine())
    return PictureText(sure, turn, _skew(sure), len(lines) - len(sure))


def _contrasted(picture: Image.Image) -> Image.Image:
    """Spread faint contrast."""
    low, high = _tone_range(picture)
    return ImageOps.autocontrast(picture, cutoff=1) if high - low < _NARROW_RANGE else picture


def _tone_range(picture: Image.Image) -> tuple[int, int]:
    """Return the tones below which 1 % and 99 % of the pixels lie."""
    counts = picture.convert("L").histogram()
    total, seen, low, high = sum(counts), 0, 0, 255
    for tone, count in enumerate(counts):
        if seen <= 0.01 * total:
            low = tone
        seen += count
        if seen >= 0.99 * total:
            high = tone
            break
    return low, high


def _upright(picture: Image.Image, engine: OcrEngine) -> tuple[list[OcrLine], int]:
    lines = _read_sized(picture, engine)
    if not lines or confidence(lines) >= _DOUBT:
        return lines, 0
    turned = _read_sized(picture.transpose(Image.Transpose.ROTATE_180), engine)
    if _quality(turned) <= _quality(lines):
        return lines, 0
    width, height = picture.size
    return [_moved(line, lambda x, y: (width - x, height - y)) for line in turned], 2


def _read_sized(picture: Image.Image, engine: OcrEngine) -> list[OcrLine]:
    """Read a picture; a small one with small type, or none found, is read again at double size."""
    lines = _read_strips(picture, engine)
    if max(picture.size) > _SMALL or (lines and _type_height(lines) >= _SMALL_TYPE):
        return lines
    size = (picture.width * 2, picture.height * 2)
    doubled = _read_strips(picture.resize(size, Image.Resampling.LANCZOS), engine)
    if _quality(doubled) <= _quality(lines):
        return lines
    return [_moved(line, lambda x, y: (x / 2, y / 2)) for line in doubled]


def _type_height(lines: list[OcrLine]) -> float:
    return median(min(math.dist(*line.quad[:2]), math.dist(line.quad[0], line.quad[3])) for line in lines)


def _quality(lines: list[OcrLine]) -> float:
    return sum(line.score * len(line.text) for line in lines if is_sure(line))


def _read_strips(picture: Image.Image, engine: OcrEngine) -> list[OcrLine]:
    """Read a long picture (a screenshot of a page, a till receipt) in overlapping strips.

    Shrunk as a whole, its text would be too small to read.
    """
    width, height = picture.size
    long, short = max(width, height), min(width, height)
    if long < 1.6 * MAX_SIDE or long < 2.5 * short:
        return engine.read(picture)
    length = max(2 * short, 1000)
    overlap = length // 5
    lines: list[OcrLine] = []
    for start in range(0, long - overlap, length - overlap):
        end = min(start + length, long)
        box = (0, start, width, end) if height > width else (start, 0, end, height)
        part = engine.read(picture.crop(box))
        lines = _merged(lines, [_moved(line, _shift(box[0], box[1])) for line in part])
    return lines


def _shift(dx: int, dy: int) -> Callable[[float, float], Point]:
    return lambda x, y: (x + dx, y + dy)


def _merged(lines: list[OcrLine], more: list[OcrLine]) -> list[OcrLine]:
    """Add lines of the next strip; of two readings of one line the longer stays."""
    kept = list(lines)
    for line in more:
        twins = [other for other in kept if overlap(other.quad, line.quad) > 0.4]
        if all(len(other.text) < len(line.text) for other in twins):
            kept = [other for other in kept if other not in twins]
            kept.append(line)
    return kept


def _with_other_scripts(
    picture: Image.Image, turn: int, sure: list[OcrLine], other: OcrEngine | None
) -> list[OcrLine]:
    """Replace doubtful lines by what the other engine reads there with more confidence."""
    if other is None:
        return sure
    upright = picture.transpose(Image.Transpose.ROTATE_180) if turn == 2 else picture
    found = [line for line in other.read(upright) if is_sure(line)]
    if turn == 2:
        width, height = picture.size
        found = [_moved(line, lambda x, y: (width - x, height - y)) for line in found]
    kept = [line for line in sure if not any(_beats(rival, line) for rival in found)]
    return kept + [line for line in found if not any(overlap(line.quad, known.quad) > 0.3 for known in kept)]


def _beats(rival: OcrLine, line: OcrLine) -> bool:
    """Tell whether the other engine's reading of a line is to be trusted more."""
    if overlap(rival.quad, line.quad) <= 0.3:
        return False
    if line.score < _DOUBT:
        return rival.score > line.score or _has_other_script(rival.text)
    wide, whole = bounds(line.quad), bounds(rival.quad)
    return _has_other_script(rival.text) and wide[2] - wide[0] < _DOUBT * (whole[2] - whole[0])


def _has_other_script(text: str) -> bool:
    """Tell whether a fair part of a text is in letters that the default engine was not taught."""
    letters = [unicodedata.name(char, "") for char in text if char.isalpha()]
    known = sum(name.startswith(("LATIN", "GREEK", "CJK", "HIRAGANA", "KATAKANA")) for name in letters)
    return len(letters) - known >= max(3, 0.2 * len(letters))


def overlap(one: Quad, other: Quad) -> float:
    """Return the shared area of two lines' bounds as a share of the smaller."""
    ax0, ay0, ax1, ay1 = bounds(one)
    bx0, by0, bx1, by1 = bounds(other)
    wide, high = min(ax1, bx1) - max(ax0, bx0), min(ay1, by1) - max(ay0, by0)
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / max(min((ax1 - ax0) * (ay1 - ay0), (bx1 - bx0) * (by1 - by0)), 1e-9)


def bounds(quad: Quad) -> tuple[float, float, float, float]:
    """Return the upright box around a line."""
    xs, ys = [x for x, _ in quad], [y for _, y in quad]
    return min(xs), min(ys), max(xs), max(ys)


def is_tall(quad: Quad) -> bool:
    """Tell whether a line runs downwards: a turned page, or vertical writing."""
    a, b, _, d = quad
    return math.dist(a, d) > _TALL * math.dist(a, b)


def _moved(line: OcrLine, move: Callable[[float, float], Point]) -> OcrLine:
    a, b, c, d = (move(x, y) for x, y in line.quad)
    return replace(line, quad=(a, b, c, d))


def _skew(lines: list[OcrLine]) -> float:
    angles = []
    for line in lines:
        (ax, ay), (bx, by), *_ = line.quad
        if not is_tall(line.quad) and len(line.text) >= 5:
            angle = math.degrees(math.atan2(by - ay, bx - ax))
            angles.append((angle + 90) % 180 - 90)
    return median(angles) if angles else 0.0
