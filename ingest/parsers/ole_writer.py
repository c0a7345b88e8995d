"""Writes OLE compound files ([MS-CFB] version 3): an embedded storage becomes a file of its own."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SECTOR = 512
_PER_SECTOR = _SECTOR // 4
_LEAST_SIZE = 4096  # shorter streams would need the mini stream; they are padded instead
_IN_HEADER = 109
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
_STREAM, _ROOT, _BLACK = 2, 5, 1


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file of one storage with the given streams.

    Streams of less than 4,096 bytes are padded with zeros, which no reader of Office records minds.

    Raises:
        ValueError: the streams are too large for a file without extra allocation sectors (about 7 MB).
    """
    data: list[bytes] = []
    fat: list[int] = []
    entries: list[bytes] = []
    for number, (name, content) in enumerate(streams.items(), start=1):
        padded = content.ljust(_LEAST_SIZE, b"\0")
        right = number + 1 if number < len(streams) else _NONE
        entries.append(_entry(name, _STREAM, right, _NONE, len(fat), len(padded)))
        _add(padded, data, fat)
    root = _entry("Root Entry", _ROOT, _NONE, 1 if entries else _NONE, _END, 0)
    directory = len(fat)
    _add(b"".join((root, *entries)), data, fat)
    count = -(-len(fat) // (_PER_SECTOR - 1))
    if count > _IN_HEADER:
        raise ValueError("too large for a compound file without extra allocation sectors")
    first = len(fat)
    fat.extend([_FAT] * count)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(count * _SECTOR, b"\xff")
    head = struct.pack("<8s16xHHHHH6xII", _MAGIC, 0x3E, 3, 0xFFFE, 9, 6, 0, count)
    head += struct.pack("<IIIIIII", directory, 0, _LEAST_SIZE, _END, 0, _END, 0)
    head += struct.pack(f"<{count}I", *range(first, first + count))
    return head.ljust(_SECTOR, b"\xff") + b"".join(data) + table


def _add(content: bytes, data: list[bytes], fat: list[int]) -> None:
    """Append sectors of content and their chain."""
    first, count = len(fat), -(-len(content) // _SECTOR)
    data.append(content.ljust(count * _SECTOR, b"\0"))
    fat.extend(range(first + 1, first + count))
    fat.append(_END)


def _entry(name: str, kind: int, right: int, child: int, first: int, size: int) -> bytes:
    encoded = name.encode("utf-16-le")[:62] + b"\0\0"
    head = struct.pack("<64sHBBIII", encoded, len(encoded), kind, _BLACK, _NONE, right, child)
    return head + struct.pack("<16x4x8x8xIQ", first, size)
