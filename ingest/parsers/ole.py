"""OLE compound files, the container of Office 97: opening and reading streams."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import olefile

from ingest.errors import CorruptFile, EncryptedFile

# What olefile and struct raise when tables, sectors or records are not what they say.
DAMAGE = (OSError, struct.error, IndexError, ValueError, KeyError, OverflowError, RecursionError)
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
