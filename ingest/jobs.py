"""What is said between the caller, the fork server and the child that reads one file.

Messages are JSON behind a length of four bytes, over pipes: nothing is unpickled, and nothing a child says is
trusted further than the types below go.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TypeVar

from ingest.anchors import Frozen
from ingest.artifacts import to_json
from ingest.limits import ParseLimits
from ingest.outcome import ParseOutcome

MAX_MESSAGE_BYTES = 32 * 2**20
_LENGTH = struct.Struct(">I")

F = TypeVar("F", bound=Frozen)


class Job(Frozen):
    """What a child is asked to do."""

    path: Path
    name: str
    limits: ParseLimits
    out_dir: Path


class Report(Frozen):
    """What a child says in the end: an outcome, or the code and words of an error.

    ``media_type`` is what detection found, "" when it found nothing; ``pixels`` tells that letters were read
    from pictures; ``trace`` is for the log.
    """

    media_type: str = ""
    pixels: bool = False
    outcome: ParseOutcome | None = None
    code: str = ""
    detail: str = ""
    next_step: str = ""
    trace: str = ""


class Answer(Frozen):
    """What the fork server says of a child that has ended.

    Attributes:
        report: what the child said, None when it died without a word.
        signal: the signal that ended it, 0 for none.
        timed_out: it was stopped at the wall limit.
        peak_mb: the most memory it held, in MiB.
        stderr: the end of what it wrote to standard error.
    """

    report: Report | None = None
    signal: int = 0
    timed_out: bool = False
    peak_mb: float = 0.0
    stderr: str = ""


def send(pipe: int, message: Frozen) -> None:
    """Write a message to a pipe.

    Raises:
        BrokenPipeError: nobody reads any more.
    """
    body = to_json(message).encode()
    data = memoryview(_LENGTH.pack(len(body)) + body)
    while data:
        data = data[os.write(pipe, data) :]


def receive(pipe: int, kind: type[F]) -> F | None:
    """Read a message from a pipe, None when it was closed before a whole one came.

    Raises:
        ValueError: what came is no message of this kind.
    """
    header = _read(pipe, _LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    if length > MAX_MESSAGE_BYTES:
        raise ValueError("the message is too long")
    body = _read(pipe, length)
    return kind.model_validate_json(body) if len(body) == length else None


def is_whole(data: bytes | bytearray) -> bool:
    """Return whether some bytes from a pipe hold a whole message, or one that is too long."""
    if len(data) < _LENGTH.size:
        return False
    (length,) = _LENGTH.unpack_from(data)
    return bool(length > MAX_MESSAGE_BYTES or len(data) >= _LENGTH.size + length)


def _read(pipe: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length and (part := os.read(pipe, min(length, 2**16))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
