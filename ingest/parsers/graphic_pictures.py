"""The pictures that drawings of Office documents show."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from ingest.anchors import Anchor
from ingest.context import Piece
from ingest.errors import CorruptFile
from ingest.parsers.drawing import visible
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local
from ingest.parsers.opc import Package


def graphic_pictures(
    package: Package,
    pictures: InnerPictures,
    part: str,
    graphic: Node,
    anchor: Anchor,
    metadata: dict[str, JsonValue],
) -> Iterator[Piece]:
    """Yield what is written in the pictures that a graphic of an Office document shows.

    Args:
        package: the opened package.
        pictures: of the document.
        part: the part the graphic stands in, whose relations it uses.
        graphic: any node above a:blip or v:imagedata.
        anchor: its place.
        metadata: marks of the pieces.
    """
    relations = package.relations(part)
    for node in visible(graphic, "txbxContent", "txBody"):
        key = {"blip": "embed", "imagedata": "id"}.get(local(node))
        link = relations.get(attribute(node, key)) if key else None
        if link is None or link.external or not package.has(link.target):
            continue
        try:
            data = package.read(link.target)
        except CorruptFile:
            continue  # a picture that is missing takes no text with it that could be told of
        yield from pictures.read(data, anchor, metadata)
