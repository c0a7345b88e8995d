"""Mail headers: where they end, their encoded words, addresses, dates and file names.

The standard library reads the header block; ``email.policy.default`` is not used on top, because its value
parser raises on headers that real mailers send. Encoded words follow RFC 2047 and RFC 2231 read tolerantly:
anywhere in a value, with wrong padding, and with characters cut between two words.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import Message
from email.parser import HeaderParser
from email.utils import collapse_rfc2231_value, parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from ingest.charsets import codec_of
from ingest.encoding import decode_text, errors_of, find_encoding, known_label
from ingest.parsers.recorded import find_moment

_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\r\r")
_BLANK_LINES = re.compile(rb"(?:[ \t]*+\r?+\n)*+")
_FIELD = re.compile(rb"[!-9;-~]+[ \t]*:")
_WORD = re.compile(r"=\?([^?\s]{1,64})\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"(?<=\?=)\s+(?==\?[^?\s]{1,64}\?[bBqQ]\?)")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_ADDRESS_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"?|<([^<>]*)>?|\(([^()]*)\)?|([,;])|([^"<(,;]+)')
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]+")
_NOT_ASCII = ("iso-2022", "hz", "utf-16", "utf-32", "utf-7")  # encodings whose bytes look like ASCII
_GROUP = re.compile(r"^[^@:]*:")
_COMMENT = re.compile(r"\([^()]*\)")
_MAX_DATE = 200
_MAX_NAME = 200
_MAX_STRUCTURED = 8192


class Headers(NamedTuple):
    """The header block of a mail or part, and where its body begins in the bytes."""

    message: Message
    body_at: int

    def get(self, name: str) -> str:
        """Return a header on one line with encoded words resolved, "" when it is missing."""
        return next(self.all(name), "")

    def all(self, name: str) -> Iterator[str]:
        """Yield every header of a name like ``get``."""
        for value in self.message.get_all(name, []):
            yield decode_words(str(value))

    def parameter(self, header: str, name: str) -> str:
        """Return a parameter of a structured header, "" when it is missing or cannot be read."""
        try:
            value = self.message.get_param(name, header=header)
            return decode_words(collapse_rfc2231_value(value)) if value else ""
        except (ValueError, TypeError, LookupError):
            return ""

    @property
    def media_type(self) -> str:
        """The declared type in lower case, "" when none is declared or it is no type."""
        declared = self.get("Content-Type").partition(";")[0].strip().lower()
        return declared if re.fullmatch(r"[^\s/]+/[^\s/]+", declared) else ""

    @property
    def file_name(self) -> str:
        """The name the sender gives a part, without folders; "" for none."""
        name = self.parameter("Content-Disposition", "filename") or self.parameter("Content-Type", "name")
        return clean_name(name)


def read_headers(data: bytes, *, is_part: bool = False) -> Headers:
    """Read the header block that bytes begin with.

    Args:
        data: a mail, or a part of one.
        is_part: a blank line at the start means that there are no headers; a mail may begin with some.
    """
    blank = _BLANK_LINES.match(data)
    start = blank.end() if blank and not is_part else 0
    if data.startswith(b"From ", start):  # the line mailbox files put before each mail
        start = data.find(b"\n", start) + 1 or len(data)
    if not _FIELD.match(data, start):
        first = re.match(rb"\r?\n", data) if is_part else None
        return Headers(Message(), first.end() if first else 0)
    end = _BLANK_LINE.search(data, start)
    block = data[start : end.start() if end else len(data)]
    body_at = end.end() if end else len(data)
    foreign = _first_foreign_line(block)
    if foreign is not None:
        block, body_at = block[:foreign], start + foreign
    message = HeaderParser().parsestr(_decode(block))
    for name in ("Content-Type", "Content-Disposition"):
        if len(message.get(name, "")) > _MAX_STRUCTURED:  # the library's time grows with the square of it
            message.replace_header(name, message[name][:_MAX_STRUCTURED])
    return Headers(message, body_at)


@lru_cache(maxsize=256)
def decode_words(value: str) -> str:
    """Return a header value unfolded, with its encoded words decoded."""
    value = _BETWEEN_WORDS.sub("", " ".join(value.split()))
    pieces: list[str] = []
    run: list[bytes] = []
    charset = ""
    at = 0
    for match in _WORD.finditer(value):
        label = match.group(1).partition("*")[0].lower()
        if run and (match.start() > at or label != charset):
            pieces.append(_decode_bytes(b"".join(run), charset))
            run = []
        pieces.append(value[at : match.start()])
        run.append(_word_bytes(match.group(2), match.group(3)))
        charset, at = label, match.end()
    pieces += [_decode_bytes(b"".join(run), charset), value[at:]]
    return " ".join("".join(pieces).split())


def addresses(values: Iterable[str]) -> tuple[str, ...]:
    """Return who stands in address headers, each once, as "Name <address>" or what of it there is."""
    return tuple(dict.fromkeys(one for value in values for one in _split_addresses(value)))


def parse_date(value: str) -> datetime | None:
    """Return a Date header as an aware time; without a zone it counts as UTC."""
    try:
        moment = parsedate_to_datetime(_COMMENT.sub(" ", value[:_MAX_DATE]))
    except (ValueError, TypeError, IndexError, OverflowError):
        told = find_moment(value[:_MAX_DATE])
        return told.at if told else None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def clean_name(name: str) -> str:
    """Return a file name fit to be shown: one line, no folders, of modest length."""
    name = _UNSAFE.sub(" ", name).replace("\\", "/").rstrip("/ ").rpartition("/")[2].strip()
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 20] + name[-20:]


def decode_base64(data: bytes) -> bytes:
    """Decode base64 with anything between its characters and any padding."""
    body = data.partition(b"=")[0] if data.rstrip().endswith(b"=") else data.replace(b"=", b"")
    letters = _NOT_BASE64.sub(b"", body)
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))


def _first_foreign_line(block: bytes) -> int | None:
    """Return where a header block stops being one, None when all of it is."""
    for match in re.finditer(rb"^(?![ \t])[^\r\n]+", block, re.MULTILINE):
        if not _FIELD.match(match.group()):
            return match.start()
    return None


def _decode(block: bytes) -> str:
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError:  # each header by itself: not all need be in the same encoding
        other = find_encoding(block)
        return "\n".join(_decode_bytes(line, other) for line in block.split(b"\n"))


def _decode_bytes(data: bytes, label: str) -> str:
    """Decode a few bytes as their label says or as UTF-8; nothing is guessed, for there may be very many."""
    if data.isascii() and not label.startswith(_NOT_ASCII):
        return data.decode("ascii")
    known = known_label(label) or "windows-1252"
    for name in (known, "utf-8"):
        try:
            data.decode(codec_of(name))
        except (UnicodeDecodeError, ValueError):
            continue
        return decode_text(data, name)[0]
    return data.decode(codec_of(known), errors_of(known))


def _word_bytes(encoding: str, text: str) -> bytes:
    if encoding in "bB":
        return decode_base64(text.encode("ascii", "replace"))
    return unquote_to_bytes(re.sub(r"=(?=[0-9A-Fa-f]{2})", "%", text.replace("%", "%25").replace("_", " ")))


def _split_addresses(value: str) -> Iterator[str]:
    name: list[str] = []
    address = ""
    for quoted, angled, comment, end, bare in (*_ADDRESS_TOKEN.findall(value), ("", "", "", ",", "")):
        word = _GROUP.sub("", bare).strip()
        if end:
            shown = _show_address(" ".join(filter(None, name)), address)
            if shown:
                yield shown
            name, address = [], ""
        elif angled or ("@" in word and " " not in word):
            address = angled.strip() or word
        else:
            name.append(re.sub(r"\\(.)", r"\1", quoted) or comment.strip() or word)


def _show_address(name: str, address: str) -> str:
    name = decode_words(name)
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        name = name[1:-1]
    if not address or name == address:
        return address or name
    return f"{name} <{address}>" if name else address
