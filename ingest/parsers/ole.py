"""OLE compound files, the container of Office 97: opening, streams, properties."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import olefile
from pydantic import JsonValue

from ingest.context import ParseContext
from ingest.errors import CorruptFile, EncryptedFile

# What olefile and struct raise when tables, sectors or records are not what they say.
DAMAGE = (OSError, struct.error, IndexError, ValueError, KeyError, OverflowError, RecursionError)
_EXTRA = ("subject", "keywords", "comments", "category", "company", "manager", "last_saved_by")
_CODE_PAGES = {65001: "utf-8", 1200: "utf-16-le", 10000: "mac_roman"}
_DEFAULT_CODE_PAGE = 1252


def code_page(number: int) -> str:
    """Return Python's name of a Windows code page, cp1252 for one it does not know."""
    name = _CODE_PAGES.get(number, f"cp{number}")
    try:
        b"".decode(name)
    except LookupError:
        return f"cp{_DEFAULT_CODE_PAGE}"
    return name


@contextmanager
def open_ole(path: Path) -> Iterator[olefile.OleFileIO]:
    """Open a compound file.

    Raises:
        CorruptFile: it is none, or too damaged to find its streams.
        EncryptedFile: it only wraps an encrypted newer document.
    """
    try:
        ole = olefile.OleFileIO(path)
    except DAMAGE as error:
        raise CorruptFile("The file is not a complete Office document.") from error
    with ole:
        if ole.exists("EncryptedPackage"):
            raise EncryptedFile
        yield ole


def read_stream(ole: olefile.OleFileIO, name: str) -> bytes:
    """Return a stream.

    Raises:
        CorruptFile: it is missing, or its sectors are.
    """
    try:
        return bytes(ole.openstream(name).read())
    except DAMAGE as error:
        raise CorruptFile(f"The part {name} of the document is damaged or missing.") from error


def describe_ole(context: ParseContext, ole: olefile.OleFileIO) -> None:
    """Report the summary properties of a compound file; damaged ones are told as a warning."""
    try:
        found = ole.get_metadata()
    except DAMAGE:
        context.warn("properties_unreadable", "The document properties are damaged.")
        return
    encoding = code_page((found.codepage or _DEFAULT_CODE_PAGE) & 0xFFFF)

    def text(name: str) -> str | None:
        value = getattr(found, name, None)
        decoded = value.decode(encoding, "replace") if isinstance(value, bytes) else value
        return decoded.strip("\0 \r\n\t") or None if isinstance(decoded, str) else None

    author, created = text("author"), _moment(found.create_time)
    extra: dict[str, JsonValue] = {name: value for name in _EXTRA if (value := text(name))}
    context.describe(
        title=text("title"),
        authors=(author,) if author else None,
        created_at=created,
        modified_at=_moment(found.last_saved_time),
        occurred_at=created,
        extra=extra,
    )


def _moment(value: object) -> datetime | None:
    # Programs without a clock write the start of Windows time.
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.year > 1601 else None
