"""Records and strings of the Excel 2 to 2003 file formats (BIFF2 to BIFF8, [MS-XLS])."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

BOF = frozenset({0x0009, 0x0209, 0x0409, 0x0809})
EOF = 0x000A
CONTINUE = 0x003C
FILEPASS = 0x002F

_HIGH_BYTES, _PHONETIC, _RICH = 0x01, 0x04, 0x08


class Record(NamedTuple):
    """A record and the records that continue it."""

    kind: int
    data: bytes
    more: tuple[bytes, ...] = ()

    def whole(self) -> bytes:
        """Return the data with its continuations."""
        return b"".join((self.data, *self.more))


def records(stream: bytes, at: int = 0) -> Iterator[Record]:
    """Yield the records from an offset on; a cut off last one is left out."""
    waiting: Record | None = None
    more: list[bytes] = []
    end = len(stream)
    while at + 4 <= end:
        kind, size = struct.unpack_from("<HH", stream, at)
        if at + 4 + size > end:
            break
        data = stream[at + 4 : at + 4 + size]
        at += 4 + size
        if kind == CONTINUE and waiting:
            more.append(data)
            continue
        if waiting:
            yield Record(waiting.kind, waiting.data, tuple(more)) if more else waiting
        waiting, more = Record(kind, data), []
    if waiting:
        yield Record(waiting.kind, waiting.data, tuple(more))


def version_of(record: Record) -> int:
    """Return the BIFF version of a BOF record: 2, 3, 4, 5 or 8."""
    if record.kind != 0x0809:
        return {0x0009: 2, 0x0209: 3, 0x0409: 4}[record.kind]
    return 8 if len(record.data) >= 2 and record.data[:2] == b"\x00\x06" else 5


@dataclass
class Chunks:
    """Reads across continuations, where each new chunk of characters says anew how wide they are."""

    chunks: list[bytes]
    index: int = 0
    at: int = 0

    def _advance(self) -> None:
        self.index, self.at = self.index + 1, 0

    def take(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end."""
        pieces: list[bytes] = []
        while size > 0 and not self.is_over:
            piece = self.chunks[self.index][self.at : self.at + size]
            pieces.append(piece)
            self.at += len(piece)
            size -= len(piece)
            if size > 0:
                self._advance()
        return b"".join(pieces)

    def number(self, size: int) -> int:
        """Return the next little-endian number."""
        return int.from_bytes(self.take(size), "little")

    def characters(self, count: int, *, wide: bool) -> str:
        """Return the next characters."""
        pieces: list[str] = []
        while count > 0 and not self.is_over:
            width = 2 if wide else 1
            taken = min(count, (len(self.chunks[self.index]) - self.at) // width)
            raw = self.take(taken * width)
            pieces.append(raw.decode("utf-16-le" if wide else "latin-1", "replace"))
            count -= taken
            if count > 0:
                # The rest of the string begins in the next chunk, behind a byte of flags.
                self._advance()
                wide = bool(self.number(1) & _HIGH_BYTES)
        return "".join(pieces)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        last = len(self.chunks) - 1
        return self.index > last or (self.index == last and self.at >= len(self.chunks[last]))

    def unicode_string(self, count_size: int = 2) -> str:
        """Return the next BIFF8 string, without its formatting runs and phonetic hints."""
        count, flags = self.number(count_size), self.number(1)
        runs = self.number(2) if flags & _RICH else 0
        phonetic = self.number(4) if flags & _PHONETIC else 0
        text = self.characters(count, wide=bool(flags & _HIGH_BYTES))
        self.take(4 * runs + phonetic)
        return text


def unicode_string(data: bytes, at: int = 0, count_size: int = 2) -> str:
    """Return the BIFF8 string at an offset of a record."""
    return Chunks([data[at:]]).unicode_string(count_size)


def byte_string(data: bytes, at: int, count_size: int, encoding: str) -> str:
    """Return the string of an older version at an offset: a count, then bytes in the code page."""
    count = int.from_bytes(data[at : at + count_size], "little")
    return data[at + count_size : at + count_size + count].decode(encoding, "replace")


def shared_strings(record: Record) -> list[str]:
    """Return the strings of an SST record."""
    chunks = Chunks([record.data, *record.more])
    chunks.take(4)
    count = chunks.number(4)
    found: list[str] = []
    while len(found) < count and not chunks.is_over:
        found.append(chunks.unicode_string())
    return found


def rk_number(value: int) -> float:
    """Return the number packed into 30 bits of an RK value."""
    if value & 0x02:
        number = float((value - (1 << 32) if value & 0x80000000 else value) >> 2)
    else:
        (number,) = struct.unpack("<d", struct.pack("<Q", (value & 0xFFFFFFFC) << 32))
    return number / 100 if value & 0x01 else number
