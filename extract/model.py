"""Episodes and atomic facts: the map and the territory."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, model_validator

from ingest.anchors import Anchor, Frozen
from ingest.model import Element, Owner


class Granularity(StrEnum):
    """How exact a time is."""

    MINUTE = "minute"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class TimeSpan(Frozen):
    """When something happened, resolved against the source's own date.

    ``start`` is inclusive, ``end`` exclusive; both carry an offset. ``expression`` keeps the original words.
    """

    start: datetime
    end: datetime
    granularity: Granularity
    expression: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> TimeSpan:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("times need an offset")
        if self.end < self.start:
            raise ValueError("a time span ends after it starts")
        return self


class SegmentKind(StrEnum):
    """What kind of stretch a segment is; it decides how facts are worded."""

    PROSE = "prose"
    TABLE = "table"
    SLIDE = "slide"
    MAIL = "mail"
    TRANSCRIPT = "transcript"
    CONVERSATION = "conversation"


class Segment(Frozen):
    """A coherent run of elements, before anything was extracted from it. It never cuts an element.

    Attributes:
        position: 0-based order in the document.
        heading_path: the headings above, outermost first.
        occurred_at: the source's date for this stretch (meeting start + first cue, mail date …).
    """

    position: int = Field(ge=0)
    kind: SegmentKind
    title: str
    heading_path: tuple[str, ...] = ()
    elements: tuple[Element, ...] = Field(min_length=1)
    participants: tuple[str, ...] = ()
    occurred_at: datetime | None = None


class Episode(Frozen):
    """A coherent stretch of a source with title and summary; ``first``/``last`` are element positions."""

    id: str
    document_id: str
    owner: Owner
    position: int = Field(ge=0)
    kind: SegmentKind
    title: str
    summary: str
    text: str
    topics: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    language: str = "und"
    occurred: TimeSpan | None = None
    recorded_at: datetime
    first: int = Field(ge=0)
    last: int = Field(ge=0)
    anchors: tuple[Anchor, ...] = ()


class Origin(StrEnum):
    """Who wrote a fact."""

    LLM = "llm"
    EXTRACTIVE = "extractive"


class AtomicFact(Frozen):
    """One self-contained statement, anchored to the place it came from.

    Attributes:
        text: the statement, understandable alone.
        quote: verbatim words of the source; checked by machine against the elements.
        grounded: the quote was found in the episode's elements.
        confidence: 0 to 1.
        valid_from, valid_to, superseded_by: the stretch in which the statement holds, and its successor.
    """

    id: str
    episode_id: str
    document_id: str
    owner: Owner
    position: int = Field(ge=0)
    text: str = Field(min_length=1)
    topic_name: str
    quote: str
    anchors: tuple[Anchor, ...] = Field(min_length=1)
    speaker: str | None = None
    participants: tuple[str, ...] = ()
    language: str = "und"
    occurred: TimeSpan | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    confidence: float = Field(default=1.0, ge=0, le=1)
    origin: Origin
    grounded: bool = True


class Extraction(Frozen):
    """What one segment gave: its episode and the facts under it.

    Attributes:
        replaced: the code of what went wrong with the language model, where facts were made without it.
        answers: the names of the model's answers it was made of, where those are kept.
    """

    episode: Episode
    facts: tuple[AtomicFact, ...] = ()
    replaced: str = ""
    answers: tuple[str, ...] = ()
