"""Bytes to characters, with the encoding found and named.

The order of trust: a byte order mark, what the source declares (when the bytes agree), UTF-16 and UTF-32 by
their zero bytes, UTF-8, 7-bit escape encodings, and at last the most natural legacy code page.
"""

from __future__ import annotations

import codecs
import io
import re
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from ingest.charset_letters import EAST_ASIAN
from ingest.charsets import codec_of, guess_charset

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)

# Labels whose text in the wild is in a superset (WHATWG Encoding standard).
_SUPERSETS = {
    "ascii": "windows-1252", "us-ascii": "windows-1252", "iso-8859-1": "windows-1252",
    "latin1": "windows-1252", "latin-1": "windows-1252", "iso-8859-9": "windows-1254",
    "iso-8859-11": "windows-874",
    "tis-620": "windows-874", "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030",
    "euc-cn": "gb18030", "shift-jis": "shift_jis", "x-sjis": "shift_jis", "sjis": "shift_jis",
    "windows-31j": "shift_jis", "x-euc-jp": "euc-jp", "ks-c-5601-1987": "euc-kr", "ksc5601": "euc-kr",
    "windows-949": "euc-kr", "big5-hkscs": "big5", "x-mac-roman": "macintosh",
    "x-mac-cyrillic": "mac-cyrillic", "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8",
}  # fmt: skip

_NOISE_SHARE, _NOISE_SCORE, _NOISE_BYTES = 0.3, 0.6, 1024
_WHOLE_BYTES = 8 * 2**20
_WINDOW_BYTES = 512 * 2**10
_LOST = re.compile("[\ufffd]")


def decode_text(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the text of some bytes and the name of its encoding; never fails.

    What cannot be decoded becomes U+FFFD; in UTF-8 text stray bytes are read as windows-1252.

    Args:
        data: all bytes of the text.
        declared: what the source says its encoding is; believed when the bytes agree.
    """
    encoding = find_encoding(data, declared)
    return data.decode(codec_of(encoding), errors_of(encoding)), encoding


def find_encoding(data: bytes, declared: str | None = None) -> str:
    """Return the name of the encoding of some bytes; ``codec_of`` it decodes them."""
    label = known_label(declared)
    marked = _by_mark(data)
    if marked or (label and _agrees(data, label)):
        return marked or str(label)
    found = _by_zeros(data) or _by_escapes(data) or ("utf-8" if _is_utf8(data) else None)
    if found:
        return found
    guess = guess_charset(data)
    # A label is still the better witness where the letters tell nothing.
    return label if label and label != "utf-8" and guess.score < 0 else guess.encoding


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a file in an encoding ``find_file_encoding`` gave; every line end becomes one line feed."""
    return path.open(encoding=codec_of(encoding), errors=errors_of(encoding))


def find_file_encoding(path: Path) -> str:
    """Return the encoding of a file, from all of it up to 8 MiB and from its parts beyond.

    UTF-8 is checked over the whole file whatever its size; other encodings by five windows of 512 KiB.
    """
    with path.open("rb") as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        if size <= _WHOLE_BYTES:
            return find_encoding(stream.read())
        head = stream.read(_WINDOW_BYTES)
        wide = wide_encoding(head)
        if wide:
            return wide
        stream.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := stream.read(2**20):
                decoder.decode(chunk)
            return "utf-8"
        except UnicodeDecodeError:
            broken_at = stream.tell() - 2**20
        windows = [head]
        for place in (max(broken_at, 0), size // 4, size // 2, size - _WINDOW_BYTES):
            stream.seek(place)
            stream.readline(_WINDOW_BYTES)  # start at a line so that no character is cut in half
            windows.append(stream.read(_WINDOW_BYTES).rpartition(b"\n")[0])
        return find_encoding(b"\n".join(windows))


def wide_encoding(data: bytes) -> str | None:
    """Return the encoding a mark or the zero bytes of UTF-16 and UTF-32 tell, None without either."""
    return _by_mark(data) or _by_zeros(data[: len(data) // 4 * 4])


@lru_cache(maxsize=8)  # an attachment is looked at where it hangs and again as a file of its own
def is_noise(sample: bytes) -> bool:
    """Tell bytes that decode only as letters in no order of any language: sound, samples of a sensor."""
    beyond = sum(sample.count(code) for code in range(0x80, 0x100))
    if beyond < _NOISE_SHARE * len(sample) or wide_encoding(sample) or _is_utf8(sample):
        return False
    guess = guess_charset(sample[:_NOISE_BYTES])
    # Encodings of several bytes refuse noise by themselves.
    return guess.encoding not in EAST_ASIAN and guess.score < _NOISE_SCORE


def errors_of(encoding: str) -> str:
    """Return the error handler to decode an encoding with."""
    return "strata-windows-1252" if encoding in ("utf-8", "utf-8-sig") else "replace"


def known_label(declared: str | None) -> str | None:
    """Return the name of a declared encoding, None when it is unknown or unusable."""
    label = (declared or "").strip().strip("\"'").lower().replace("_", "-")
    label = _SUPERSETS.get(label, label)
    try:
        info = codecs.lookup(codec_of(label))
    except (LookupError, ValueError):  # ValueError: a NUL or a letter beyond ASCII in the label
        return None
    is_text = getattr(info, "_is_text_encoding", True)
    return label if is_text and info.name not in ("utf-7", "idna", "punycode", "unicode_escape") else None


def _agrees(data: bytes, label: str) -> bool:
    codec = codec_of(label)
    if codec.startswith(("utf-16", "utf-32")) and b"\0" not in data[:4096]:
        return False  # a page that can be read as ASCII to find its label is not in UTF-16
    try:
        data.decode(codec)
    except (UnicodeDecodeError, ValueError):
        return False
    # Bytes that happen to be UTF-8 are: single-byte labels accept any bytes and prove nothing.
    one_byte = len("é".encode(codec, "replace")) == 1 and len("中".encode(codec, "replace")) == 1
    return not (one_byte and not data.isascii() and _is_utf8(data, strict=True))


def _by_mark(data: bytes) -> str | None:
    return next((name for mark, name in _BOMS if data.startswith(mark)), None)


def _by_zeros(data: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 without a mark by where their zero bytes stand."""
    sample = data[: 2**16]
    sample = sample[: len(sample) // 4 * 4]
    if len(data) % 2 or sample.count(0) * 50 < len(sample) or not sample:
        return None
    zeros = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    if len(data) % 4 == 0 and min(zeros[2:]) > 0.95 and zeros[0] < 0.5:
        return _strictly(data, "utf-32-le")
    if len(data) % 4 == 0 and min(zeros[:2]) > 0.95 and zeros[3] < 0.5:
        return _strictly(data, "utf-32-be")
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if odd > 3 * even:
        return _strictly(data, "utf-16-le")
    if even > 3 * odd:
        return _strictly(data, "utf-16-be")
    return None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else encoding


def _by_escapes(data: bytes) -> str | None:
    """Tell the 7-bit encodings of East Asian mail by their escape sequences."""
    if not data.isascii():
        return None
    for mark, name in ((b"\x1b$", "iso-2022-jp"), (b"\x1b$)C", "iso-2022-kr"), (b"~{", "hz")):
        if mark in data:
            try:
                text = data.decode(name)
            except UnicodeDecodeError:
                continue
            if not text.isascii():
                return name
    return None


def _is_utf8(data: bytes, *, strict: bool = False) -> bool:
    """Tell UTF-8, a cut last character included; unless strict, with one stray byte among many good ones."""
    try:
        data.decode()
        return True
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and error.reason == "unexpected end of data":
            return not data[: error.start].isascii()
        if strict:
            return False
    text = data.decode("utf-8", "replace")
    lost = len(_LOST.findall(text))
    return sum(1 for sign in text if sign > "\x7f") - lost > 20 * lost


def _stray(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are no UTF-8 as windows-1252, where pasted pieces usually come from."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


codecs.register_error("strata-windows-1252", _stray)
