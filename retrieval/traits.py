"""What ranking knows of an item besides its vectors.

It is worked out when the item is stored, so that a search need not read the items it only ranks.
A fact of a conversation or a transcript often answers what was said just before it, names no date of its own
and is a question itself; these small things tell where an answer is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from extract.model import AtomicFact, Episode, SegmentKind, TimeSpan

_QUESTION = re.compile(r"[?？][\"'”’)\s]*$")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_]+")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|soon|days?|weeks?|weekend|months?"
    rf"|years?|morning|evening|night|{_DAYS}|{_MONTHS}|(?:19|20)\d\d)\b"
    r"|[昨今明前后後]天|[上下这這本]个?(?:周|週|星期|礼拜|月|季)|[去今明前]年|[年月日号]|星期|周末|小时|最近",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|several|few|once|twice|half)\b"
    r"|[一二两三四五六七八九十百千万][个次位名种件本年天月周岁块元]",
    re.IGNORECASE,
)

TALK = frozenset({SegmentKind.CONVERSATION, SegmentKind.TRANSCRIPT, SegmentKind.MAIL})


class Traits(NamedTuple):
    """What is known of a stored item without reading it.

    Attributes:
        parent: the episode a fact belongs to; None for an episode.
        document: the document it comes from.
        position: of the episode in its document, from 0.
        language: as detected, "und" when unknown.
        talk: it was said or written in a conversation, a mail thread or a transcript.
        people: the speaker of a fact, the participants of an episode; lower case.
        others: who else takes part in what a fact tells; lower case.
        start, end: when it happened, seconds since 1970; for a fact without a time its episode's.
        told_start, told_end: when the episode happened.
        words: length in words; a CJK character counts as one.
        confidence: how well a fact stands alone, 0 to 1.
        question: it ends as a question.
        answers: what stands before it ends as a question.
        timed: it names a time.
        counted: it names a number.
        place: of the fact in its episode, from 0; 0 for an episode.
    """

    parent: str | None = None
    document: str = ""
    position: int = 0
    language: str = "und"
    talk: bool = False
    people: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None
    told_start: float | None = None
    told_end: float | None = None
    words: int = 0
    confidence: float = 1.0
    question: bool = False
    answers: bool = False
    timed: bool = False
    counted: bool = False
    place: int = 0

    def packed(self) -> str:
        """Return it as text. A search reads hundreds, and the store hands out text many times faster."""
        return orjson.dumps(tuple(self)).decode()

    @classmethod
    def unpacked(cls, packed: str) -> Traits:
        """Return what ``packed`` gave."""
        values = orjson.loads(packed)
        values[_PEOPLE], values[_OTHERS] = tuple(values[_PEOPLE]), tuple(values[_OTHERS])
        return cls(*values)


_PEOPLE, _OTHERS = Traits._fields.index("people"), Traits._fields.index("others")


def is_question(text: str) -> bool:
    """Return whether a text ends with a question mark."""
    return _QUESTION.search(text[-16:]) is not None


def names_time(text: str) -> bool:
    """Return whether a text names a date, a weekday, a month, a year or a relative time."""
    return _TIME.search(text) is not None


def names_number(text: str) -> bool:
    """Return whether a text names a number, in digits or words."""
    return _NUMBER.search(text) is not None


def episode_traits(episode: Episode) -> Traits:
    """Return the traits of an episode."""
    start, end = _seconds(episode.occurred)
    return Traits(
        document=episode.document_id,
        position=episode.position,
        language=episode.language,
        talk=episode.kind in TALK,
        people=tuple(person.casefold() for person in episode.participants),
        start=start,
        end=end,
        told_start=start,
        told_end=end,
        words=_length(episode.text),
    )


def fact_traits(fact: AtomicFact, episode: Traits, before: str = "") -> Traits:
    """Return the traits of a fact.

    Args:
        fact: what is stored.
        episode: the traits of its episode.
        before: the source's words right before the fact's; empty where it begins.
    """
    start, end = _seconds(fact.occurred)
    people = (fact.speaker.casefold(),) if fact.speaker else ()
    told = (episode.told_start, episode.told_end)
    return episode._replace(
        parent=fact.episode_id,
        language=fact.language,
        people=people,
        others=tuple(name for person in fact.participants if (name := person.casefold()) not in people),
        start=told[0] if start is None else start,
        end=told[1] if start is None else end,
        words=_length(fact.quote),
        confidence=fact.confidence,
        question=is_question(fact.quote),
        answers=is_question(before),
        timed=names_time(fact.quote),
        counted=names_number(fact.quote),
        place=fact.position,
    )


def _length(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _seconds(span: TimeSpan | None) -> tuple[float | None, float | None]:
    return (None, None) if span is None else (_second(span.start), _second(span.end))


def _second(when: datetime) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
