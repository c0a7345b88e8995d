"""What belongs to a worksheet beside its cells: comments, text boxes, charts, print headers and footers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from pydantic import JsonValue

from ingest.anchors import SheetAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.drawing import alt_text, graphic_texts, text_lines, visible
from ingest.parsers.graphic_pictures import graphic_pictures
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local
from ingest.parsers.opc import Package
from ingest.parsers.sheet_controls import sheet_controls
from ingest.parsers.sheet_rows import rich_text
from ingest.parsers.sheet_styles import unescape
from ingest.parsers.tables import column_letters

Metadata: TypeAlias = dict[str, JsonValue]

_MARGIN_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d+|[A-Za-z])')
_SECTION = re.compile(r"&[LCR]")
_MAX_AREA_SIDE = 16_384


def sheet_comments(package: Package, part: str, sheet: str, metadata: Metadata) -> Iterator[Piece]:
    """Yield the comments of a sheet, threaded ones with their answers, with their authors."""
    people = _people(package)
    threaded: set[str] = set()
    for target in package.related(part, "threadedComment"):
        root = package.optional(target)
        for node in () if root is None else root:
            text = "".join(child.text or "" for child in node if local(child) == "text").strip()
            where = attribute(node, "ref")
            threaded.add(where)
            if text:
                more: Metadata = {"author": people.get(attribute(node, "personId"), "")}
                if attribute(node, "dT"):
                    more["date"] = attribute(node, "dT")
                yield _comment(text, sheet, where, {**metadata, **more})
    for target in package.related(part, "comments"):
        root = package.optional(target)
        if root is not None:
            yield from _plain_comments(root, sheet, metadata, threaded)


def _plain_comments(root: Node, sheet: str, metadata: Metadata, threaded: set[str]) -> Iterator[Piece]:
    authors = [node.text or "" for node in root.iter() if local(node) == "author"]
    for node in root.iter():
        where = attribute(node, "ref") if local(node) == "comment" else ""
        # Beside each threaded comment stands a copy for older programs, with a note that says so.
        if not where or where in threaded:
            continue
        text = "".join(unescape(rich_text(child)) for child in node if local(child) == "text").strip()
        author = attribute(node, "authorId")
        name = authors[int(author)] if author.isdecimal() and int(author) < len(authors) else ""
        if text:
            yield _comment(text, sheet, where, {**metadata, "author": name})


def _comment(text: str, sheet: str, where: str, metadata: Metadata) -> Piece:
    kept = {key: value for key, value in metadata.items() if value != ""}
    anchor = SheetAnchor(sheet=sheet, cells=where or "A1")
    return Piece(ElementKind.COMMENT, text, anchor, metadata=kept)


def _people(package: Package) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in [name for name in package.names() if name.lower().startswith("xl/persons/")]:
        root = package.optional(part)
        for node in () if root is None else root:
            found[attribute(node, "id")] = attribute(node, "displayName")
    return found


def sheet_drawings(
    package: Package, part: str, sheet: str, metadata: Metadata, pictures: InnerPictures
) -> Iterator[Piece]:
    """Yield text boxes, charts, diagrams, alternative texts and picture texts, each with its first cell."""
    told: set[str] = set()
    for target in package.related(part, "drawing"):
        root = package.optional(target)
        for holder in () if root is None else root:
            anchor = SheetAnchor(sheet=sheet, cells=_start_cell(holder))
            for text in _texts(holder, "txBody"):
                told.add(" ".join(text.split()))
                yield Piece(ElementKind.TEXT_BOX, text, anchor, metadata=metadata)
            for text in (*graphic_texts(package, target, holder), *_descriptions(holder)):
                yield Piece(ElementKind.FIGURE, text, anchor, metadata=metadata)
            yield from graphic_pictures(package, pictures, target, holder, anchor, metadata)
    for control in sheet_controls(package, part):
        # Newer programs draw a control twice, in both languages.
        if control.text.lstrip("☒☐ ") not in told:
            anchor = SheetAnchor(sheet=sheet, cells=control.cell)
            yield Piece(control.kind, control.text, anchor, metadata=metadata)


def _start_cell(holder: Node) -> str:
    start = next((node for node in holder if local(node) == "from"), None)
    values = {} if start is None else {local(node): (node.text or "").strip() for node in start}
    column, row = values.get("col", "0"), values.get("row", "0")
    if not (column.isdecimal() and row.isdecimal()):
        return "A1"
    return f"{column_letters(min(int(column), _MAX_AREA_SIDE))}{int(row) + 1}"


def _texts(holder: Node, name: str) -> Iterator[str]:
    for node in visible(holder, name):
        if local(node) == name:
            text = "\n".join(line.text for line in text_lines(node))
            if text:
                yield text


def _descriptions(holder: Node) -> Iterator[str]:
    for node in visible(holder):
        text = alt_text(node) if local(node) == "cNvPr" else ""
        if text:
            yield text


def header_footer(node: Node, sheet: str, metadata: Metadata) -> Iterator[Piece]:
    """Yield the print headers and footers of a sheet, equal ones once, without their layout codes."""
    seen: set[tuple[ElementKind, str]] = set()
    for child in node:
        kind = ElementKind.HEADER if local(child).endswith("Header") else ElementKind.FOOTER
        text = margin_text(child.text or "")
        if text and (kind, text) not in seen:
            seen.add((kind, text))
            yield Piece(kind, text, SheetAnchor(sheet=sheet, cells="A1"), metadata=metadata)


def margin_text(code: str) -> str:
    """Return a print header or footer as it reads; page numbers, dates and fonts are left out."""
    parts = [_MARGIN_CODE.sub("", part.replace("&&", "\0")) for part in _SECTION.split(code)]
    return " | ".join(part.replace("\0", "&").strip() for part in parts if part.strip())
