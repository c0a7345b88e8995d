"""Plain text: paragraphs divided by blank lines, with their lines."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.model import ElementKind


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield one paragraph for each run of lines that are not blank."""
    text, encoding = decode_text(context.path.read_bytes())
    context.describe(encoding=encoding)
    block: list[str] = []
    start = 1
    for number, line in enumerate((*text.splitlines(), ""), start=1):
        if line.strip():
            block = block or []
            start = start if block else number
            block.append(line.rstrip())
        elif block:
            anchor = SectionAnchor(line_start=start, line_end=number - 1)
            yield Piece(ElementKind.PARAGRAPH, "\n".join(block), anchor)
            block = []
