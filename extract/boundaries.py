"""Where a new stretch of a document begins, by its own structure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import assert_never

from extract.model import SegmentKind
from extract.moments import element_time
from ingest.anchors import (
    Anchor,
    CueAnchor,
    MailAnchor,
    MessageAnchor,
    PageAnchor,
    RowAnchor,
    SectionAnchor,
    SheetAnchor,
    SlideAnchor,
)
from ingest.model import Document, Element, ElementKind

HEADINGS = (ElementKind.TITLE, ElementKind.HEADING)
_CUE_PAUSE_S, _CUE_BREAK_S, _CUE_STRETCH_S = 45.0, 600.0, 900.0
_CHAT_PAUSE, _CHAT_NIGHT, _CHAT_BREAK = timedelta(minutes=30), timedelta(hours=1), timedelta(hours=4)
_ENDED = re.compile(r"[.!?。！？…:：;；][\"'”’»)\]）】」』]*\s*$")
_NEXT_TOPIC = re.compile(
    r"\b(?:next (?:item|topic|point|question|thing|up|on)|moving on|move on|first of all|agenda"
    r"|let['’]?s (?:start|begin|talk about|look at|turn|discuss|go (?:on|to|over|through))"
    r"|last(?:ly)?,? (?:item|topic|point|thing))\b"
    r"|下一(?:个|項|项)|接下来|接著|我们来(?:谈|看|讨论|说)|最后一(?:个|项)|首先|议程",
    re.IGNORECASE,
)


class Break(IntEnum):
    """How strongly two neighbouring elements stand apart.

    NONE: one section, cut only for size. SOFT: a new section, merged when tiny. HARD: never merged.
    """

    NONE = 0
    SOFT = 1
    HARD = 2


@dataclass
class SectionState:
    """What is known while a document is read: of the section so far, and whether headings occur at all."""

    first: Element | None = None
    has_body: bool = False
    has_chapter: bool = False
    seen_heading: bool = False

    def begin(self, element: Element) -> None:
        """Start a section at an element."""
        self.first, self.has_body = element, False

    def add(self, element: Element) -> None:
        """Take note of an element of the section."""
        if element.kind in HEADINGS:
            self.seen_heading = True
            self.has_chapter |= element.kind is ElementKind.HEADING
        else:
            self.has_body = True


def kind_of(anchor: Anchor) -> SegmentKind:
    """Return the kind of stretch an element with this anchor belongs to."""
    match anchor:
        case CueAnchor():
            return SegmentKind.TRANSCRIPT
        case MessageAnchor():
            return SegmentKind.CONVERSATION
        case MailAnchor():
            return SegmentKind.MAIL
        case SlideAnchor():
            return SegmentKind.SLIDE
        case SheetAnchor() | RowAnchor():
            return SegmentKind.TABLE
        case PageAnchor() | SectionAnchor():
            return SegmentKind.PROSE
        case _:
            assert_never(anchor)


def break_between(document: Document, state: SectionState, before: Element, after: Element) -> Break:
    """Say how strongly ``after`` begins something new."""
    left, right = before.anchor, after.anchor
    if kind_of(left) is not kind_of(right):
        return Break.HARD
    match left, right:
        case CueAnchor(), CueAnchor():
            return _between_cues(state, left, right)
        case MessageAnchor(), MessageAnchor():
            return _between_messages(document, before, after)
        case SlideAnchor(), SlideAnchor():
            return Break.NONE if left.slide == right.slide else Break.SOFT
        case SheetAnchor(), SheetAnchor() if left.sheet != right.sheet:
            return Break.HARD
        case MailAnchor(), MailAnchor():
            quoted = (before.kind is ElementKind.QUOTE) != (after.kind is ElementKind.QUOTE)
            return Break.SOFT if quoted else _between_headings(state, after)
        case ((SheetAnchor() | RowAnchor()), _):
            return Break.NONE if before.metadata.get("table") == after.metadata.get("table") else Break.SOFT
    return _between_prose(state, before, after)


def _between_cues(state: SectionState, left: CueAnchor, right: CueAnchor) -> Break:
    pause = right.start_s - left.end_s
    if pause > _CUE_BREAK_S or right.start_s < left.start_s - _CUE_PAUSE_S:
        return Break.HARD
    first = state.first.anchor if state.first else None
    long = isinstance(first, CueAnchor) and right.start_s - first.start_s > _CUE_STRETCH_S
    return Break.SOFT if pause > _CUE_PAUSE_S or long else Break.NONE


def _between_messages(document: Document, before: Element, after: Element) -> Break:
    left, right = element_time(document, before), element_time(document, after)
    if left is None or right is None:
        return Break.NONE
    pause = abs(right - left)
    # A talk that runs past midnight is one talk.
    if pause > _CHAT_BREAK or (pause > _CHAT_NIGHT and left.date() != right.date()):
        return Break.HARD
    return Break.SOFT if pause > _CHAT_PAUSE else Break.NONE


def _between_headings(state: SectionState, after: Element) -> Break:
    if after.kind not in HEADINGS or not state.has_body:
        return Break.NONE
    # What stands before the first chapter is no chapter; when tiny it joins it.
    chapter = after.kind is ElementKind.TITLE or after.level <= 1
    return Break.HARD if chapter and state.has_chapter else Break.SOFT


def _between_prose(state: SectionState, before: Element, after: Element) -> Break:
    if after.kind in HEADINGS:
        return _between_headings(state, after)
    if before.kind in HEADINGS:
        return Break.NONE
    if (before.kind is ElementKind.TABLE_ROW) != (after.kind is ElementKind.TABLE_ROW):
        return Break.SOFT
    left, right = before.anchor, after.anchor
    if isinstance(left, SectionAnchor) and isinstance(right, SectionAnchor):
        return Break.NONE if left.part == right.part else Break.SOFT
    # Pages mean something only where no headings do, and where no sentence runs across.
    if isinstance(left, PageAnchor) and isinstance(right, PageAnchor) and left.page != right.page:
        return Break.SOFT if not state.seen_heading and _ENDED.search(before.text) else Break.NONE
    return Break.NONE


def cut_strength(before: Element, after: Element) -> float:
    """Say how good a place to cut an overlong section is, about -1 to 1; higher is better.

    Lexical cohesion (TextTiling) was tried for talk and put no more cuts on people's topic borders than
    this does, so the words that announce a new topic, pauses and turns decide.
    """
    if before.kind is ElementKind.CAPTION or before.text.rstrip().endswith((":", "：")):
        return -0.6
    left, right = before.anchor, after.anchor
    if before.kind in (ElementKind.CUE, ElementKind.MESSAGE):
        answered = -0.3 if before.text.rstrip().endswith(("?", "？")) else 0.0
        return (
            answered + (0.5 if _NEXT_TOPIC.search(after.text[:80]) else 0.0) + _turn_strength(before, after)
        )
    pages = isinstance(left, PageAnchor) and isinstance(right, PageAnchor) and left.page != right.page
    ended = 0.2 if _ENDED.search(before.text) else -0.1
    return ended + (0.2 if pages else 0.0) + (0.1 if before.kind is not after.kind else 0.0)


def _turn_strength(before: Element, after: Element) -> float:
    left, right = before.anchor, after.anchor
    if not (isinstance(left, CueAnchor) and isinstance(right, CueAnchor)):
        return 0.1
    turn = 0.25 if left.speaker != right.speaker else 0.0
    return turn + min(0.4, (right.start_s - left.end_s) / 20) + (0.1 if _ENDED.search(before.text) else -0.2)
