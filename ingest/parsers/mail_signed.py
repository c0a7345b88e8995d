"""Opaquely signed mail (S/MIME, RFC 8551): the mail inside the signature, without checking the signature.

Reads just as much of CMS SignedData (RFC 5652) in BER as leads to the content: a few nested elements, with
definite or indefinite lengths, each looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_DATA = bytes.fromhex("2a864886f70d010701")
_SEQUENCE, _OBJECT_ID, _OCTETS, _CONTEXT = 0x30, 0x06, 0x04, 0xA0
_CONSTRUCTED = 0x20
_MAX_PIECES = 100_000


class _Element(NamedTuple):
    tag: int
    start: int
    end: int  # of the content
    after: int


def signed_content(data: bytes) -> bytes | None:
    """Return the MIME part inside opaquely signed data, None when the data is anything else."""
    try:
        content_type, wrapped = _children(data, _expect(data, 0, _SEQUENCE))[:2]
        if _value(data, content_type) != _SIGNED_DATA:
            return None
        signed = _expect(data, wrapped.start, _SEQUENCE)
        inner = _children(data, signed)[2]
        kind, content = _children(data, inner)[:2]
        if _value(data, kind) != _DATA or content.tag != _CONTEXT:
            return None
        return b"".join(_octets(data, content))
    except (ValueError, IndexError):
        return None


def _read(data: bytes, at: int) -> _Element:
    """Read the head of an element; of indefinite length are only those that hold elements."""
    tag, length = data[at], data[at + 1]
    start = at + 2
    if length == 0x80:
        if not tag & _CONSTRUCTED:
            raise ValueError("primitive element without a length")
        end = _end_of_contents(data, start)
        return _Element(tag, start, end, end + 2)
    if length > 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[at + 2 : start], "big")
    if start + length > len(data):
        raise ValueError("element reaches beyond the data")
    return _Element(tag, start, start + length, start + length)


def _end_of_contents(data: bytes, at: int) -> int:
    """Return where the two zero bytes stand that end an element of indefinite length."""
    depth = 0
    for _ in range(_MAX_PIECES):
        if data[at : at + 2] == b"\0\0":
            if not depth:
                return at
            depth, at = depth - 1, at + 2
        elif data[at + 1] == 0x80:
            depth, at = depth + 1, at + 2
        else:
            at = _read(data, at).after
    raise ValueError("too many elements")


def _expect(data: bytes, at: int, tag: int) -> _Element:
    found = _read(data, at)
    if found.tag != tag:
        raise ValueError("another element stands here")
    return found


def _children(data: bytes, parent: _Element) -> list[_Element]:
    """Return the first few elements inside another one."""
    found: list[_Element] = []
    at = parent.start
    while at < parent.end and len(found) < 4:
        found.append(_read(data, at))
        at = found[-1].after
    return found


def _octets(data: bytes, parent: _Element) -> Iterator[bytes]:
    """Yield the pieces of an octet string, which may itself be made of octet strings."""
    at, end = parent.start, parent.end
    for _ in range(_MAX_PIECES):
        if at >= end or data[at : at + 2] == b"\0\0":
            return
        piece = _read(data, at)
        if piece.tag == _OCTETS:
            yield _value(data, piece)
            at = piece.after
        elif piece.tag == _OCTETS | _CONSTRUCTED:
            at = piece.start  # step into it: its pieces follow one another
        else:
            return


def _value(data: bytes, element: _Element) -> bytes:
    return data[element.start : element.end]
