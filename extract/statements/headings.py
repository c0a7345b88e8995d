"""The headings above the place being read, and the label they make."""

from __future__ import annotations

from datetime import datetime

from extract.names import sheet_label
from extract.phrases import phrase
from extract.scripts import one_line, shorten
from extract.statements.draft import Scene
from ingest.anchors import SheetAnchor, SlideAnchor
from ingest.model import Element, ElementKind

_LABEL_WIDTH = 90
_KIND_LABELS = {
    ElementKind.NOTE: "notes",
    ElementKind.COMMENT: "comment",
    ElementKind.ANNOTATION: "comment",
    ElementKind.FOOTNOTE: "footnote",
}


class Headings:
    """Follows the headings through the elements of a segment."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        path, first = scene.segment.heading_path, scene.segment.elements[0]
        # The headings above stand one level apart below the first heading met; their own levels are gone.
        below = first.level if first.kind is ElementKind.HEADING else len(path) + 1
        self._path = [(below - len(path) + at, text) for at, text in enumerate(path)]
        self._slide: int | None = None

    def passes(self, element: Element) -> bool:
        """Take note of where an element stands; True when it is no statement of its own."""
        # A heading reaches no further than its slide.
        if isinstance(element.anchor, SlideAnchor) and element.anchor.slide != self._slide:
            self._slide = element.anchor.slide
            self._path = []
        return False

    def add(self, heading: Element) -> None:
        """Take in a heading; those of its level and below end."""
        level = heading.level if heading.kind is ElementKind.HEADING else 0
        self._path = [(above, text) for above, text in self._path if above < level]
        self._path.append((level, heading.text))

    @property
    def topic(self) -> str | None:
        """The nearest heading."""
        return one_line(self._path[-1][1]) or None if self._path else None

    def speaker(self, element: Element) -> str | None:
        """Who says an element: nobody in particular, in running text."""
        return None

    def time(self, element: Element) -> datetime | None:
        """When an element was written."""
        return self.scene.time_of(element)

    def label(self, element: Element) -> str:
        """Return "Travel policy > Meals", with the kind of place when it is not the body."""
        kind = _KIND_LABELS.get(element.kind)
        if kind is None:
            return self._place(element)
        language, author = self.scene.language, element.metadata.get("author")
        if kind == "comment" and isinstance(author, str) and author:
            part = phrase(language, "comment_by", author)
        else:
            part = phrase(language, kind)
        return phrase(language, "comma").join((self._place(element), part))

    def _place(self, element: Element) -> str:
        if isinstance(element.anchor, SheetAnchor):
            return sheet_label(self.scene.title, element.anchor.sheet, self.scene.language)
        names = [name for _, text in self._path if (name := one_line(text))]
        # A title that stands in the text says more than the file's name.
        if self.scene.titled or self._slide is not None or not (self._path and self._path[0][0] <= 0):
            names.insert(0, self.scene.title)
        kept = [name for at, name in enumerate(names) if at == 0 or name not in names[at - 1]]
        return shorten(" > ".join([kept[0], *kept[1:][-2:]] if kept else [self.scene.title]), _LABEL_WIDTH)
