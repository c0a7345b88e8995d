"""What the first bytes of a file say: magic numbers, and the marks of text that is more than plain."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.encoding import wide_encoding
from ingest.formats import DOC, EML, HTML, PDF, RTF, SVG, VTT, XHTML, XLS, ZIP

OLE = "application/x-ole-storage"

_MAGIC = (
    (b"PK\x03\x04", ZIP), (b"PK\x05\x06", ZIP), (b"PK\x07\x08", ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"), (b"II+\0", "image/tiff"), (b"MM\0+", "image/tiff"),
    (b"{\\rtf", RTF),
    (b"\x09\x08\x10\x00\x00\x06", XLS), (b"\x09\x08\x08\x00\x00\x05", XLS), (b"\x09\x04\x06\x00", XLS),
    (b"\x09\x02\x06\x00", XLS), (b"\x09\x00\x04\x00", XLS),
)  # fmt: skip

# Well-known content that is not read, so that the refusal can name it.
_FOREIGN = (
    (b"GIF8", "a GIF picture"), (b"\x1f\x8b", "a gzip archive"), (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\0", "an xz archive"), (b"\x28\xb5\x2f\xfd", "a Zstandard archive"), (b"MZ\x90", "a program"),
    (b"\x7fELF", "a program"), (b"\xca\xfe\xba\xbe", "a program"), (b"\xcf\xfa\xed\xfe", "a program"),
    (b"ID3", "a sound file"), (b".snd", "a sound file"), (b"OggS", "a sound file"), (b"fLaC", "a sound file"),
    (b"\x1aE\xdf\xa3", "a video"), (b"8BPS", "a Photoshop picture"), (b"\0\0\1\0", "an icon"),
    (b"SQLite format 3\0", "a database"), (b"%!PS", "a PostScript file"), (b"wOFF", "a font"),
    (b"\0\x05\x16\x07", "a resource fork of macOS"), (b"\0\x05\x16\0", "a resource fork of macOS"),
)  # fmt: skip

# Control characters that text has no use for. Tab, line ends, form feed, backspace and escape have one.
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\b\x1b") + b"\x7f"
_CONTROL_SHARE = 0.005
# A log with a hole of zeros after a crash is still a log: up to this share of one or a few codes is forgiven.
_CONTROL_SHARE_OF_FEW = 0.1
_FEW = 3

# Atomic and possessive: a comment that could end at any of its dashes would be tried with all of them.
_PROLOG = r"(?>\ufeff|\s++|<!--.*?-->|<\?.*?\?>)*+"
_HTML = re.compile(_PROLOG + r"<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)
_HTML_PIECE = re.compile(
    _PROLOG + r"<(?:head|body|meta|title|table|div|style|script|h1|p|br|b|font|center)\b",
    re.IGNORECASE | re.DOTALL,
)
_SVG = re.compile(
    _PROLOG + r"(?>(?:<!doctype\s+svg[^\[>]*+(?:\[.*?\]\s*+>|>))?)" + _PROLOG + r"<(?:\w+:)?svg[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_OFFICE_XML = (
    ("schemas.microsoft.com/office/word/2003/wordml", DOC),
    ("microsoft-com:office:spreadsheet", XLS),
)
_VTT = re.compile(r"\ufeff?\s*WEBVTT(?:[ \t\r\n]|\Z)")
_HEADER = re.compile(r"([!-9;-~]+)[ \t]*:")
_MAIL_MARKS = {"received", "return-path", "message-id", "mime-version", "delivered-to", "dkim-signature"}
_MAIL_NAMES = _MAIL_MARKS | {
    "from", "to", "cc", "subject", "date", "reply-to", "sender", "content-type", "x-mailer", "user-agent",
    "content-transfer-encoding", "authentication-results",
}  # fmt: skip


class TextHead(NamedTuple):
    """The beginning of a text, good enough to look for ASCII marks, and the wide encoding it needed."""

    text: str
    wide: bool


def binary_type(head: bytes) -> str | None:
    """Return the media type a magic number stands for, ``ZIP`` and ``OLE`` for their families."""
    if b"%PDF-" in head[:1024]:
        return PDF
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


def foreign_type(head: bytes) -> str | None:
    """Return words for content that is known and not read."""
    if head[4:8] == b"ftyp":
        return "a picture (HEIC)" if head[8:12] in (b"heic", b"heix", b"mif1", b"avif") else "a video"
    return next((words for magic, words in _FOREIGN if head.startswith(magic)), None)


def text_head(samples: list[bytes]) -> TextHead | None:
    """Return the beginning of a text, None when the samples hold what no text has.

    Args:
        samples: the first bytes of the file, and some from farther on.
    """
    head = samples[0]
    wide = wide_encoding(head)
    if wide:
        text = head.decode(wide, "replace")
        strange = sum(1 for sign in text if sign < " " and sign not in "\t\n\r\f\b\x1b") + text.count(
            "\ufffd"
        )
        return TextHead(text, wide=True) if strange <= len(text) * 0.02 else None
    data = b"".join(samples).rstrip(b"\x1a\0")
    codes = [code for code in _CONTROL if code in data]
    strange = len(data) - len(data.translate(None, _CONTROL))
    allowed = _CONTROL_SHARE_OF_FEW if len(codes) <= _FEW else _CONTROL_SHARE
    return TextHead(head.decode("latin-1"), wide=False) if strange <= len(data) * allowed else None


def text_type(text: str, *, in_pieces: bool) -> str | None:
    """Return the media type of text with a structure of its own, None for any other text.

    Args:
        text: the beginning of the text.
        in_pieces: a fragment of HTML without its html element counts too.
    """
    if _VTT.match(text):
        return VTT
    if _HTML.match(text) or (in_pieces and _HTML_PIECE.match(text)):
        return XHTML if text.lstrip("\ufeff \r\n").startswith("<?xml") else HTML
    if _SVG.match(text):
        return SVG
    if text.lstrip("\ufeff \r\n").startswith("<?xml"):
        return next((kind for mark, kind in _OFFICE_XML if mark in text[:8192]), None)
    return EML if is_mail(text) else None


def is_mail(text: str) -> bool:
    """Tell a mail by its header: three known fields at least, one of them written by a mail program."""
    names: set[str] = set()
    lines = text.lstrip("\ufeff").splitlines()
    for line in lines[1:] if lines and lines[0].startswith("From ") else lines:
        if not line.strip():
            break
        field = _HEADER.match(line)
        if field:
            names.add(field.group(1).lower())
        elif line[0] not in " \t":
            break
    return bool(names & _MAIL_MARKS) and len(names & _MAIL_NAMES) >= 3
