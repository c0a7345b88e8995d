"""winmail.dat (TNEF, [MS-OXTNEF] and [MS-OXCDATA]): the body and the files Outlook hides in an attachment.

Every step moves forward through the bytes at hand, so the work is bounded by their number; counts and lengths
that reach beyond them end the reading. (tnefparse, tried first, loops as often as a hostile count says.)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest.encoding import decode_text
from ingest.parsers.html import declared_charset
from ingest.parsers.mail_headers import clean_name
from ingest.parsers.rich_text import decompress, rtf_to_text

SIGNATURE = b"\x78\x9f\x3e\x22"
_BODY, _PROPERTIES, _CODE_PAGE = 0x800C, 0x9003, 0x9007
_NEW_FILE, _FILE_TITLE, _FILE_DATA, _FILE_PROPERTIES = 0x9002, 0x8010, 0x800F, 0x9005
# Property ids ([MS-OXPROPS]).
_HTML, _RTF, _PLAIN = 0x1013, 0x1009, 0x1000
_FIELDS = {0x0037: "Subject", 0x0C1A: "From", 0x0E04: "To", 0x0E03: "Cc"}
_LONG_NAME, _SHORT_NAME, _FILE_OBJECT = 0x3707, 0x3704, 0x3701
_STRING, _UNICODE, _OBJECT, _BINARY = 0x001E, 0x001F, 0x000D, 0x0102
_SIZES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0x0A: 4, 0x0B: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_SEVERAL, _NAMED, _OBJECT_GUID = 0x1000, 0x8000, 16


@dataclass
class HiddenFile:
    """A file inside a TNEF stream. ``is_message`` says that it is a TNEF stream itself: an attached mail."""

    name: str = ""
    data: bytes = b""
    is_message: bool = False


@dataclass
class Tnef:
    """What a TNEF stream holds.

    Attributes:
        fields: label and value of the message's own properties.
        html: the body as HTML, "" for none.
        text: the body as plain text, made from rich text where there is no other; "" for none.
        files: its attachments.
        is_whole: False when the stream broke off.
    """

    fields: list[tuple[str, str]] = field(default_factory=list)
    html: str = ""
    text: str = ""
    files: list[HiddenFile] = field(default_factory=list)
    is_whole: bool = True


class _Reader:
    """Numbers and byte runs from a block of bytes, little-endian; beyond its end raises EOFError."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise EOFError
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def read_tnef(data: bytes) -> Tnef:
    """Read a TNEF stream as far as it goes.

    Raises:
        ValueError: the data is no TNEF stream.
    """
    if not data.startswith(SIGNATURE):
        raise ValueError("no TNEF signature")
    found = Tnef()
    charset = "windows-1252"
    reader = _Reader(data[6:])
    try:
        while reader.at < len(reader.data):
            reader.take(1)
            name = reader.number(4) & 0xFFFF
            value = reader.take(reader.number(4))
            reader.take(2)
            if name == _CODE_PAGE and len(value) >= 4:
                charset = f"cp{struct.unpack_from('<I', value)[0]}"
            _apply(found, name, value, charset)
    except EOFError:
        found.is_whole = False
    found.files = [one for one in found.files if one.data]
    found.fields.sort(key=lambda one: list(_FIELDS.values()).index(one[0]))
    return found


def _apply(found: Tnef, name: int, value: bytes, charset: str) -> None:
    """Take over one attribute of the stream."""
    if name == _BODY:
        found.text = found.text or _string(value, charset)
    elif name == _PROPERTIES:
        _apply_properties(found, value, charset)
    elif name == _NEW_FILE:
        found.files.append(HiddenFile())
    elif found.files and name == _FILE_TITLE:
        found.files[-1].name = found.files[-1].name or clean_name(_string(value, charset))
    elif found.files and name == _FILE_DATA:
        found.files[-1].data = value
    elif found.files and name == _FILE_PROPERTIES:
        _apply_file_properties(found.files[-1], value, charset)


def _apply_properties(found: Tnef, data: bytes, charset: str) -> None:
    rich = b""
    for name, kind, value in _properties(data):
        if name == _HTML:
            found.html = decode_text(value, declared_charset(value) or charset)[0].strip("\0")
        elif name == _PLAIN:
            found.text = found.text or _shown(kind, value, charset)
        elif name == _RTF:
            rich = value
        elif name in _FIELDS and kind in (_STRING, _UNICODE) and _shown(kind, value, charset):
            found.fields.append((_FIELDS[name], " ".join(_shown(kind, value, charset).split())))
    if rich and not (found.html or found.text):
        found.text = rtf_to_text(decompress(rich))


def _apply_file_properties(file: HiddenFile, data: bytes, charset: str) -> None:
    for name, kind, value in _properties(data):
        if name == _LONG_NAME or (name == _SHORT_NAME and not file.name):
            file.name = clean_name(_shown(kind, value, charset)) or file.name
        elif name == _FILE_OBJECT and kind in (_OBJECT, _BINARY) and not file.data:
            inner = value[_OBJECT_GUID:] if kind == _OBJECT else value
            file.data, file.is_message = inner, inner.startswith(SIGNATURE)


def _properties(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield id, type and value of MAPI properties, of a list of values the first; a broken one ends it."""
    reader = _Reader(data)
    try:
        reader.take(4)
        while reader.at < len(data):
            kind, name = reader.number(2), reader.number(2)
            if name >= _NAMED:
                reader.take(16)
                if reader.number(4):
                    _take_padded(reader)
                else:
                    reader.take(4)
            values = list(_values(reader, kind))
            yield name, kind & ~_SEVERAL, values[0] if values else b""
    except EOFError:
        return


def _values(reader: _Reader, kind: int) -> Iterator[bytes]:
    base = kind & ~_SEVERAL
    size = _SIZES.get(base)
    if size is None and base not in (_STRING, _UNICODE, _OBJECT, _BINARY):
        raise EOFError
    for _ in range(reader.number(4) if size is None or kind & _SEVERAL else 1):
        yield _take_padded(reader) if size is None else reader.take(size)


def _take_padded(reader: _Reader) -> bytes:
    size = reader.number(4)
    value = reader.take(size)
    reader.take(-size % 4)
    return value


def _shown(kind: int, value: bytes, charset: str) -> str:
    return _string(value, "utf-16-le" if kind == _UNICODE else charset)


def _string(value: bytes, charset: str) -> str:
    if charset == "utf-16-le":
        return value.decode("utf-16-le", "replace").rstrip("\0")
    return decode_text(value.rstrip(b"\0"), charset)[0]
