"""Comments on slides: those of PowerPoint 2007 and the threaded ones of 2021."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pydantic import JsonValue

from ingest.anchors import SlideAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.drawing import text_lines
from ingest.parsers.ooxml import Node, attribute, local
from ingest.parsers.opc import Package

CommentAuthors: TypeAlias = Mapping[str, str]


def read_authors(package: Package, part: str) -> CommentAuthors:
    """Return the names of comment authors by id, of both kinds of comments."""
    found: dict[str, str] = {}
    for kind in ("commentAuthors", "authors"):
        for target in package.related(part, kind):
            root = package.optional(target)
            for node in () if root is None else root:
                found[attribute(node, "id")] = attribute(node, "name")
    return found


def slide_comments(package: Package, slide: str, number: int, authors: CommentAuthors) -> Iterator[Piece]:
    """Yield the comments of a slide with their authors, answers after what they answer."""
    for target in package.related(slide, "comments"):
        root = package.optional(target)
        for node in () if root is None else root.iter():
            if local(node) in ("cm", "reply"):
                yield from _comment(node, number, authors)


def _comment(node: Node, number: int, authors: CommentAuthors) -> Iterator[Piece]:
    text = _text(node)
    if not text:
        return
    metadata: dict[str, JsonValue] = {}
    author = authors.get(attribute(node, "authorId"))
    date = attribute(node, "dt") or attribute(node, "created")
    if author:
        metadata["author"] = author
    if date:
        metadata["date"] = date
    if local(node) == "reply":
        metadata["reply"] = True
    yield Piece(ElementKind.COMMENT, text, SlideAnchor(slide=number, part="comment"), metadata=metadata)


def _text(node: Node) -> str:
    """Return a comment's own text: a plain one in the old kind, a text body in the new."""
    for child in node:
        if local(child) == "text":
            return (child.text or "").strip()
        if local(child) == "txBody":
            return "\n".join(line.text for line in text_lines(child))
    return ""
