"""Summary properties of OLE compound files ([MS-OLEPS]): title, author, dates.

Only the properties that are shown are looked at, so that hostile counts and offsets cost nothing.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta

import olefile
from pydantic import JsonValue

from ingest.context import ParseContext
from ingest.parsers.ole import DAMAGE, code_page

_SUMMARY, _MORE = "\x05SummaryInformation", "\x05DocumentSummaryInformation"
_CODE_PAGE, _TITLE, _AUTHOR, _CREATED, _SAVED = 1, 2, 4, 12, 13
_EXTRA = {3: "subject", 5: "keywords", 6: "description", 8: "lastModifiedBy"}
_MORE_EXTRA = {2: "category", 14: "manager", 15: "company"}
_SHORT, _NARROW, _WIDE, _TIME = 0x02, 0x1E, 0x1F, 0x40
_MAX_PROPERTIES, _MAX_TEXT = 256, 65_536
_YEAR_1601 = datetime(1601, 1, 1, tzinfo=UTC)


def describe_ole(context: ParseContext, ole: olefile.OleFileIO) -> None:
    """Report the summary properties of a compound file; damaged ones are told as a warning."""
    try:
        summary, more = (_read(ole, name) for name in (_SUMMARY, _MORE))
    except DAMAGE:
        context.warn("properties_unreadable", "The document properties are damaged.")
        return
    extra: dict[str, JsonValue] = {
        name: text
        for values, names in ((summary, _EXTRA), (more, _MORE_EXTRA))
        for key, name in names.items()
        if isinstance(text := values.get(key), str) and text
    }
    title, author = summary.get(_TITLE), summary.get(_AUTHOR)
    created, saved = summary.get(_CREATED), summary.get(_SAVED)
    context.describe(
        title=title if isinstance(title, str) and title else None,
        authors=(author,) if isinstance(author, str) and author else None,
        created_at=created if isinstance(created, datetime) else None,
        modified_at=saved if isinstance(saved, datetime) else None,
        occurred_at=created if isinstance(created, datetime) else None,
        extra=extra,
    )


def _read(ole: olefile.OleFileIO, name: str) -> dict[int, str | datetime | int]:
    """Return the properties of the first section of a stream by id."""
    found: dict[int, str | datetime | int] = {}
    if not ole.exists(name):
        return found
    data = ole.openstream(name).read()
    (start,) = struct.unpack_from("<I", data, 44)
    (count,) = struct.unpack_from("<I", data, start + 4)
    places = [
        struct.unpack_from("<II", data, start + 8 + 8 * at) for at in range(min(count, _MAX_PROPERTIES))
    ]
    encoding = "cp1252"
    for key, offset in sorted(places):
        value = _value(data, start + offset, encoding)
        if key == _CODE_PAGE and isinstance(value, int):
            encoding = code_page(value)
        elif value is not None:
            found[key] = value
    return found


def _value(data: bytes, at: int, encoding: str) -> str | datetime | int | None:
    if at + 8 > len(data):
        return None
    kind, number = struct.unpack_from("<II", data, at)
    if kind == _SHORT:
        return int(number & 0xFFFF)
    if kind == _NARROW:
        # Strings in UTF-16 count bytes here, those of LPWSTR count characters.
        raw = data[at + 8 : at + 8 + min(number, _MAX_TEXT)]
        return raw.decode(encoding, "replace").partition("\0")[0].strip()
    if kind == _WIDE:
        raw = data[at + 8 : at + 8 + 2 * min(number, _MAX_TEXT)]
        return raw.decode("utf-16-le", "replace").partition("\0")[0].strip()
    if kind == _TIME and at + 12 <= len(data):
        (ticks,) = struct.unpack_from("<Q", data, at + 4)
        # Programs without a clock write zero, or an editing time instead of a date.
        moment = _YEAR_1601 + timedelta(microseconds=ticks // 10)
        return moment if moment.year > 1970 else None
    return None
