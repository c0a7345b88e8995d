"""Text of PowerPoint 97 to 2003 records: paragraphs with their depth."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.parsers.drawing import TextLine
from ingest.parsers.ppt_records import (
    TEXT_HEADER,
    TEXT_NARROW,
    TEXT_STYLE,
    TEXT_WIDE,
    PptRecord,
    content,
)

# Size in bytes of each paragraph property, in the order they are stored ([MS-PPT] 2.9.20).
_PROPERTY_SIZES = (
    (0x0000000F, 2), (0x00000080, 2), (0x00000010, 2), (0x00000040, 2), (0x00000020, 4), (0x00000800, 2),
    (0x00001000, 2), (0x00002000, 2), (0x00004000, 2), (0x00000100, 2), (0x00000400, 2), (0x00008000, 2),
    (0x00100000, -1), (0x00010000, 2), (0x000E0000, 2), (0x00200000, 2),
)  # fmt: skip
# A "*" stands for a number or date that is filled in when shown.
_FILLED_IN = frozenset({0x0FD8, 0x0FF7, 0x0FF8, 0x0FF9, 0x0FFA, 0x1015})
TITLE_KINDS = frozenset({0, 6})
_OTHER = 4


class TextBlock(NamedTuple):
    """A text and what its header says it is (0 title, 1 body, 2 notes, 4 other, 6 centred title …)."""

    kind: int
    lines: tuple[TextLine, ...]


def text_blocks(stream: bytes, records: Iterable[PptRecord]) -> Iterator[TextBlock]:
    """Yield the texts of a run of records; a header begins each."""
    run: list[PptRecord] = []
    for record in records:
        if record.kind == TEXT_HEADER and run:
            yield _block(stream, run)
            run = []
        if run or record.kind == TEXT_HEADER:
            run.append(record)
    if run:
        yield _block(stream, run)


def _block(stream: bytes, run: list[PptRecord]) -> TextBlock:
    """Return the text of a header and the records behind it."""
    kind = content(stream, run[0])[:1]
    text = ""
    levels: list[tuple[int, int]] = []
    for record in run:
        if record.kind == TEXT_WIDE:
            text = content(stream, record).decode("utf-16-le", "replace")
        elif record.kind == TEXT_NARROW:
            text = content(stream, record).decode("latin-1")
        elif record.kind == TEXT_STYLE and text:
            levels = _levels(content(stream, record), len(text))
    if text.strip() == "*" and any(record.kind in _FILLED_IN for record in run):
        text = ""
    lines: list[TextLine] = []
    at = 0
    for paragraph in text.split("\r"):
        shown = paragraph.replace("\x0b", "\n").replace("\0", "").strip()
        if shown:
            lines.append(TextLine(shown, next((level for end, level in levels if at < end), 0)))
        at += len(paragraph) + 1
    return TextBlock(kind[0] if kind else _OTHER, tuple(lines))


def _levels(data: bytes, length: int) -> list[tuple[int, int]]:
    """Return (end position, depth) of the paragraph runs of a style record; what is readable of them."""
    found: list[tuple[int, int]] = []
    at, position = 0, 0
    while position < length + 1 and at + 10 <= len(data):
        count, level, mask = struct.unpack_from("<IHI", data, at)
        at += 10
        position += count
        found.append((position, min(level, 4)))
        for bits, size in _PROPERTY_SIZES:
            if mask & bits:
                if size < 0:
                    size = 2 + 4 * int.from_bytes(data[at : at + 2], "little")
                at += size
    return found
