"""HTML source to start tags, end tags and text, each with its line, in one pass over the characters.

Follows the tokenization states of the WHATWG HTML standard, section 13.2.5. Strata has its own because no
parser at hand fits both hostile files and line anchors: libxml2 stops at 2,048 open elements and counts no
lines above 65,535; lexbor takes time with the square of the depth and knows no lines; the standard library's
``html.parser`` (3.11.7) needs half a minute for 60 KB of unfinished tags. Here the work is in proportion to
the number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

# Content of these is not markup: the first five are never shown, of the others it is the text.
_UNSHOWN = frozenset({"script", "style", "iframe", "noembed", "xml"})
_CHARACTERS = frozenset({"title", "textarea"})  # references are resolved in them
_RAW = _UNSHOWN | _CHARACTERS | {"xmp", "plaintext"}

# Possessive all through: a tag either matches or does not, no other way of reading it is tried.
_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|(?=>)|[^\s>"'][^\s>]*+))?+"""
_TAG = re.compile(rf"<(/?+)([a-zA-Z][^\s/>]*+)((?:[\s/]++|{_ATTRIBUTE})*+)>")
_ATTRIBUTES = re.compile(
    r"""([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|(?=>)|([^\s>"'][^\s>]*+)))?+"""
)
_LOOSE_TAG = re.compile(r"<(/?+)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_COMMENT_END = re.compile(r"--!?>")


class Token(NamedTuple):
    """A piece of HTML source.

    Attributes:
        kind: what it is.
        data: the lower-case name of a tag, or text with references resolved.
        line: 1-based line it begins on.
        raw: what stands between a start tag's name and its end; see ``attributes``.
    """

    kind: Literal["start", "end", "text"]
    data: str
    line: int
    raw: str = ""

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of a start tag."""
        return self.line, self.line + self.raw.count("\n")


def attributes(raw: str) -> dict[str, str]:
    """Return the attributes of a start tag, names in lower case; of equal names the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTES.findall(raw):
        found.setdefault(name.lower(), unescape(double or single or bare))
    return found


def unify_newlines(text: str) -> str:
    r"""Return text whose lines all end in ``\n``, as the standard asks before tokenization."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def tokens(text: str, line: int = 1) -> Iterator[Token]:
    """Yield the tokens of HTML source; comments, declarations, scripts and styles are left out.

    Args:
        text: source with unified newlines.
        line: number of its first line.
    """
    position, end = 0, len(text)
    last_close = text.rfind(">")
    while position < end:
        stop = text.find("<", position)
        while stop >= 0 and not _opens_markup(text, stop):
            stop = text.find("<", stop + 1)
        if stop < 0 or (stop > last_close and not text.startswith("<!--", stop)):
            stop = end
        if stop > position:
            yield Token("text", unescape(text[position:stop]), line)
            line += text.count("\n", position, stop)
        if stop == end:
            return
        position = stop
        match = _tag(text, position)
        after = match.end() if match else _skip_declaration(text, position, last_close)
        if match:
            slash, name, raw = match.groups()
            name = name.lower()
            yield Token("end" if slash else "start", name, line, raw)
        line += text.count("\n", position, after)
        position = after
        if match and not slash and name in _RAW:
            after = _end_of_raw(text, position, name)
            if name not in _UNSHOWN and after > position:
                inside = text[position:after]
                yield Token("text", unescape(inside) if name in _CHARACTERS else inside, line)
            line += text.count("\n", position, after)
            position = after


def _opens_markup(text: str, at: int) -> bool:
    follows = text[at + 1 : at + 3]
    if follows[:1] == "/":
        return len(follows) == 2
    return follows[:1] in "!?" or (follows[:1].isascii() and follows[:1].isalpha()) if follows else False


def _tag(text: str, at: int) -> re.Match[str] | None:
    # A quote that is never closed would swallow the rest of the file: such a tag ends at the next ">".
    return _TAG.match(text, at) or _LOOSE_TAG.match(text, at)


def _skip_declaration(text: str, at: int, last_close: int) -> int:
    """Return where a comment, declaration or processing instruction that begins at ``at`` ends."""
    if not text.startswith("<!--", at):
        return min(text.find(">", at, last_close + 1) + 1 or len(text), len(text))
    if text.startswith((">", "->"), at + 4):
        return text.index(">", at) + 1
    match = _COMMENT_END.search(text, at + 4)
    return match.end() if match else len(text)


def _end_of_raw(text: str, at: int, name: str) -> int:
    """Return where the content of a raw element that begins at ``at`` ends."""
    if name == "plaintext":
        return len(text)
    match = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)
    return match.start() if match else len(text)
