"""Cell styles of a workbook: the number format, and whether the looks set a cell apart."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.parsers.number_format import BUILT_IN
from ingest.parsers.ooxml import Node, attribute, tag

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ON = ("", "1", "true", "on")


class CellStyle(NamedTuple):
    """Number format code of a cell, and whether it is bold or filled."""

    code: str = "General"
    is_strong: bool = False


_PLAIN = CellStyle()


class CellStyles(NamedTuple):
    """The styles of a workbook by index."""

    known: tuple[CellStyle, ...] = ()

    def of(self, index: str | None) -> CellStyle:
        """Return the style a cell names, the plain one where it names none."""
        place = int(index) if index and index.isdecimal() else 0
        return self.known[place] if place < len(self.known) else _PLAIN


def read_cell_styles(root: Node | None) -> CellStyles:
    """Return the cell styles of a styles part."""
    formats = root.find(tag("s:cellXfs")) if root is not None else None
    if root is None or formats is None:
        return CellStyles()
    codes = dict(BUILT_IN)
    for node in root.iter(tag("s:numFmt")):
        if attribute(node, "numFmtId").isdecimal():
            codes[int(attribute(node, "numFmtId"))] = attribute(node, "formatCode")
    bold = [_is_bold(font) for font in _list(root, "s:fonts")]
    filled = [_is_filled(fill) for fill in _list(root, "s:fills")]
    return CellStyles(
        tuple(
            CellStyle(
                code=codes.get(_index(node, "numFmtId"), "General"),
                is_strong=_at(bold, _index(node, "fontId")) or _at(filled, _index(node, "fillId")),
            )
            for node in formats
        )
    )


def _list(root: Node, name: str) -> list[Node]:
    found = root.find(tag(name))
    return [] if found is None else list(found)


def _index(node: Node, name: str) -> int:
    text = attribute(node, name, "0")
    return int(text) if text.isdecimal() else 0


def _at(flags: list[bool], index: int) -> bool:
    return index < len(flags) and flags[index]


def _is_bold(font: Node) -> bool:
    mark = font.find(tag("s:b"))
    return mark is not None and attribute(mark, "val") in _ON


def _is_filled(fill: Node) -> bool:
    return attribute(fill.find(tag("s:patternFill")), "patternType", "none") not in ("none", "gray125")


def unescape(text: str) -> str:
    """Return a stored string with its escaped control characters ("_x000D_") undone."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return plain.replace("\r\n", "\n").replace("\r", "\n")
