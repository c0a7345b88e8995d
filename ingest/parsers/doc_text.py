"""The text of a Word 6 to 2003 document by character position ([MS-DOC] 2.4.1, the piece table).

A character position (CP) counts UTF-16 units over all stories: body, footnotes, headers, comments, endnotes,
text boxes. The text is kept one character for each position, so that positions found elsewhere fit.
"""

from __future__ import annotations

import codecs
import struct
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

import olefile

from ingest.encoding import find_encoding
from ingest.errors import CorruptFile, EncryptedFile
from ingest.parsers.ole import DAMAGE, read_stream

STORIES = ("body", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header_boxes")
_MAGIC = frozenset({0xA5EC, 0xA5DC, 0xA5DB, 0xA697, 0xA699})
_WORD_97 = 0xC1
_ENCRYPTED, _TABLE_1, _COMPLEX = 0x0100, 0x0200, 0x0004
_COMPRESSED = 0x40000000
_COUNTS_97, _COUNTS_95 = 0x4C, 0x34
_PAIRS_97, _CLX_95 = 0x9A, 0x160
_CLX = 33


class Piece(NamedTuple):
    """A run of the text: its first position, and where it lies in the stream."""

    start: int
    end: int
    offset: int
    width: int


@dataclass
class DocText:
    """The text of a document and the tables that describe it.

    Attributes:
        stream: the main stream.
        table: the table stream; the main stream itself before Word 97.
        is_97: the format of Word 97 and later.
        text: one character for each position.
        stories: first and last position of each story.
    """

    stream: bytes
    table: bytes
    is_97: bool
    text: str = ""
    stories: dict[str, tuple[int, int]] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)

    def location(self, index: int) -> tuple[int, int]:
        """Return offset and size of the table with an index in the file information block; (0, 0) if none."""
        at = _PAIRS_97 + 8 * index
        if not self.is_97 or at + 8 > len(self.stream):
            return 0, 0
        offset, size = struct.unpack_from("<II", self.stream, at)
        return (offset, size) if offset + size <= len(self.table) else (0, 0)

    def section(self, index: int) -> bytes:
        """Return the table with an index, empty where there is none."""
        offset, size = self.location(index)
        return self.table[offset : offset + size]

    def positions(self, index: int, item_size: int) -> tuple[list[int], list[bytes]]:
        """Return the positions of a table (one more than its items) and its items."""
        data = self.section(index)
        count = (len(data) - 4) // (4 + item_size)
        if count < 1:
            return [], []
        start = 4 * (count + 1)
        items = [data[start + item_size * at : start + item_size * (at + 1)] for at in range(count)]
        return list(struct.unpack_from(f"<{count + 1}I", data)), items

    def offset_of(self, position: int) -> int:
        """Return where the character at a position lies in the stream, -1 for none."""
        at = bisect_right(self.pieces, position, key=lambda piece: piece.start) - 1
        if at < 0 or position >= self.pieces[at].end:
            return -1
        return self.pieces[at].offset + (position - self.pieces[at].start) * self.pieces[at].width


def clean(units: str) -> str:
    """Return characters kept as UTF-16 units as proper characters."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def open_text(ole: olefile.OleFileIO) -> DocText:
    """Return the text of a document.

    Raises:
        CorruptFile: the text cannot be found.
        EncryptedFile: the document is protected by a password.
    """
    stream = read_stream(ole, "WordDocument")
    try:
        magic, version = struct.unpack_from("<HH", stream)
        (flags,) = struct.unpack_from("<H", stream, 0x0A)
        if magic not in _MAGIC:
            raise CorruptFile("The file does not hold a Word document.")
        if flags & _ENCRYPTED:
            raise EncryptedFile
        is_97 = version >= _WORD_97
        table = read_stream(ole, "1Table" if flags & _TABLE_1 else "0Table") if is_97 else stream
        found = DocText(stream, table, is_97)
        counts = struct.unpack_from("<8I", stream, _COUNTS_97 if is_97 else _COUNTS_95)
        found.pieces = _pieces(found, is_complex=bool(flags & _COMPLEX))
        _read(found)
    except DAMAGE as error:
        raise CorruptFile("The text of the document cannot be found.") from error
    at = 0
    for name, count in zip(STORIES, counts, strict=True):
        found.stories[name] = (at, min(at + count, len(found.text)))
        at += count
    return found


def _pieces(found: DocText, *, is_complex: bool) -> list[Piece]:
    if found.is_97:
        data = found.section(_CLX)
    elif is_complex:
        offset, size = struct.unpack_from("<II", found.stream, _CLX_95)
        data = found.stream[offset : offset + size]
    else:
        start, end = struct.unpack_from("<II", found.stream, 0x18)
        return [Piece(0, max(end - start, 0), start, 1)]
    at = 0
    while at + 3 <= len(data) and data[at] == 0x01:
        at += 3 + struct.unpack_from("<H", data, at + 1)[0]
    if at + 5 > len(data) or data[at] != 0x02:
        raise CorruptFile("The text of the document cannot be found.")
    (size,) = struct.unpack_from("<I", data, at + 1)
    return _read_piece_table(data[at + 5 : at + 5 + size], is_97=found.is_97)


def _read_piece_table(data: bytes, *, is_97: bool) -> list[Piece]:
    count = (len(data) - 4) // 12
    found: list[Piece] = []
    for index in range(count):
        start, end = struct.unpack_from("<II", data, 4 * index)
        (offset,) = struct.unpack_from("<I", data, 4 * (count + 1) + 8 * index + 2)
        if end < start or (found and start < found[-1].end):
            break
        if not is_97:
            found.append(Piece(start, end, offset, 1))
        elif offset & _COMPRESSED:
            found.append(Piece(start, end, (offset & ~_COMPRESSED) // 2, 1))
        else:
            found.append(Piece(start, end, offset, 2))
    return found


def _read(found: DocText) -> None:
    """Read the text; pieces that reach beyond the stream end where it ends."""
    encoding = "cp1252" if found.is_97 else _old_encoding(found)
    parts: list[str] = []
    for piece in found.pieces:
        count = piece.end - piece.start
        raw = found.stream[piece.offset : piece.offset + count * piece.width]
        if piece.width == 1:
            part = raw.decode(encoding, "replace")
            part = part if len(part) == len(raw) else _byte_by_byte(raw, encoding)
        else:
            units = array("H")
            units.frombytes(raw[: len(raw) // 2 * 2])
            part = "".join(map(chr, units))
        parts.append(part.ljust(count, "\0") if count - len(part) < len(found.stream) else part)
    found.text = "".join(parts)


def _byte_by_byte(raw: bytes, encoding: str) -> str:
    """Decode a multi-byte code page to one character for each byte, as positions count bytes there."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    return "".join((decoder.decode(raw[at : at + 1]) or "\0")[-1] for at in range(len(raw)))


def _old_encoding(found: DocText) -> str:
    raw = b"".join(
        found.stream[piece.offset : piece.offset + piece.end - piece.start] for piece in found.pieces
    )
    return find_encoding(raw.translate(None, bytes(range(9))))
