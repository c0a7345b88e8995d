"""What a PDF says of itself: title, authors, dates, bookmarks."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from ingest.context import ParseContext
from ingest.mupdf import MUPDF_ERRORS, PdfDocument
from ingest.parsers.page_lines import fold

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Zz])(\d\d)?'?(\d\d)?)?")
_MAX_BOOKMARKS = 50_000


def describe_pdf(context: ParseContext, document: PdfDocument) -> None:
    """Report title, authors, dates and the number of pages to the context."""
    info = {key: " ".join(str(value).split()) for key, value in (document.metadata or {}).items() if value}
    created = parse_date(info.get("creationDate"))
    context.describe(
        title=info.get("title"),
        authors=(info["author"],) if info.get("author") else None,
        created_at=created,
        modified_at=parse_date(info.get("modDate")),
        occurred_at=created,
        page_count=document.page_count,
        extra={key: info[key] for key in ("subject", "keywords", "producer", "creator") if key in info},
    )


def outline_levels(context: ParseContext, document: PdfDocument) -> dict[str, int]:
    """Return the bookmarks as folded title -> level (1 is the top)."""
    try:
        entries = document.get_toc()[:_MAX_BOOKMARKS]
    except MUPDF_ERRORS as error:
        context.warn("bookmarks_unreadable", f"The bookmarks cannot be read: {error}.")
        return {}
    return {fold(title): level for level, title, *_ in entries if fold(title)}


def parse_date(raw: str | None) -> datetime | None:
    """Read a PDF date ("D:20240131120000+02'00'", ISO 32000-1, 7.9.4); None if it is not one."""
    match = _DATE.match(raw or "")
    if match is None:
        return None
    year, month, day, hour, minute, second, sign, off_h, off_m = match.groups()
    try:
        offset = timedelta(hours=int(off_h or 0), minutes=int(off_m or 0))
        zone = timezone(-offset if sign == "-" else offset)
        date = datetime(int(year), int(month or 1), int(day or 1), tzinfo=zone)
        return date.replace(hour=int(hour or 0), minute=int(minute or 0), second=int(second or 0))
    except ValueError:
        return None
