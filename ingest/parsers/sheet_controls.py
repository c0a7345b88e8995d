"""Form controls and text boxes that a worksheet keeps in the older drawing language (VML)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ingest.errors import CorruptFile, FileTooLarge
from ingest.model import ElementKind
from ingest.parsers.ooxml import Node, attribute, local, parse_xml
from ingest.parsers.opc import Package
from ingest.parsers.tables import column_letters

_MAX_COLUMN = 16_383


class Control(NamedTuple):
    """A control or box: what it says, and the cell it starts in."""

    kind: ElementKind
    text: str
    cell: str


def sheet_controls(package: Package, part: str) -> Iterator[Control]:
    """Yield the boxes and controls of a sheet that carry text; notes on cells are told elsewhere."""
    for target in package.related(part, "vmlDrawing"):
        try:
            # Excel writes line breaks into these parts that are no XML.
            root = parse_xml(package.read(target), recover=True)
        except (CorruptFile, FileTooLarge):
            continue
        for shape in root.iter():
            if local(shape) in ("shape", "rect", "roundrect", "oval"):
                yield from _control(shape)


def _control(shape: Node) -> Iterator[Control]:
    data = next((node for node in shape if local(node) == "ClientData"), None)
    kind = attribute(data, "ObjectType")
    box = next((node for node in shape if local(node) == "textbox"), None)
    if kind == "Note" or box is None:
        return
    text = " ".join("".join(box.itertext()).split())
    if not text:
        return
    values = {local(node): (node.text or "").strip() for node in (() if data is None else data)}
    if kind in ("Checkbox", "Radio"):
        text = f"{'☒' if values.get('Checked') == '1' else '☐'} {text}"
    element = (
        ElementKind.TEXT_BOX if data is None or kind in ("", "Rect", "Shape") else ElementKind.FORM_FIELD
    )
    yield Control(element, text, _cell(values.get("Anchor", "")))


def _cell(anchor: str) -> str:
    numbers = [part.strip() for part in anchor.split(",")]
    if len(numbers) < 3 or not (numbers[0].isdecimal() and numbers[2].isdecimal()):
        return "A1"
    return f"{column_letters(min(int(numbers[0]), _MAX_COLUMN))}{int(numbers[2]) + 1}"
