"""SVG: its text elements; where it has none, what can be read from its rendering."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree

from ingest.anchors import PageAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, MaliciousFile
from ingest.model import ElementKind
from ingest.parsers.ooxml import Node, error_of, local
from ingest.parsers.page_lines import Box, rounded
from ingest.parsers.paragraphs import paragraphs
from ingest.parsers.reading_order import Grid, read_order
from ingest.parsers.svg_text import svg_lines

_MAX_ENTITIES = 200
_MAX_ENTITY = 2000


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield title, description and texts of a drawing; scripts are dropped.

    Raises:
        CorruptFile: it is not well-formed.
        MaliciousFile: it defines entities that grow or reach outside.
    """
    data = context.path.read_bytes()
    root = _root(data)
    texts = 0
    for piece in (*_words(context, root), *_texts(root)):
        texts += piece.kind is not ElementKind.TITLE
        yield piece
    if not texts:
        from ingest.parsers.svg_render import read_rendered  # most drawings need no renderer

        yield from read_rendered(context, data)


def _root(data: bytes) -> Node:
    # Drawing programs define entities for their name spaces; libxml2 bounds how far those may grow.
    options: dict[str, Any] = {"resolve_entities": "internal", "load_dtd": False, "no_network": True}
    parser = etree.XMLParser(huge_tree=False, remove_comments=True, remove_pis=True, **options)
    try:
        root: Node = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise error_of(error) from error
    dtd: Any = root.getroottree().docinfo.internalDTD
    entities = list(dtd.iterentities()) if dtd is not None else []
    if len(entities) > _MAX_ENTITIES or any(_is_hostile(entity.content) for entity in entities):
        raise MaliciousFile("The drawing defines entities in a way that only hostile files do.")
    if local(root) != "svg":
        raise CorruptFile("The file is XML, but no SVG drawing.")
    return root


def _is_hostile(content: str | None) -> bool:
    return content is None or "&" in content or len(content) > _MAX_ENTITY


def _words(context: ParseContext, root: Node) -> Iterator[Piece]:
    """Yield what titles and descriptions say; the drawing's own title is its title."""
    for node in root.iter("{*}title", "{*}desc"):
        text = " ".join("".join(node.itertext()).split())
        if not text:
            continue
        if local(node) == "title" and node.getparent() is root:
            context.describe(title=text)
            yield Piece(ElementKind.TITLE, text, PageAnchor(page=1))
        else:
            yield Piece(ElementKind.FIGURE, text, PageAnchor(page=1), metadata={"role": local(node)})


def _texts(root: Node) -> Iterator[Piece]:
    for region in read_order(svg_lines(root)):
        if isinstance(region, Grid):
            for row in region.rows:
                for line in row:
                    if line:
                        yield _piece(line.text, line.place)
            continue
        for block in paragraphs(region.lines):
            yield _piece(block.text, block.place)


def _piece(text: str, place: Box) -> Piece:
    return Piece(ElementKind.FIGURE, text, PageAnchor(page=1, bbox=rounded(place)))
