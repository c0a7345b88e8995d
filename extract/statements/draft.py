"""A fact in the making, and what every maker of facts is given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from extract.dates.calendar import DateOrder
from extract.model import Segment
from extract.moments import element_time
from ingest.model import Document, Element


@dataclass(frozen=True, slots=True)
class Scene:
    """What surrounds the statements of a segment.

    Attributes:
        title: what the document is called.
        titled: the title is the source's own, not its file's name.
        language: of the segment.
        order: how its ambiguous dates are read.
    """

    document: Document
    segment: Segment
    title: str
    titled: bool
    language: str
    order: DateOrder

    def time_of(self, element: Element) -> datetime | None:
        """Return when an element was said or written."""
        return element_time(self.document, element)


@dataclass(frozen=True, slots=True)
class Draft:
    """One statement before it is numbered and dated.

    Attributes:
        said: the statement in the source's words, on one line.
        quote: the same words verbatim.
        elements: where they stand.
        label: what is put in front so that the statement can stand alone: place or speaker.
        context: words of the source just before, shown in brackets when the statement leans on them.
        confidence: see ``extract.extractive``.
        standalone: worth choosing for a summary.
        tells_time: dates in it are read; not so in an envelope, which already has its own.
        supported: its context makes even a word or two say something.
    """

    said: str
    quote: str
    elements: tuple[Element, ...]
    label: str = ""
    context: str = ""
    topic: str | None = None
    speaker: str | None = None
    participants: tuple[str, ...] = ()
    at: datetime | None = None
    confidence: float = 0.9
    standalone: bool = True
    supported: bool = False
    tells_time: bool = True
