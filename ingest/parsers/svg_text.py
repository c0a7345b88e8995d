"""The text elements of an SVG as lines with places.

Places are estimates: where a text starts is exact (through the transforms above it), how wide it runs is
guessed from its letters, since no font is at hand. That is enough to put lines in order and join paragraphs.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from ingest.parsers.ooxml import Node, local
from ingest.parsers.page_lines import Line

_SKIPPED = frozenset(("script", "style", "metadata", "title", "desc", "image"))
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*(px|pt|pc|mm|cm|in|em|%)?")
_TRANSFORM = re.compile(r"(\w+)\s*\(([^)]*)\)")
_UNITS = {"pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
_DEFAULT_SIZE = 16.0
_MAX_DEPTH = 400

Matrix: TypeAlias = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Pen:
    """What a text inherits: transform, position, size, weight, where it is anchored."""

    matrix: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    x: float = 0.0
    y: float = 0.0
    size: float = _DEFAULT_SIZE
    bold: bool = False
    anchor: str = "start"


def svg_lines(root: Node) -> list[Line]:
    """Return the texts of a drawing in document order; hidden ones too, scripts and styles not."""
    lines = []
    for order, (pen, text) in enumerate(_runs(root, _Pen(), 0)):
        shown = " ".join(text.split())
        if shown:
            lines.append(_line(pen, shown, order))
    return lines


def _runs(node: Node, pen: _Pen, depth: int) -> Iterator[tuple[_Pen, str]]:
    """Yield the stretches of text of a node, each with where it starts."""
    name = local(node)
    if not name or name in _SKIPPED or depth > _MAX_DEPTH:
        return
    pen = _inherit(node, pen)
    if name in ("text", "foreignObject"):
        yield from _text_runs(node, pen, depth)
        return
    for child in node:
        yield from _runs(child, pen, depth + 1)


def _text_runs(node: Node, pen: _Pen, depth: int) -> Iterator[tuple[_Pen, str]]:
    """Yield the runs of a text element: a child with a place of its own starts a new one."""
    held = node.text or ""
    for child in node:
        inner = _inherit(child, pen)
        if local(child) in _SKIPPED or depth > _MAX_DEPTH:
            held += child.tail or ""
            continue
        runs = list(_text_runs(child, inner, depth + 1))
        if _moves(child, pen, inner):
            yield pen, held
            yield from runs[:-1]
            pen, held = (runs[-1][0], runs[-1][1]) if runs else (inner, "")
        else:
            held += "".join(text for _, text in runs)
        held += child.tail or ""
    yield pen, held


def _moves(child: Node, pen: _Pen, inner: _Pen) -> bool:
    """Tell whether a child starts elsewhere than where the text before it ends."""
    if local(child) in ("p", "div", "li", "br", "tr"):  # HTML inside foreignObject
        return True
    placed = child.get("x") is not None or child.get("y") is not None
    return placed or abs(inner.y - pen.y) > 0.5 * pen.size


def _inherit(node: Node, pen: _Pen) -> _Pen:
    style = dict(part.split(":", 1) for part in (node.get("style") or "").split(";") if ":" in part)
    style = {key.strip(): value.strip() for key, value in style.items()}

    def value(name: str) -> str:
        return style.get(name) or node.get(name) or ""

    size = _length(value("font-size"), pen.size, pen.size)
    weight = value("font-weight")
    return replace(
        pen,
        matrix=_times(pen.matrix, _matrix(node.get("transform") or "")),
        x=_length(node.get("x"), pen.x, size) + _length(node.get("dx"), 0.0, size),
        y=_length(node.get("y"), pen.y, size) + _length(node.get("dy"), 0.0, size),
        size=size,
        bold=weight in ("bold", "bolder", "600", "700", "800", "900") if weight else pen.bold,
        anchor=value("text-anchor") or pen.anchor,
    )


def _length(raw: str | None, default: float, em: float) -> float:
    """Read the first length of an attribute in user units; percentages of unknown wholes are ignored."""
    match = _LENGTH.match(raw or "")
    if match is None or match.group(2) == "%":
        return default
    factor = em if match.group(2) == "em" else _UNITS.get(match.group(2) or "px", 1.0)
    number = float(match.group(1)) * factor
    return number if math.isfinite(number) else default


def _matrix(raw: str) -> Matrix:
    """Multiply out a transform attribute (SVG 2, 8.5); what is not understood changes nothing."""
    result: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for name, arguments in _TRANSFORM.findall(raw[:2000]):
        numbers = [float(number) for number in re.findall(_NUMBER, arguments)]
        result = _times(result, _step(name, numbers))
    return result


def _step(name: str, n: list[float]) -> Matrix:
    if name == "matrix" and len(n) == 6:
        return n[0], n[1], n[2], n[3], n[4], n[5]
    if name == "translate" and n:
        return 1.0, 0.0, 0.0, 1.0, n[0], n[1] if len(n) > 1 else 0.0
    if name == "scale" and n:
        return n[0], 0.0, 0.0, n[1] if len(n) > 1 else n[0], 0.0, 0.0
    if name == "rotate" and n:
        cos, sin = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
        cx, cy = (n[1], n[2]) if len(n) > 2 else (0.0, 0.0)
        return cos, sin, -sin, cos, cx - cx * cos + cy * sin, cy - cx * sin - cy * cos
    return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0


def _times(m: Matrix, n: Matrix) -> Matrix:
    a, b, c, d, e, f = m
    g, h, i, j, k, q = n
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * q + e, b * k + d * q + f


def _line(pen: _Pen, text: str, order: int) -> Line:
    a, b, c, d, e, f = pen.matrix
    width = sum(1.0 if unicodedata.east_asian_width(char) in "WF" else 0.5 for char in text) * pen.size
    start = pen.x - {"middle": width / 2, "end": width}.get(pen.anchor, 0.0)
    corners = [
        (a * x + c * y + e, b * x + d * y + f)
        for x in (start, start + width)
        for y in (pen.y - 0.8 * pen.size, pen.y + 0.25 * pen.size)
    ]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    box = (min(xs), min(ys), max(xs), max(ys))
    scale = math.sqrt(abs(a * d - b * c)) or 1.0
    return Line(text, box, box, pen.size * scale, pen.bold, order)
