"""Bytes to characters, with the encoding found and named."""

from __future__ import annotations

import codecs

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode_text(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the text of some bytes and the name of its encoding; never fails.

    Args:
        data: all bytes of the text.
        declared: what the source says its encoding is; believed when the bytes agree.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace"), name
    for name in filter(None, (declared, "utf-8")):
        try:
            return data.decode(name), name
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("windows-1252", "replace"), "windows-1252"
