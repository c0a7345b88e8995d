"""The parts of a mail: the MIME tree (RFC 2045, 2046) walked over the bytes, leaf by leaf.

The bytes of a part are cut out of the source, not put together anew, so that a nested mail keeps its hash. A
missing or wrong boundary, a part without headers and endless nesting are expected, not errors.
"""

from __future__ import annotations

import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ingest.encoding import decode_text
from ingest.errors import MaliciousFile
from ingest.parsers.html import declared_charset
from ingest.parsers.mail_headers import Headers, decode_base64, read_headers

_MAX_DEPTH = 40  # multiparts inside one another; people do not write more than a handful
_MAX_PARTS = 2_000
_MAX_FILES_IN_TEXT = 200
_GUESSED_BOUNDARY = re.compile(
    rb"^--(\S(?:[^\r\n]{0,198}\S)?+)[ \t]*+\r?\n(?:[!-9;-~]+:|\r?\n)", re.MULTILINE
)
_UU_BEGIN = re.compile(rb"^begin [0-7]{3} ([^\r\n]+)\r?$", re.MULTILINE)
_UU_IN_TEXT = re.compile(r"^begin [0-7]{3} ([^\r\n]+)\r?\n(?=M)", re.MULTILINE)
_UU_END = re.compile(r"^end\s*$", re.MULTILINE)
_HTML_START = re.compile(
    r"\s*<(?:!doctype html|html|head|body|div|p|table|span|meta|font)[\s>]", re.IGNORECASE
)
_MARKUP = frozenset({"text/html", "text/richtext", "text/enriched", "application/xhtml+xml"})
_PLAIN_TYPES = frozenset({"text/plain", "text/html"})


@dataclass(frozen=True)
class Leaf:
    """A part that holds no parts.

    Attributes:
        path: its place, "1.2"; the only part of a simple mail is "1".
        headers: those of the part.
        raw: its bytes as they stand in the mail.
        media_type: declared or, where nothing is declared, the default at this place.
        alternative: place of the innermost multipart that offers several ways to say the same, None outside.
    """

    path: str
    headers: Headers
    raw: bytes
    media_type: str
    alternative: str | None = None

    @cached_property
    def data(self) -> bytes:
        """The content with its transfer encoding undone."""
        return _undo_transfer(self.raw, self.headers.get("Content-Transfer-Encoding"))

    @cached_property
    def text(self) -> str:
        """The content as text, in its declared encoding or the one found."""
        declared = self.headers.parameter("Content-Type", "charset")
        if not declared and self.media_type == "text/html":
            declared = declared_charset(self.data) or ""
        return decode_text(self.data, declared)[0]

    @property
    def is_markup(self) -> bool:
        """Whether the text is HTML or reads like it, whatever its type says."""
        return self.media_type in _MARKUP or (
            self.media_type == "text/plain" and _HTML_START.match(self.text) is not None and "</" in self.text
        )

    @property
    def is_attached(self) -> bool:
        """Whether the sender calls it an attachment."""
        return self.headers.get("Content-Disposition").partition(";")[0].strip().lower() == "attachment"

    @property
    def is_body(self) -> bool:
        """Whether it is text to be read with the mail rather than a file that came with it."""
        return self.media_type in _PLAIN_TYPES and not self.is_attached


def leaves(headers: Headers, body: bytes, path: str = "") -> Iterator[Leaf]:
    """Yield the leaves of a mail, or of the part at ``path``, in order.

    Raises:
        MaliciousFile: more parts, or more nested, than any mail has.
    """
    for count, leaf in enumerate(_walk(path, headers, body, "text/plain", None), start=1):
        if count > _MAX_PARTS:
            raise MaliciousFile(f"The mail is divided into more than {_MAX_PARTS} parts.")
        yield leaf


def _walk(path: str, headers: Headers, body: bytes, default: str, alternative: str | None) -> Iterator[Leaf]:
    if path.count(".") >= _MAX_DEPTH:
        raise MaliciousFile(f"The parts of the mail are nested more than {_MAX_DEPTH} deep.")
    media_type = headers.media_type or default
    parts = _split(headers, body) if media_type.startswith("multipart/") else []
    if not parts:
        if media_type.startswith("multipart/"):
            media_type = "text/plain"
        yield Leaf(path or "1", headers, body, media_type, alternative)
        return
    default = "message/rfc822" if media_type == "multipart/digest" else "text/plain"
    within = path if media_type == "multipart/alternative" else alternative
    for number, part in enumerate(parts, start=1):
        inner = read_headers(part, is_part=True)
        place = f"{path}.{number}" if path else str(number)
        yield from _walk(place, inner, part[inner.body_at :], default, within)


def _split(headers: Headers, body: bytes) -> list[bytes]:
    """Return the parts of a multipart body, none where no boundary line is found."""
    declared = headers.parameter("Content-Type", "boundary").encode("utf-8", "surrogateescape").rstrip()
    parts = _cut(body, declared) if declared else []
    if not parts:
        guess = _GUESSED_BOUNDARY.search(body)
        parts = _cut(body, guess.group(1)) if guess else []
    return parts


def _cut(body: bytes, boundary: bytes) -> list[bytes]:
    """Cut at the boundary lines; what stands before the first and after the last one is no part."""
    line = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?$\n?", re.MULTILINE)
    parts: list[bytes] = []
    begin: int | None = None
    for match in line.finditer(body):
        if begin is not None:
            parts.append(_without_last_newline(body[begin : match.start()]))
        begin = None if match.group(1) else match.end()
    if begin is not None and begin < len(body):  # the end of the mail is missing
        parts.append(body[begin:])
    return parts


def _without_last_newline(part: bytes) -> bytes:
    return part[:-2] if part.endswith(b"\r\n") else part.removesuffix(b"\n")


def _undo_transfer(raw: bytes, encoding: str) -> bytes:
    encoding = encoding.partition(";")[0].strip().strip("\"'").lower()
    if encoding == "base64":
        return decode_base64(raw)
    if encoding == "quoted-printable":
        return quopri.decodestring(raw)
    if encoding in ("x-uuencode", "uuencode", "x-uue", "uue"):
        begin = _UU_BEGIN.search(raw)
        return decode_uu(raw[begin.end() :]) if begin else raw
    return raw


def decode_uu(lines: bytes) -> bytes:
    """Decode the lines of a uuencoded file up to its end; a broken line ends it too."""
    found: list[bytes] = []
    for line in lines.lstrip(b"\r\n").splitlines():
        if line.strip() in (b"end", b"`", b""):
            break
        try:
            found.append(binascii.a2b_uu(line))
        except binascii.Error:
            break
    return b"".join(found)


def cut_uuencoded(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return a text without the files uuencoded in it, their lines left blank, and those files by name."""
    if "\nend" not in text:
        return text, []
    kept: list[str] = []
    files: list[tuple[str, bytes]] = []
    at = 0
    for begin in islice(_UU_IN_TEXT.finditer(text), _MAX_FILES_IN_TEXT):
        end = _UU_END.search(text, begin.end()) if begin.start() >= at else None
        if end is None:
            continue
        data = decode_uu(text[begin.end() : end.start()].encode("ascii", "replace"))
        if data:
            files.append((begin.group(1), data))
            kept += [text[at : begin.start()], "\n" * text.count("\n", begin.start(), end.end())]
            at = end.end()
    return "".join([*kept, text[at:]]), files
