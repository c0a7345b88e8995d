"""The body of a mail: plain text and HTML parts to elements, one of two ways to say the same chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ingest.anchors import MailAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.html_blocks import blocks
from ingest.parsers.html_tokens import unify_newlines
from ingest.parsers.mail_parts import Leaf
from ingest.parsers.mail_quotes import Replies, attribution_length, is_signature, strip_marks

_WORDS = re.compile(r"\w+")
_ADDRESSES = re.compile(r"\S*(?:https?://|mailto:|www\.|cid:)\S*")
_SAME = 0.9  # share of words that makes one text carry the other


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


def superfluous(found: list[Leaf]) -> set[str]:
    """Return the paths of those body parts that another part of the same alternative carries.

    Plain text is kept where it holds the words of the HTML, the HTML where it holds those of the plain text,
    and both where they differ in substance.
    """
    dropped: set[str] = set()
    groups: dict[str, list[Leaf]] = {}
    for leaf in found:
        if leaf.alternative is not None and leaf.is_body:
            groups.setdefault(leaf.alternative, []).append(leaf)
    for group in groups.values():
        plain = [leaf for leaf in group if not leaf.is_markup]
        rich = [leaf for leaf in group if leaf.is_markup]
        if plain and rich:
            dropped |= {leaf.path for leaf in _weaker(plain, rich)}
    return dropped


def carries(said: str, more: str) -> bool:
    """Whether a text holds the words of another one."""
    return _share(_words(more), _words(said)) >= _SAME


def _weaker(plain: list[Leaf], rich: list[Leaf]) -> list[Leaf]:
    said = " ".join(leaf.text for leaf in plain)
    shown = " ".join(block.text for leaf in rich for block in blocks(leaf.text))
    if said.strip() and carries(said, shown):
        return rich
    return plain if carries(shown, said) else []


def _words(text: str) -> Counter[str]:
    return Counter(_WORDS.findall(_ADDRESSES.sub(" ", text).lower()))


def _share(of: Counter[str], among: Counter[str]) -> float:
    """Return which share of the words of one text stand in another."""
    total = of.total()
    return 1.0 if not total else (of & among).total() / total
