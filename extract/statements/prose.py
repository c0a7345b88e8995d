"""Statements of running text: one per sentence or list item, under its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from extract.boundaries import HEADINGS
from extract.phrases import phrase
from extract.scripts import one_line, shorten
from extract.sentences import sentence_spans
from extract.statements.draft import Draft, Scene
from extract.statements.leaning import as_context, leans
from extract.statements.rows import row_drafts
from extract.stretch import Stretch
from ingest.model import Element, ElementKind

_LABEL_WIDTH = 90
_OPEN_END = re.compile(r"[^.!?。！？…:：;；\"”’」』)\]）】|]\s*$")
_CONTINUES = re.compile(r"\s*(?:[a-z(]|[\u4e00-\u9fff\u3040-\u30ff])")
_HYPHENATED = re.compile(r"[a-z]-$")
_LEAD_IN = re.compile(r"[:：]\s*$")
_COMPLETE = re.compile(r"[.!?。！？…]['\"”’」』)）]*$")
_JOINABLE = frozenset({ElementKind.PARAGRAPH, ElementKind.IMAGE_TEXT, ElementKind.QUOTE})
_LED = frozenset({ElementKind.LIST_ITEM, ElementKind.TABLE_ROW})
_MARGINS = frozenset({ElementKind.HEADER, ElementKind.FOOTER})
_KIND_LABELS = {
    ElementKind.NOTE: "notes",
    ElementKind.COMMENT: "comment",
    ElementKind.ANNOTATION: "comment",
    ElementKind.FOOTNOTE: "footnote",
}


def prose_drafts(scene: Scene, elements: Sequence[Element]) -> Iterator[Draft]:
    """Yield the statements of paragraphs, list items, table rows and their like, in order."""
    headings = Headings(scene)
    lead_in = ""
    groups = list(_groups(elements))
    for at, group in enumerate(groups):
        first = group[0]
        if first.kind in HEADINGS:
            headings.add(first)
            lead_in = ""
        elif first.kind is ElementKind.TABLE_ROW:
            yield from row_drafts(scene, group, headings.label(first), headings.topic)
        else:
            follower = groups[at + 1][0].kind if at + 1 < len(groups) else None
            yield from _sentence_drafts(scene, group, headings, lead_in, follower)
            if first.kind is not ElementKind.LIST_ITEM:
                lead_in = _last_line(first.text) if _LEAD_IN.search(group[-1].text) else ""


def _last_line(text: str) -> str:
    spans = sentence_spans(text)
    return _LEAD_IN.sub("", text[spans[-1].start : spans[-1].end]) if spans else ""


class Headings:
    """The headings above the place being read."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        path, first = scene.segment.heading_path, scene.segment.elements[0]
        # The headings above stand one level apart below the first heading met; their own levels are gone.
        below = first.level if first.kind is ElementKind.HEADING else len(path) + 1
        self._path = [(below - len(path) + at, text) for at, text in enumerate(path)]

    def add(self, heading: Element) -> None:
        """Take in a heading; those of its level and below end."""
        level = heading.level if heading.kind is ElementKind.HEADING else 0
        self._path = [(above, text) for above, text in self._path if above < level]
        self._path.append((level, heading.text))

    @property
    def topic(self) -> str | None:
        """The nearest heading."""
        return one_line(self._path[-1][1]) or None if self._path else None

    def label(self, element: Element) -> str:
        """Return "Travel policy > Meals", with the kind of place when it is not the body."""
        names = [one_line(text) for _, text in self._path]
        if self._scene.titled or not names:
            names.insert(0, self._scene.title)
        names = list(dict.fromkeys(name for name in names if name))
        label = shorten(" > ".join([names[0], *names[1:][-2:]]), _LABEL_WIDTH)
        kind = _KIND_LABELS.get(element.kind)
        if kind is None:
            return label
        author = element.metadata.get("author")
        if kind == "comment" and isinstance(author, str) and author:
            place = phrase(self._scene.language, "comment_by", author)
        else:
            place = phrase(self._scene.language, kind)
        return phrase(self._scene.language, "comma").join((label, place))


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
    return bool(_OPEN_END.search(before.text) and _CONTINUES.match(after.text)) or bool(
        _HYPHENATED.search(before.text)
    )


def _sentence_drafts(
    scene: Scene, group: Sequence[Element], headings: Headings, lead_in: str, follower: ElementKind | None
) -> Iterator[Draft]:
    stretch = Stretch.join(group)
    item = group[0].kind is ElementKind.LIST_ITEM
    before = ""
    for start, end in sentence_spans(stretch.text):
        quote = stretch.text[start:end]
        said = one_line(quote)
        if end == len(stretch.text.rstrip()) and _LEAD_IN.search(said) and follower in _LED:
            continue  # its items carry it as their context
        elements = stretch.within(start, end)
        borrowed = before if before and leans(said) else (lead_in if item else "")
        yield Draft(
            said=said,
            quote=quote,
            elements=elements,
            label=headings.label(elements[0]),
            context=as_context(borrowed) if borrowed else "",
            topic=headings.topic,
            at=scene.time_of(elements[0]),
            confidence=_confidence(said, elements[0], bool(borrowed)),
            standalone=elements[0].kind not in _MARGINS,
            supported=item and bool(borrowed),
        )
        before = said


def _confidence(said: str, element: Element, supported: bool) -> float:
    value = 0.9 if _COMPLETE.search(said) else 0.75
    if said.rstrip().endswith(("?", "？")):
        value = 0.6
    if leans(said):
        value -= 0.05 if supported else 0.2
    if element.kind is ElementKind.IMAGE_TEXT:
        value -= 0.15
    return 0.4 if element.kind in _MARGINS else round(value, 2)
