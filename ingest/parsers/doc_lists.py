"""Lists of a Word 97 to 2003 document ([MS-DOC] 2.9.131, 2.9.150): how their numbers look and count."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ingest.parsers.doc_text import DocText
from ingest.parsers.ole import DAMAGE
from ingest.parsers.word_numbering import Level, Numbering

_LISTS, _OVERRIDES = 73, 74
_LIST_SIZE, _LEVEL_SIZE, _OVERRIDE_SIZE = 28, 28, 16
_SHAPES = {
    0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 22: "decimalZero",
    23: "bullet", 255: "none",
}  # fmt: skip
_LEVELS = 9
_LEGAL, _NO_RESTART = 0x04, 0x08
_HAS_START, _HAS_LEVEL = 0x10, 0x20


class _List(NamedTuple):
    identity: int
    levels: dict[int, Level]


def read_lists(document: DocText) -> Numbering:
    """Return the lists of a document by the number paragraphs call them by; damaged ones are left out."""
    numbering = Numbering()
    try:
        lists = {one.identity: one for one in _read_lists(document)}
        _read_overrides(document, lists, numbering)
    except DAMAGE:
        return numbering
    return numbering


def _read_lists(document: DocText) -> list[_List]:
    start, size = document.location(_LISTS)
    if size < 2:
        return []
    table = document.table
    (count,) = struct.unpack_from("<H", table, start)
    at = start + 2 + _LIST_SIZE * count
    found: list[_List] = []
    for index in range(count):
        head = start + 2 + _LIST_SIZE * index
        (identity,) = struct.unpack_from("<I", table, head)
        levels: dict[int, Level] = {}
        for level in range(1 if table[head + 26] & 0x01 else _LEVELS):
            levels[level], at = _read_level(table, at)
        found.append(_List(identity, levels))
    return found


def _read_level(table: bytes, at: int) -> tuple[Level, int]:
    """Return a level and the offset behind it."""
    start, shape, flags = struct.unpack_from("<IBB", table, at)
    restart = table[at + 26] if flags & _NO_RESTART else None
    at += _LEVEL_SIZE + table[at + 24] + table[at + 25]
    (count,) = struct.unpack_from("<H", table, at)
    text = table[at + 2 : at + 2 + 2 * count].decode("utf-16-le", "replace")
    # The characters 0 to 8 stand for the numbers of the levels.
    pattern = "".join(f"%{ord(char) + 1}" if ord(char) < _LEVELS else char for char in text)
    shown = _SHAPES.get(shape, "decimal")
    return Level(start, shown, pattern, "", bool(flags & _LEGAL), restart), at + 2 + 2 * count


def _read_overrides(document: DocText, lists: dict[int, _List], numbering: Numbering) -> None:
    start, size = document.location(_OVERRIDES)
    if size < 4:
        return
    table = document.table
    (count,) = struct.unpack_from("<I", table, start)
    count = min(count, (size - 4) // _OVERRIDE_SIZE)
    at = start + 4 + _OVERRIDE_SIZE * count
    for index in range(count):
        head = start + 4 + _OVERRIDE_SIZE * index
        (identity,) = struct.unpack_from("<I", table, head)
        at += 4
        levels = dict(lists[identity].levels) if identity in lists else {}
        restarts: set[int] = set()
        for _ in range(table[head + 12]):
            begin, flags = struct.unpack_from("<II", table, at)
            at += 8
            level = flags & 0x0F
            if flags & _HAS_LEVEL:
                levels[level], at = _read_level(table, at)
            elif flags & _HAS_START and level in levels:
                levels[level] = levels[level]._replace(start=begin)
            if flags & _HAS_START:
                restarts.add(level)
        numbering.add(str(index + 1), str(identity), levels, restarts)
