"""Plain text: paragraphs divided by blank lines, with their lines, read as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.cutting import cut_at
from ingest.encoding import find_file_encoding, open_text
from ingest.model import ElementKind

# A log has no blank lines: a paragraph ends here at the latest, at the end of a line where possible.
PARAGRAPH_CHARS = 4_000


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield one paragraph for each run of lines that are not blank, long runs in parts."""
    encoding = find_file_encoding(context.path)
    context.describe(encoding=encoding)
    with open_text(context.path, encoding) as stream:
        yield from paragraphs(_lines(stream))


def paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Yield the paragraphs of numbered lines."""
    block: list[str] = []
    start = last = length = 0
    for number, line in lines:
        blank = not line.strip()
        if block and (blank or length + len(line) > PARAGRAPH_CHARS):
            yield _paragraph(block, start, last)
            block, length = [], 0
        if not blank:
            start = start if block else number
            block.append(line)
            length += len(line) + 1
            last = number
    if block:
        yield _paragraph(block, start, last)


def _paragraph(block: list[str], start: int, last: int) -> Piece:
    return Piece(ElementKind.PARAGRAPH, "\n".join(block), SectionAnchor(line_start=start, line_end=last))


def _lines(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Yield numbered lines; a line longer than a paragraph comes in parts with the same number."""
    number, rest, ended = 0, "", True
    while chunk := stream.readline(PARAGRAPH_CHARS):
        number += ended
        ended = chunk.endswith("\n")
        text = rest + chunk.rstrip("\n")
        while len(text) > PARAGRAPH_CHARS:
            cut = cut_at(text, PARAGRAPH_CHARS)
            yield number, text[:cut].rstrip()
            text = text[cut:]
        rest = "" if ended else text
        if ended:
            # A form feed starts a page, so it parts paragraphs as a blank line does.
            before, feed, after = text.rpartition("\f")
            if feed:
                yield number, before.replace("\f", " ")
                yield number, ""
            yield number, after.rstrip()
    if rest:
        yield number, rest.rstrip()
