"""When an element was said, sent or written, by its source's own clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ingest.anchors import CueAnchor
from ingest.model import Document, Element, ElementKind

# A message's element carries its time under this key: ISO 8601, or milliseconds since 1970.
SENT_AT = "sent_at"


def element_time(document: Document, element: Element) -> datetime | None:
    """Return the moment an element speaks from, with an offset; None when the source tells none.

    A cue adds its start to the start of the meeting; a message has its own time; everything else has the
    document's.
    """
    start = aware(document.metadata.occurred_at)
    if isinstance(element.anchor, CueAnchor):
        return start + timedelta(seconds=element.anchor.start_s) if start else None
    if element.kind is ElementKind.MESSAGE:
        return _sent_at(element) or start
    return start


def _sent_at(element: Element) -> datetime | None:
    value = element.metadata.get(SENT_AT)
    try:
        if isinstance(value, str):
            return aware(datetime.fromisoformat(value))
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def aware(moment: datetime | None) -> datetime | None:
    """Return a time with an offset; a naive one counts as UTC."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
