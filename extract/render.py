"""A segment as a person reads it: the text of an episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extract.boundaries import HEADINGS
from extract.names import speaker_of
from extract.phrases import phrase
from extract.scripts import glue, one_line
from extract.statements.rows import is_header, is_named
from ingest.model import Element, ElementKind

_MARKS = {
    ElementKind.NOTE: "notes",
    ElementKind.COMMENT: "comment",
    ElementKind.ANNOTATION: "comment",
    ElementKind.FOOTNOTE: "footnote",
    ElementKind.CAPTION: "caption",
}


def render(elements: Sequence[Element], language: str) -> str:
    """Return elements as readable text, one paragraph, row or turn a line."""
    return "\n".join(_lines(elements, language))


def _lines(elements: Sequence[Element], language: str) -> Iterator[str]:
    columns: tuple[str, ...] = ()
    at = 0
    while at < len(elements):
        element = elements[at]
        if element.kind is ElementKind.CUE:
            end = _turn_end(elements, at)
            yield _turn(elements[at:end], language)
            at = end
            continue
        if element.kind is ElementKind.TABLE_ROW:
            names = tuple(one_line(cell.name) for cell in element.cells)
            if names != columns and is_named(element.cells) and not is_header(element):
                yield " | ".join(names)
            columns = names
        else:
            columns = ()
        if element.text.strip():
            yield _line(element, language)
        at += 1


def _turn_end(elements: Sequence[Element], start: int) -> int:
    speaker = speaker_of(elements[start])
    end = start + 1
    while (
        end < len(elements) and elements[end].kind is ElementKind.CUE and speaker_of(elements[end]) == speaker
    ):
        end += 1
    return end


def _turn(cues: Sequence[Element], language: str) -> str:
    text = ""
    for cue in cues:
        words = one_line(cue.text)
        text += glue(text, words) + words
    speaker = speaker_of(cues[0])
    return f"{speaker}{phrase(language, 'colon')}{text}" if speaker else text


def _line(element: Element, language: str) -> str:
    text = element.text.strip()
    if element.kind is ElementKind.MESSAGE:
        speaker = speaker_of(element)
        return f"{speaker}{phrase(language, 'colon')}{text}" if speaker else text
    if element.kind is ElementKind.LIST_ITEM:
        return f"{'  ' * max(0, element.level - 1)}- {text}"
    if element.kind is ElementKind.QUOTE:
        return "\n".join(f"> {line}" for line in text.split("\n"))
    if element.kind in _MARKS:
        author = element.metadata.get("author")
        mark = (
            phrase(language, "comment_by", author)
            if author and _MARKS[element.kind] == "comment"
            else phrase(language, _MARKS[element.kind])
        )
        return f"[{mark}] {text}"
    return one_line(text) if element.kind in HEADINGS else text
