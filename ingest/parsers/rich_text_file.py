"""RTF files: paragraphs and what the document says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.model import Cell, ElementKind
from ingest.parsers.rich_text import rtf_to_text

_INFO = re.compile(rb"\{\\(title|author|subject|keywords|doccomm)\s([^{}]*)\}")
_CREATED = re.compile(rb"\{\\creatim((?:\\(?:yr|mo|dy|hr|min|sec)\d+)+)")
_PART = re.compile(rb"\\(yr|mo|dy|hr|min|sec)(\d+)")
_HEAD = 65_536


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the paragraphs of an RTF file; rows of tables come as rows.

    Raises:
        CorruptFile: it does not begin like RTF.
    """
    data = context.path.read_bytes()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise CorruptFile("The file does not begin like RTF.")
    _describe(context, data[:_HEAD])
    for number, line in enumerate(rtf_to_text(data).splitlines(), start=1):
        yield from _piece(line, SectionAnchor(paragraph=number))


def _piece(line: str, anchor: SectionAnchor) -> Iterator[Piece]:
    cells = [" ".join(cell.split()) for cell in line.split("|")]
    if len(cells) > 2 and not cells[-1]:  # striprtf ends every cell with a bar
        values = [(str(column), value) for column, value in enumerate(cells[:-1], start=1) if value]
        if values:
            row = tuple(Cell(name=name, value=value) for name, value in values)
            yield Piece(ElementKind.TABLE_ROW, " | ".join(cell.value for cell in row), anchor, cells=row)
        return
    text = " ".join(line.split())
    if text:
        yield Piece(ElementKind.PARAGRAPH, text, anchor)


def _describe(context: ParseContext, head: bytes) -> None:
    said = {
        name.decode(): " ".join(rtf_to_text(b"{\\rtf1\\ansi " + value + b"}").split())
        for name, value in _INFO.findall(head)
    }
    created = _created(head)
    context.describe(
        title=said.get("title") or None,
        authors=(said["author"],) if said.get("author") else None,
        created_at=created,
        occurred_at=created,
        extra={key: said[key] for key in ("subject", "keywords", "doccomm") if said.get(key)},
    )


def _created(head: bytes) -> datetime | None:
    match = _CREATED.search(head)
    if match is None:
        return None
    part = {name.decode(): int(value) for name, value in _PART.findall(match.group(1))}
    try:
        day = datetime(part.get("yr", 1), part.get("mo", 1), part.get("dy", 1), tzinfo=UTC)
        return day.replace(hour=part.get("hr", 0), minute=part.get("min", 0), second=part.get("sec", 0))
    except ValueError:
        return None
