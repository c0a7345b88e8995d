"""A document as text for people: elements in order, with speakers, marked where they are not plain text.

Facts and episodes show values as the source shows them; here, where nothing but the text is left, values as
stored stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.anchors import CueAnchor, MessageAnchor
from ingest.model import Cell, Element, ElementKind

_MARKS = {
    ElementKind.HEADER: "Header",
    ElementKind.FOOTER: "Footer",
    ElementKind.FOOTNOTE: "Footnote",
    ElementKind.NOTE: "Note",
    ElementKind.COMMENT: "Comment",
    ElementKind.ANNOTATION: "Annotation",
    ElementKind.FORM_FIELD: "Form field",
    ElementKind.TEXT_BOX: "Text box",
    ElementKind.CAPTION: "Caption",
    ElementKind.FIGURE: "Figure",
}
# Elements that stand on lines right below each other; all others are parted by a blank line.
_DENSE = frozenset((ElementKind.TABLE_ROW, ElementKind.LIST_ITEM, ElementKind.CUE, ElementKind.FIELD))


def as_text(elements: Iterable[Element]) -> Iterator[str]:
    """Yield the text of a document in parts, line ends included; joined they are the whole text."""
    before: ElementKind | None = None
    for element in elements:
        if before is not None:
            yield "\n" if before is element.kind and element.kind in _DENSE else "\n\n"
        yield _line(element)
        before = element.kind
    if before is not None:
        yield "\n"


def _line(element: Element) -> str:
    mark = _MARKS.get(element.kind)
    if mark:
        author = element.metadata.get("author")
        return f"[{mark}, {author}] {element.text}" if author else f"[{mark}] {element.text}"
    if element.kind is ElementKind.LIST_ITEM:
        return f"{'  ' * max(element.level - 1, 0)}- {element.text}"
    if element.cells:
        return _row(element)
    speaker = _speaker(element)
    return f"{speaker}: {element.text}" if speaker else element.text


def _row(element: Element) -> str:
    """Return a row of a table; a value whose stored form cannot be read off it is followed by that form."""
    more = any(_hides(cell) for cell in element.cells)
    if not more or element.text != " | ".join(cell.value for cell in element.cells):
        return element.text
    return " | ".join(
        f"{cell.value} ({cell.stored})" if _hides(cell) else cell.value for cell in element.cells
    )


def _hides(cell: Cell) -> bool:
    """Tell whether a search for a value as stored would miss it as shown: "$1,414" for 1414."""
    return cell.stored is not None and cell.stored.removeprefix("-") not in cell.value


def _speaker(element: Element) -> str | None:
    anchor = element.anchor
    if isinstance(anchor, CueAnchor):
        return anchor.speaker
    return anchor.sender if isinstance(anchor, MessageAnchor) else None
