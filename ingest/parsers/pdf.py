"""PDF: text by pages, through PyMuPDF."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from ingest.anchors import PageAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, EncryptedFile, FileTooLarge
from ingest.model import ElementKind
from ingest.mupdf import PdfDocument, PdfPage, pymupdf

_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Zz])(\d\d)?'?(\d\d)?)?")


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the text of a PDF page by page.

    Raises:
        EncryptedFile: a password is needed to open it.
        CorruptFile: no page can be read.
        FileTooLarge: more pages than ``limits.max_pages``.
    """
    with _open(context) as document:
        _describe(context, document)
        for number in range(document.page_count):
            yield from _read_page(document[number], number + 1)


def _open(context: ParseContext) -> PdfDocument:
    try:
        document = pymupdf.open(context.path, filetype="pdf")
        pages = document.page_count
    except (pymupdf.FileDataError, RuntimeError) as error:
        raise CorruptFile(f"The PDF cannot be opened: {error}.") from error
    if document.needs_pass:
        raise EncryptedFile("The PDF is protected by a password.")
    if pages == 0:
        raise CorruptFile("The PDF has no pages that can be read.")
    if pages > context.limits.max_pages:
        raise FileTooLarge(f"The PDF has {pages} pages; the limit is {context.limits.max_pages}.")
    return document


def _describe(context: ParseContext, document: PdfDocument) -> None:
    info = document.metadata or {}
    created = parse_date(info.get("creationDate"))
    context.describe(
        title=info.get("title") or None,
        authors=(info["author"],) if info.get("author") else None,
        created_at=created,
        modified_at=parse_date(info.get("modDate")),
        occurred_at=created,
        page_count=document.page_count,
    )


def parse_date(raw: str | None) -> datetime | None:
    """Read a PDF date ("D:20240131120000+02'00'", ISO 32000-1, 7.9.4); None if it is not one."""
    match = _DATE.match(raw or "")
    if match is None:
        return None
    year, month, day, hour, minute, second, sign, off_h, off_m = match.groups()
    offset = timedelta(hours=int(off_h or 0), minutes=int(off_m or 0))
    zone = timezone(-offset if sign == "-" else offset)
    try:
        return datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0),
            tzinfo=zone,
        )  # fmt: skip
    except ValueError:
        return None


def _read_page(page: PdfPage, number: int) -> Iterator[Piece]:
    for block in page.get_text("blocks", flags=_FLAGS):
        text = " ".join(block[4].split())
        if text:
            yield Piece(ElementKind.PARAGRAPH, text, PageAnchor(page=number, bbox=tuple(block[:4])))
