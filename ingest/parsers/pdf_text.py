"""The text layer of a PDF page as lines, turned into their reading frames."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from ingest.mupdf import PdfPage, pymupdf
from ingest.parsers.page_lines import Box, Line

_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
_TEXT_BLOCK, _VECTOR_BLOCK = 0, 3
_BLANKS = re.compile(r"\s+")
_MAX_VECTORS = 20_000
# Bullets as Symbol and Wingdings encode them in the private use area.
_SYMBOLS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF0FC: "✓", 0xF0A8: "□", 0xF06E: "■", 0xF076: "❖"}
_LAM, _ALEFS = "\u0644", "\u0627\u0623\u0625\u0622"
# Letter forms of Arabic, and ligatures of Latin, as old fonts encode them.
_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+")
_DROPPED = dict.fromkeys([*range(0x00, 0x09), *range(0x0E, 0x20), 0x7F, 0xFFFD])

Turn: TypeAlias = int
"""Direction of text in quarter turns clockwise from left to right: 1 runs downwards, 3 upwards."""


Show: TypeAlias = tuple[float, float, float, float, float, float] | None
"""Matrix that turns the page as stored into the page as shown, None where they are the same."""


@dataclass(frozen=True, slots=True)
class TextLayer:
    """What a page's content shows.

    Attributes:
        lines: lines by the direction of their text; the boxes of each are in its own reading frame.
        main: the direction in which most of the text runs.
        shapes: bounds of drawn lines and boxes, in the frame of ``main``.
        letters: number of visible characters.
        unmapped: how many more there are whose meaning no font tells.
        frame: the page in the frame of ``main``.
    """

    lines: dict[Turn, list[Line]]
    main: Turn
    shapes: list[Box]
    letters: int
    unmapped: int
    frame: Box
    source: Any
    show: Show

    def words(self) -> list[Line]:
        """Return the words of the lines that run in the main direction."""
        found = []
        for x0, y0, x1, y1, text, *_ in self.source.extractWORDS():
            raw = (x0, y0, x1, y1)
            box = turned(raw, self.main)
            cleaned = clean(text).strip()
            if cleaned:
                found.append(Line(cleaned, box, _shown(raw, self.show), box[3] - box[1]))
        return found


def read_text_layer(page: PdfPage) -> TextLayer:
    """Read the text of a page and what is drawn around it."""
    source = page.get_textpage(flags=_FLAGS)
    blocks = _with_ligatures(source, source.extractDICT()["blocks"])
    show: Show = tuple(page.rotation_matrix) if page.rotation else None
    lines: dict[Turn, list[Line]] = {}
    weight: Counter[Turn] = Counter()
    unmapped = 0
    seen: set[tuple[str, tuple[int, ...]]] = set()
    for order, raw in enumerate(_raw_lines(blocks)):
        written = "".join(span["text"] for span in raw["spans"])
        unmapped += _unmapped(written)
        text = clean(written)
        key = (text, tuple(round(value) for value in raw["bbox"]))
        if not text.strip() or key in seen:  # drawn twice to look bold, or stamped again
            continue
        seen.add(key)
        turn = _turn_of(raw)
        weight[turn] += len(text)
        lines.setdefault(turn, []).append(_line(raw, text, order, turn, show))
    main = weight.most_common(1)[0][0] if weight else 0
    shapes = [turned(block["bbox"], main) for block in blocks if block["type"] == _VECTOR_BLOCK]
    frame = turned(tuple(page.rect * page.derotation_matrix), main)
    return TextLayer(lines, main, shapes[:_MAX_VECTORS], weight.total(), unmapped, frame, source, show)


def _raw_lines(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block["type"] == _TEXT_BLOCK:
            yield from block["lines"]


def _with_ligatures(source: Any, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:  # noqa: ANN401  TextPage
    """Put the letters of Arabic lam-alef ligatures in order, which MuPDF turns round with their line.

    Both letters come from one glyph: the alef has no width and stands where the lam ends.
    """
    if not any("\u0644" in span["text"] for line in _raw_lines(blocks) for span in line["spans"]):
        return blocks
    detailed: list[dict[str, Any]] = source.extractRAWDICT()["blocks"]
    for line in _raw_lines(detailed):
        for span in line["spans"]:
            span["text"] = in_order(span["chars"])
    return detailed


def in_order(chars: list[dict[str, Any]]) -> str:
    """Return the text of MuPDF's characters, a lam before the alef that shares its glyph."""
    letters = [char["c"] for char in chars]
    for at, (one, other) in enumerate(pairwise(chars)):
        x0, _, x1, _ = one["bbox"]
        if one["c"] in _ALEFS and other["c"] == _LAM and x1 - x0 < 0.01 and abs(x0 - other["bbox"][2]) < 0.1:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
    return "".join(letters)


def _line(raw: dict[str, Any], text: str, order: int, turn: Turn, show: Show) -> Line:
    spans = [span for span in raw["spans"] if span["text"].strip()]
    longest = max(spans, key=lambda span: len(span["text"]))
    return Line(
        text=text,
        box=turned(raw["bbox"], turn),
        place=_shown(raw["bbox"], show),
        size=longest["size"],
        bold=all(span["flags"] & pymupdf.TEXT_FONT_BOLD for span in spans),
        order=order,
    )


def _shown(box: Box, show: Show) -> Box:
    """Map a box to the page as a viewer shows it, which /Rotate may have turned."""
    if show is None:
        return box
    x0, y0, x1, y1 = pymupdf.Rect(box) * pymupdf.Matrix(*show)
    return x0, y0, x1, y1


def _turn_of(raw: dict[str, Any]) -> Turn:
    if raw["wmode"]:  # columns of upright characters, from right to left
        return 1
    x, y = raw["dir"]
    if x == 1.0:
        return 0
    return round(math.degrees(math.atan2(y, x)) / 90) % 4


def turned(box: Box, turn: Turn) -> Box:
    """Turn a box so that text running in the direction ``turn`` runs from left to right."""
    x0, y0, x1, y1 = box
    if turn == 1:
        return y0, -x1, y1, -x0
    if turn == 2:
        return -x1, -y1, -x0, -y0
    if turn == 3:
        return -y1, x0, -y0, x1
    return x0, y0, x1, y1


def clean(text: str) -> str:
    """Collapse blanks, name symbol bullets and letter forms, drop control and replacement characters."""
    if text.isascii() and text.isprintable():
        return _BLANKS.sub(" ", text) if "  " in text else text
    text = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return _BLANKS.sub(" ", text.translate(_SYMBOLS).translate(_DROPPED))


def _unmapped(text: str) -> int:
    """Count the characters whose meaning no font tells; most texts are seen at once to have none."""
    return 0 if text.isprintable() and "\ufffd" not in text else sum(map(_is_unmapped, text))


def _is_unmapped(char: str) -> bool:
    code = ord(char)
    if code == 0xFFFD or (code < 0x20 and char not in "\t\n\r"):
        return True
    return code not in _SYMBOLS and unicodedata.category(char) in ("Co", "Cn")
