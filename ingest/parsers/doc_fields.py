"""What of a Word 97 to 2003 text is not shown: deleted text, and the instructions of fields."""

from __future__ import annotations

import re

from ingest.parsers.doc_format import Formats
from ingest.parsers.doc_text import DocText

_MARKS = re.compile(r"[\x13\x14\x15]")
_BEGIN, _SEPARATOR = "\x13", "\x14"
_EQUATION = re.compile(r"\x13\s*EQ\s.*[,(](?P<base>[^(),\\]*)\)\s*$", re.IGNORECASE | re.DOTALL)
_MAX_EQUATION = 2000
_HIDDEN = "\0"


def visible_text(document: DocText, formats: Formats) -> str:
    """Return the text with what is not shown blotted out by zeros, so that positions stay the same."""
    text = document.text
    spans = sorted([*formats.deletions(), *_instructions(text)])
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        if end > at:
            pieces.append(text[at : max(start, at)])
            pieces.append(_HIDDEN * (end - max(start, at)))
            at = end
    return "".join((*pieces, text[at:]))


def _instructions(text: str) -> list[tuple[int, int]]:
    """Return the spans of field instructions; one that never ends hides nothing."""
    spans: list[tuple[int, int]] = []
    waiting: list[int] = []  # where open fields began, -1 for those in their result
    for found in _MARKS.finditer(text):
        if found[0] == _BEGIN:
            waiting.append(found.start())
        elif waiting:
            start = waiting.pop()
            if start >= 0:
                spans.extend(_instruction(text, start, found.start()))
            if found[0] == _SEPARATOR:
                waiting.append(-1)
    return spans


def _instruction(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of one field that show nothing: all of it up to the result.

    An EQ field has no result: it draws its last argument, as in a character with its reading above.
    """
    drawn = _EQUATION.match(text, start, min(end, start + _MAX_EQUATION))
    return [(start, drawn.start("base")), (drawn.end("base"), end)] if drawn else [(start, end)]
