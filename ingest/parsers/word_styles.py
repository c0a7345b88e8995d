"""Styles of a WordprocessingML document: which paragraph is a heading, which a list item."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ingest.model import ElementKind
from ingest.parsers.ooxml import Node, attribute, tag
from ingest.parsers.word_numbering import Numbering, read_numbering

# Built-in styles keep their English names in the file, whatever language Word shows them in.
_HEADING = re.compile(r"heading\s*([1-9])$", re.IGNORECASE)
_LIST = re.compile(r"list (?:bullet|number)\s*([1-9]?)$", re.IGNORECASE)
_MAX_BASE_STYLES = 32
_BODY_LEVEL = 9
_NO_LIST = "0"


class Role(NamedTuple):
    """What a paragraph is; ``label`` is its automatic number as shown, "" for bullets and plain text."""

    kind: ElementKind
    level: int = 0
    label: str = ""


class _Style(NamedTuple):
    identity: str
    name: str
    base: str
    outline: int | None
    numbering: tuple[str, int | None] | None


@dataclass
class Styles:
    """Tells the role of each paragraph. Numbers count on, so ask once for each paragraph, in order."""

    known: dict[str, _Style]
    default: str
    numbering: Numbering

    def role(self, paragraph: Node) -> Role:
        """Return what a paragraph is and count its number."""
        properties = paragraph.find(tag("w:pPr"))
        chain = self._chain(_value(properties, "w:pStyle") or self.default)
        listed = self._list(properties, chain)
        label = self.numbering.count(*listed) if listed else ""
        heading = _heading_level(properties, chain)
        names = [style.name.lower() for style in chain[:2]]
        if heading is not None:
            return Role(ElementKind.HEADING, heading, label)
        if "title" in names:
            return Role(ElementKind.TITLE, 0, label)
        if listed:
            return Role(ElementKind.LIST_ITEM, listed[1] + 1, label)
        if "caption" in names:
            return Role(ElementKind.CAPTION)
        named = next((found for name in names if (found := _LIST.match(name))), None)
        return Role(ElementKind.LIST_ITEM, int(named[1] or 1)) if named else Role(ElementKind.PARAGRAPH)

    def _chain(self, identity: str) -> list[_Style]:
        chain: list[_Style] = []
        while (style := self.known.get(identity)) and len(chain) < _MAX_BASE_STYLES:
            chain.append(style)
            identity = style.base
        return chain

    def _list(self, properties: Node | None, chain: list[_Style]) -> tuple[str, int] | None:
        """Return the list a paragraph is in and its 0-based level there."""
        source = next((style for style in chain if style.numbering), None)
        number, level = _numbering(properties) or (source.numbering if source else None) or (_NO_LIST, 0)
        if number == _NO_LIST:
            return None
        if level is None:
            styles = [style.identity for style in chain]
            level = max((self.numbering.level_of_style(number, style) for style in styles), default=0)
        return number, min(max(level, 0), _BODY_LEVEL - 1)


def _heading_level(properties: Node | None, chain: list[_Style]) -> int | None:
    outlines = [_integer(_value(properties, "w:outlineLvl")), *(style.outline for style in chain)]
    outline = next((found for found in outlines if found is not None), None)
    if outline is not None:
        return outline + 1 if 0 <= outline < _BODY_LEVEL else None
    named = next((found for style in chain if (found := _HEADING.match(style.name))), None)
    return int(named[1]) if named else None


def read_styles(styles: Node | None, numbering: Node | None) -> Styles:
    """Return the styles and lists of a document from the roots of their parts."""
    known: dict[str, _Style] = {}
    default = ""
    for node in () if styles is None else styles.iter(tag("w:style")):
        properties = node.find(tag("w:pPr"))
        style = _Style(
            identity=attribute(node, "styleId"),
            name=_value(node, "w:name"),
            base=_value(node, "w:basedOn"),
            outline=_integer(_value(properties, "w:outlineLvl")),
            numbering=_numbering(properties),
        )
        known[style.identity] = style
        if attribute(node, "type") == "paragraph" and attribute(node, "default") in ("1", "true", "on"):
            default = style.identity
    return Styles(known, default, read_numbering(numbering))


def _value(parent: Node | None, name: str) -> str:
    return "" if parent is None else attribute(parent.find(tag(name)), "val")


def _integer(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _numbering(properties: Node | None) -> tuple[str, int | None] | None:
    found = None if properties is None else properties.find(tag("w:numPr"))
    number = _value(found, "w:numId")
    return (number, _integer(_value(found, "w:ilvl"))) if number else None
