"""Reading the body of an answer that may never end."""

from __future__ import annotations

import time
from collections.abc import Iterable


class BodyTooSlow(Exception):
    """The body was not there in time."""


class BodyTooLong(Exception):
    """The body is longer than is read."""


def read_body(pieces: Iterable[bytes], deadline: float, max_bytes: int) -> bytes:
    """Return a whole body.

    A timeout of a client counts from one byte to the next; a server that drips stays below it for ever.

    Args:
        pieces: the body as it arrives.
        deadline: of ``time.monotonic``.
        max_bytes: the most that is read.

    Raises:
        BodyTooSlow: the deadline has passed.
        BodyTooLong: there is more.
    """
    read = bytearray()
    for piece in pieces:
        read += piece
        if time.monotonic() > deadline:
            raise BodyTooSlow
        if len(read) > max_bytes:
            raise BodyTooLong
    return bytes(read)
