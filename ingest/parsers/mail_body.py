"""The body of a mail: plain text and HTML parts to elements, one of two ways to say the same chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ingest.anchors import MailAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.html_blocks import blocks
from ingest.parsers.html_tokens import unify_newlines
from ingest.parsers.mail_parts import Leaf
from ingest.parsers.mail_quotes import Replies, attribution_length, is_signature, strip_marks

# Words, and each character of scripts that put no blanks between words.
_WORDS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff]|[^\W\u2e80-\u9fff\uac00-\ud7ff]+")
_ADDRESS = re.compile(r"https?://|mailto:|www\.|cid:")
_SAME = 0.9  # share of the words of the HTML that plain text must hold to stand for it


def read_text(text: str, part: str, replies: Replies) -> Iterator[Piece]:
    """Yield the paragraphs of plain text: runs of lines of equal quote depth."""
    lines = [strip_marks(line) for line in unify_newlines(text).split("\n")]
    group: list[str] = []
    start = depth = attributed = 0
    for number, (deep, content) in enumerate([*lines, (0, "")], start=1):
        begins = is_signature(content)
        if number > attributed and (
            length := attribution_length(one for _, one in lines[number - 1 : number + 2])
        ):
            begins, attributed = True, number + length - 1
        if group and (not content.strip() or deep != depth or begins):
            yield _paragraph(part, replies, group, start, depth)
            group = []
        if content.strip():
            start, depth = (start, depth) if group else (number, deep)
            group.append(content.rstrip())


def _paragraph(part: str, replies: Replies, lines: list[str], start: int, depth: int) -> Piece:
    text = "\n".join(lines)
    kind = replies.kind(text, ElementKind.PARAGRAPH, depth > 0)
    anchor = MailAnchor(part=part, line_start=start, line_end=start + len(lines) - 1)
    return Piece(kind, text, anchor, metadata={"depth": depth} if depth else {})


def read_html(text: str, part: str, replies: Replies) -> Iterator[Piece]:
    """Yield the blocks of HTML."""
    for block in blocks(text):
        if block.kind is ElementKind.TITLE:
            continue  # mail programs put the subject or their own name there; no reader is shown it
        kind = replies.kind(block.text, block.kind, bool(block.metadata.get("quoted")))
        anchor = MailAnchor(part=part, line_start=block.line_start, line_end=block.line_end)
        yield Piece(kind, block.text, anchor, block.level, block.cells, block.metadata)


def carried_elsewhere(found: list[Leaf]) -> dict[str, frozenset[str]]:
    """Find the body parts that repeat another part of the same alternative.

    Plain text is the one to read where it holds the words of the HTML, else the HTML is.

    Returns:
        The place of each part that repeats, with the words of the part to read in its stead.
    """
    groups: dict[str, list[Leaf]] = {}
    for leaf in found:
        if leaf.alternative is not None and leaf.is_body:
            groups.setdefault(leaf.alternative, []).append(leaf)
    carried: dict[str, frozenset[str]] = {}
    for group in groups.values():
        plain = [leaf for leaf in group if not leaf.is_markup]
        rich = [leaf for leaf in group if leaf.is_markup]
        if plain and rich:
            said, shown = _words(*map(_shown, plain)), _words(*map(_shown, rich))
            keeps_plain = said and (said & shown).total() >= _SAME * shown.total()
            carried |= {
                leaf.path: frozenset(said if keeps_plain else shown)
                for leaf in (rich if keeps_plain else plain)
            }
    return carried


def unsaid(pieces: Iterable[Piece], known: frozenset[str]) -> Iterator[Piece]:
    """Yield the pieces that hold a word beyond those known: what a part adds to the one it repeats."""
    for piece in pieces:
        if not known.issuperset(_words(piece.text)):
            yield piece._replace(metadata={**piece.metadata, "alternative": True}) if known else piece


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of some texts, for ``unsaid``."""
    return frozenset(_words(*texts))


def _shown(leaf: Leaf) -> str:
    return " ".join(block.text for block in blocks(leaf.text)) if leaf.is_markup else leaf.text


def _words(*texts: str) -> Counter[str]:
    plain = " ".join(word for text in texts for word in text.split() if not _ADDRESS.search(word))
    return Counter(_WORDS.findall(plain.lower()))
