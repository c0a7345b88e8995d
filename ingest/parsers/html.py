"""HTML pages: what a reader sees, as blocks with their headings and source lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.model import ElementKind
from ingest.parsers.html_blocks import blocks
from ingest.parsers.html_pictures import page_pictures
from ingest.parsers.html_text import Block
from ingest.parsers.html_tokens import attributes, tokens, unify_newlines

_PRESCAN = 8192  # bytes; the standard asks for 1,024, real pages are later
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_CHARSET = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_DATES = ("article:published_time", "date", "dcterms.created", "dc.date", "dcterms.date", "pubdate")
_MODIFIED = ("article:modified_time", "dcterms.modified", "last-modified")
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator")
_EXTRA = ("description", "keywords", "og:site_name", "generator")


def declared_charset(data: bytes) -> str | None:
    """Return the encoding HTML bytes declare of themselves."""
    head = _COMMENT.sub(b"", data[:_PRESCAN])
    found = _CHARSET.search(head) or _XML_ENCODING.search(head)
    return found.group(1).decode("ascii", "replace").lower() if found else None


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the blocks of a page; metadata comes from its head. Nothing is fetched."""
    data = context.path.read_bytes()
    text, encoding = decode_text(data, declared_charset(data))
    context.describe(encoding=encoding)
    _describe(context, unify_newlines(text))
    for block in blocks(text):
        if block.kind is ElementKind.TITLE:
            context.describe(title=context.metadata.title or block.text)
        yield Piece(block.kind, block.text, _anchor(block), block.level, block.cells, block.metadata)
    yield from page_pictures(context, text)


def _anchor(block: Block) -> SectionAnchor:
    return SectionAnchor(heading_path=block.headings, line_start=block.line_start, line_end=block.line_end)


def _describe(context: ParseContext, text: str) -> None:
    """Report what the head of a page says of it."""
    found: dict[str, str] = {}
    language = None
    for token in tokens(text):
        if token.kind != "start":
            continue
        if token.data == "body":
            break
        if token.data == "html":
            language = attributes(token.raw).get("lang")
        elif token.data == "meta":
            values = attributes(token.raw)
            name = values.get("name") or values.get("property") or values.get("itemprop") or ""
            found.setdefault(name.lower(), " ".join(values.get("content", "").split()))
    context.describe(
        title=found.get("og:title"),
        authors=tuple(dict.fromkeys(found[name] for name in _AUTHORS if found.get(name))),
        language=language or found.get("language"),
        created_at=_date(found, _DATES),
        occurred_at=_date(found, _DATES),
        modified_at=_date(found, _MODIFIED),
        extra={name: found[name] for name in _EXTRA if found.get(name)},
    )


def _date(found: dict[str, str], names: tuple[str, ...]) -> datetime | None:
    for name in names:
        try:
            moment = datetime.fromisoformat(found.get(name, ""))
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
