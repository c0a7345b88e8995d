"""RTF text: compressed as mail programs send it ([MS-OXRTFCP]), and its words without the markup."""

from __future__ import annotations

import re

_COMPRESSED = b"LZFu"
_STORED = b"MELA"
_WINDOW = 4096
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_HTML_SWITCH = re.compile(rb"\\htmlrtf(\d*) ?")


def decompress(data: bytes) -> bytes:
    """Return the RTF in a compressed body, as far as it is whole; b"" when it is none.

    The result is at most nine times as long as the input: a reference of two bytes stands for up to 17.
    """
    kind, size = data[8:12], int.from_bytes(data[4:8], "little")
    if kind == _STORED:
        return data[16 : 16 + size]
    return bytes(_expand(data)[len(_DICTIONARY) :][:size]) if kind == _COMPRESSED else b""


def _expand(data: bytes) -> bytearray:
    """Expand the runs after the 16 bytes of the header; positions count in a ring of 4,096 bytes."""
    out = bytearray(_DICTIONARY)
    at = 16
    while at < len(data):
        control = data[at]
        at += 1
        for bit in range(8):
            if not control >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            token = int.from_bytes(data[at : at + 2], "big")
            at += 2
            offset, length = token >> 4, (token & 15) + 2
            distance = (len(out) - offset) % _WINDOW
            if at > len(data) or not distance or distance > len(out):  # no distance marks the end
                return out
            for _ in range(length):
                out.append(out[-distance])
    return out


def rtf_to_text(data: bytes) -> str:
    """Return the words of RTF; what wraps embedded HTML only for programs that read no HTML is left out."""
    from striprtf.striprtf import rtf_to_text as strip_markup  # only few mails carry any

    shown: list[bytes] = []
    at, hidden = 0, False
    for switch in _HTML_SWITCH.finditer(data):
        if not hidden:
            shown.append(data[at : switch.start()])
        hidden, at = switch.group(1) != b"0", switch.end()
    if not hidden:
        shown.append(data[at:])
    text: str = strip_markup(b"".join(shown).decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    return text.strip()
