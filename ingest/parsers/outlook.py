"""Outlook messages (MSG, [MS-OXMSG]): turned into the mail they stand for and read like one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from pathlib import Path

import olefile

from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.errors import CorruptFile, MaliciousFile
from ingest.parsers import mail
from ingest.parsers.rich_text import decompress, rtf_to_text

# Property ids ([MS-OXPROPS]).
_SUBJECT, _FROM_NAME, _FROM_ADDRESS, _FROM_SMTP = 0x0037, 0x0C1A, 0x0C1F, 0x5D01
_MESSAGE_ID = 0x1035
_TO, _CC, _PLAIN, _RTF, _HTML = 0x0E04, 0x0E03, 0x1000, 0x1009, 0x1013
_LONG_NAME, _SHORT_NAME, _MIME, _DATA = 0x3707, 0x3704, 0x370E, 0x3701
_RECIPIENT_NAME, _RECIPIENT_ADDRESS, _RECIPIENT_SMTP = 0x3001, 0x3003, 0x39FE
_SENT, _RECEIVED, _RECIPIENT_KIND = 0x0039, 0x0E06, 0x0C15
_UNICODE, _BYTES, _STRING, _OBJECT = "001F", "0102", "001E", "000D"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_PARTS = 10_000
_Path = tuple[str, ...]


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield a message as the mail parser does; attached messages become attached mails.

    Raises:
        CorruptFile: it is no Outlook message, or damaged.
        MaliciousFile: messages are nested more deeply than ``limits.max_depth``.
    """
    try:
        with olefile.OleFileIO(context.path) as ole:
            message = _Message(ole, context.limits.max_depth).read((), 0)
    except (OSError, IndexError, ValueError, KeyError, OverflowError) as error:
        raise CorruptFile(f"The Outlook message is damaged: {error}.") from error
    with tempfile.NamedTemporaryFile(suffix=".eml") as copy:
        copy.write(message.as_bytes())
        copy.flush()
        inner = replace(context, path=Path(copy.name))
        yield from mail.parse(inner)
        context.metadata = inner.metadata


class _Message:
    """Reads properties of the messages in an OLE file."""

    def __init__(self, ole: olefile.OleFileIO, max_depth: int) -> None:
        self._ole = ole
        self._max_depth = max_depth
        self._streams: set[_Path] = {
            tuple(path) for path in ole.listdir(streams=True, storages=False)[:_MAX_PARTS]
        }
        self._folders: list[_Path] = [
            tuple(path) for path in ole.listdir(streams=False, storages=True)[:_MAX_PARTS]
        ]

    def read(self, at: _Path, depth: int) -> EmailMessage:
        """Build the mail of the message in a storage."""
        if depth > self._max_depth:
            raise MaliciousFile(
                "The message holds messages nested more deeply than any mail program makes them."
            )
        built = EmailMessage()
        for name, value in self._head(at):
            if value and name not in built:
                built[name] = value
        self._add_body(built, at)
        for folder in self._below(at, "__attach_version1.0_#"):
            self._add_file(built, folder, depth)
        return built

    def _head(self, at: _Path) -> Iterator[tuple[str, str]]:
        sender = self._text(at, _FROM_SMTP) or self._text(at, _FROM_ADDRESS)
        name = self._text(at, _FROM_NAME)
        yield "Subject", _line(self._text(at, _SUBJECT))
        yield "From", _person(name, sender)
        people = [self._recipient(folder) for folder in self._below(at, "__recip_version1.0_#")]
        for kind, header, shown in ((1, "To", _TO), (2, "Cc", _CC), (3, "Bcc", 0)):
            listed = ", ".join(person for number, person in people if number == kind and person)
            yield header, listed or _line(self._text(at, shown))
        date = self._time(at, _SENT) or self._time(at, _RECEIVED)
        yield "Date", format_datetime(date) if date else ""
        yield "Message-ID", _line(self._text(at, _MESSAGE_ID))

    def _recipient(self, folder: _Path) -> tuple[int, str]:
        address = self._text(folder, _RECIPIENT_SMTP) or self._text(folder, _RECIPIENT_ADDRESS)
        kind = int.from_bytes(self._fixed(folder, _RECIPIENT_KIND, 8)[:4], "little") or 1
        return kind, _person(self._text(folder, _RECIPIENT_NAME), address)

    def _add_body(self, built: EmailMessage, at: _Path) -> None:
        plain, html = self._text(at, _PLAIN), self._text(at, _HTML)
        if not plain and not html:
            plain = rtf_to_text(decompress(self._bytes(at, _RTF)))
        built.set_content(plain or "")
        if html:
            built.add_alternative(html, subtype="html")

    def _add_file(self, built: EmailMessage, folder: _Path, depth: int) -> None:
        name = _line(self._text(folder, _LONG_NAME) or self._text(folder, _SHORT_NAME))
        inner = (*folder, f"__substg1.0_{_DATA:04X}{_OBJECT}")
        if inner in self._folders:
            built.add_attachment(self.read(inner, depth + 1), filename=name or None)
            return
        data = self._bytes(folder, _DATA)
        main, _, sub = _line(self._text(folder, _MIME)).partition("/")
        if not main or not sub or main in ("message", "multipart"):
            main, sub = "application", "octet-stream"
        if data:
            built.add_attachment(data, maintype=main, subtype=sub, filename=name or None)

    def _below(self, at: _Path, prefix: str) -> list[_Path]:
        size = len(at) + 1
        return sorted(
            path
            for path in self._folders
            if len(path) == size and path[:-1] == at and path[-1].startswith(prefix)
        )

    def _text(self, at: _Path, name: int) -> str:
        stem = f"__substg1.0_{name:04X}"
        if (*at, stem + _UNICODE) in self._streams:
            return self._stream((*at, stem + _UNICODE)).decode("utf-16-le", "replace").rstrip("\0")
        for kind in (_STRING, _BYTES):
            if (*at, stem + kind) in self._streams:
                return decode_text(self._stream((*at, stem + kind)).rstrip(b"\0"))[0]
        return ""

    def _bytes(self, at: _Path, name: int) -> bytes:
        path = (*at, f"__substg1.0_{name:04X}{_BYTES}")
        return self._stream(path) if path in self._streams else b""

    def _stream(self, path: _Path) -> bytes:
        with self._ole.openstream(list(path)) as stream:
            return bytes(stream.read())

    def _time(self, at: _Path, name: int) -> datetime | None:
        ticks = int.from_bytes(self._fixed(at, name, 24 if at else 32), "little")
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None

    def _fixed(self, at: _Path, name: int, header: int) -> bytes:
        """Return the eight bytes of a property of fixed size, b"" when it is not there."""
        path = (*at, "__properties_version1.0")
        data = self._stream(path) if path in self._streams else b""
        for start in range(header, len(data) - 15, 16):
            if int.from_bytes(data[start + 2 : start + 4], "little") == name:
                return data[start + 8 : start + 16]
        return b""


def _line(text: str) -> str:
    return " ".join(text.split())


def _person(name: str, address: str) -> str:
    name, address = _line(name), _line(address)
    if "@" not in address:  # an Exchange path, which means nothing outside
        return name
    return formataddr((name if name != address else "", address))
