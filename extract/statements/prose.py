"""Statements of running text: one per sentence or list item, under its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from extract.boundaries import HEADINGS
from extract.fillers import telling_words
from extract.scripts import estimate_tokens, one_line
from extract.sentences import Span, sentence_spans
from extract.statements.draft import Draft, Scene
from extract.statements.headings import Headings
from extract.statements.leaning import as_context, leans
from extract.statements.rows import row_drafts
from extract.stretch import Stretch
from ingest.model import Element, ElementKind

_OPEN_END = re.compile(r"[^.!?。！？…:：;；\"”’」』)\]）】|]\s*$")
_CONTINUES = re.compile(r"\s*(?:[a-z(]|[\u4e00-\u9fff\u3040-\u30ff])")
_HYPHENATED = re.compile(r"[a-z]-$")
_LEADS_IN = re.compile(r"[:：]\s*$")
_COMPLETE = re.compile(r"[.!?。！？…]['\"”’」』)）]*$")
_BULLET = re.compile(r"(?:[-–•·▪◦‣●○■□*]|\[[ xX]?\])\s+")
_QUESTION = re.compile(r"[?？]['\"”’」』)）]*$")
_JOINABLE = frozenset({ElementKind.PARAGRAPH, ElementKind.IMAGE_TEXT, ElementKind.QUOTE})
_MARGINS = frozenset({ElementKind.HEADER, ElementKind.FOOTER})
_ASIDES = _MARGINS | {ElementKind.QUOTE}
_FRAGMENT_WORDS, _MARGIN_WORDS, _CODE_TOKENS = 3, 5, 150


def prose_drafts(
    scene: Scene, elements: Sequence[Element], headings: Headings | None = None
) -> Iterator[Draft]:
    """Yield the statements of paragraphs, list items, table rows and their like, in order.

    Args:
        scene: what surrounds them.
        elements: in order, from one segment.
        headings: knows labels and speakers; plain headings unless told otherwise.
    """
    headings, leads = headings or Headings(scene), LeadIns()
    groups = list(_groups(elements))
    for at, group in enumerate(groups):
        first = group[0]
        if headings.passes(first):
            leads.clear()
        elif first.kind in HEADINGS:
            headings.add(first)
            leads.clear()
        elif first.kind is ElementKind.TABLE_ROW:
            yield from row_drafts(scene, group, headings.label(first), headings.topic)
        else:
            last = at + 1 == len(groups)
            yield from _element_drafts(scene, group, headings, leads.over(first), last=last)
            leads.take(group)


class LeadIns:
    """Lines that end in a colon and carry the items below them."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def clear(self) -> None:
        """Forget all: a new section begins."""
        self._open = []

    def over(self, element: Element) -> str:
        """Return the line an item stands under; plain text only takes the line right above it."""
        level = element.level if element.kind is ElementKind.LIST_ITEM else 0
        if element.kind is ElementKind.LIST_ITEM:
            self._open = [(above, text) for above, text in self._open if above < max(1, level)]
        return self._open[-1][1] if self._open else ""

    def take(self, group: Sequence[Element]) -> None:
        """Take note of the element just read."""
        item = group[0].kind is ElementKind.LIST_ITEM
        if not item:
            self._open = []
        if _LEADS_IN.search(group[-1].text):
            spans = sentence_spans(group[-1].text)
            line = group[-1].text[spans[-1].start : spans[-1].end]
            self._open.append((group[0].level if item else 0, _LEADS_IN.sub("", _BULLET.sub("", line))))


def _groups(elements: Sequence[Element]) -> Iterator[list[Element]]:
    """Yield elements one by one, but together where a sentence runs from one into the next."""
    group: list[Element] = []
    for element in elements:
        if not element.text.strip():
            continue
        if group and _runs_on(group[-1], element):
            group.append(element)
            continue
        if group:
            yield group
        group = [element]
    if group:
        yield group


def _runs_on(before: Element, after: Element) -> bool:
    if before.kind is not after.kind or before.kind not in _JOINABLE:
        return False
    open_end = _OPEN_END.search(before.text) and _CONTINUES.match(after.text)
    return bool(open_end) or bool(_HYPHENATED.search(before.text))


def _element_drafts(
    scene: Scene, group: Sequence[Element], headings: Headings, lead: str, *, last: bool
) -> Iterator[Draft]:
    stretch = Stretch.join(group)
    item = group[0].kind is ElementKind.LIST_ITEM
    code = group[0].kind is ElementKind.CODE
    spans = _code_spans(stretch.text) if code else _joined(stretch.text, scene.language)
    before = ""
    for index, (start, end) in enumerate(spans):
        quote = stretch.text[start:end]
        said = _BULLET.sub("", one_line(quote), count=1) or one_line(quote)
        if not last and index == len(spans) - 1 and _LEADS_IN.search(said):
            continue  # what stands below carries it as context
        element = stretch.within(start, end)[0]
        borrowed = before if before and leans(said) else (lead if item or index == 0 else "")
        if borrowed or code or _is_telling(said, element, scene.language):
            yield Draft(
                said=said,
                quote=quote,
                elements=stretch.within(start, end),
                label=headings.label(element),
                context=as_context(borrowed) if borrowed else "",
                topic=headings.topic,
                speaker=headings.speaker(element),
                at=headings.time(element),
                confidence=_confidence(said, element, supported=bool(borrowed)),
                standalone=element.kind not in _ASIDES,
                supported=bool(borrowed) and telling_words(said, scene.language) > 0,
            )
        before = said


def _code_spans(text: str) -> list[Span]:
    """Cut program text between lines, in pieces that fit the encoder."""
    spans: list[Span] = []
    for line in re.finditer(r"[^\n]*\S[^\n]*", text):
        last = spans[-1] if spans else None
        if last and estimate_tokens(text[last.start : line.end()]) <= _CODE_TOKENS:
            spans[-1] = Span(last.start, line.end())
        else:
            spans.append(Span(line.start(), line.end()))
    return spans


def _joined(text: str, language: str) -> list[Span]:
    """Return the sentences, those of hardly a word ("Yes.", "$70.") joined to the one before or after."""
    joined: list[Span] = []
    for span in sentence_spans(text):
        near = joined and "\n" not in text[joined[-1].end : span.start]
        if near and (_is_scrap(text, span, language) or _is_scrap(text, joined[-1], language)):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _is_scrap(text: str, span: Span, language: str) -> bool:
    return span.end - span.start < 24 and telling_words(text[span.start : span.end], language) < 2


def _is_telling(said: str, element: Element, language: str) -> bool:
    """Say whether a piece without context stands as a fact; fragments and margins need more words."""
    words = telling_words(said, language)
    if element.kind in _MARGINS:
        return words >= _MARGIN_WORDS
    if _COMPLETE.search(said) or any(char.isdigit() for char in said) or ": " in said or "：" in said:
        return words > 0
    return words >= _FRAGMENT_WORDS or (element.kind is not ElementKind.PARAGRAPH and words > 1)


def _confidence(said: str, element: Element, *, supported: bool) -> float:
    value = 0.9 if _COMPLETE.search(said) else 0.75
    if _QUESTION.search(said):
        value = 0.6
    if leans(said):
        value -= 0.05 if supported else 0.2
    if element.kind is ElementKind.IMAGE_TEXT:
        value -= 0.15
    return 0.4 if element.kind in _MARGINS else round(value, 2)
