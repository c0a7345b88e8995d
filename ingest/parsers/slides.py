"""PowerPoint presentations (PPTX, PPSX, PPTM): slides in show order with notes and comments."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.context import ParseContext, Piece
from ingest.errors import FileTooLarge
from ingest.model import ElementKind
from ingest.parsers.embedded import attach_embedded
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, tag
from ingest.parsers.opc import Package
from ingest.parsers.properties import describe_package
from ingest.parsers.slide_comments import CommentAuthors, read_authors, slide_comments
from ingest.parsers.slide_shapes import SlideReader

_RUNNING = (ElementKind.HEADER, ElementKind.FOOTER)


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a presentation.

    Hidden slides are read and marked ``hidden``. Footers and what a master draws on every slide come once;
    the prompts of empty placeholders are left out.

    Raises:
        CorruptFile: the file is no complete presentation.
        EncryptedFile: it is protected by a password.
        FileTooLarge: it holds more than the limits allow.
        MaliciousFile: it is built to harm its reader.
    """
    with Package(context.path, context.limits) as package:
        part = package.main_part("ppt/presentation.xml")
        describe_package(context, package)
        slides = _slides_in_order(package, part, package.tree(part))
        if len(slides) > context.limits.max_pages:
            raise FileTooLarge(f"The presentation has more than {context.limits.max_pages} slides.")
        context.describe(page_count=len(slides))
        authors = read_authors(package, part)
        pictures = InnerPictures(context)
        seen: set[tuple[ElementKind, str]] = set()
        for number, target in enumerate(slides, start=1):
            for piece in _slide(context, package, target, number, authors, pictures):
                # What runs along every slide is told once, where it first appears.
                if piece.kind in _RUNNING or "master" in piece.metadata:
                    if (piece.kind, piece.text) in seen:
                        continue
                    seen.add((piece.kind, piece.text))
                yield piece
        pictures.report()
        attach_embedded(context, package, *slides)


def _slides_in_order(package: Package, part: str, root: Node) -> list[str]:
    relations = package.relations(part)
    listed = [attribute_r(node) for node in root.iter(tag("p:sldId"))]
    return [
        relations[key].target for key in listed if key in relations and package.has(relations[key].target)
    ]


def attribute_r(node: Node) -> str:
    """Return the relation id of a node (r:id), which "id" alone would confuse with its own number."""
    return str(node.get(tag("r:id"), ""))


def _slide(
    context: ParseContext,
    package: Package,
    target: str,
    number: int,
    authors: CommentAuthors,
    pictures: InnerPictures,
) -> Iterator[Piece]:
    root = package.optional(target)
    if root is None:
        context.warn("slide_unreadable", f"Slide {number} is damaged and was left out.")
        return
    hidden = attribute(root, "show", "1") in ("0", "false")
    reader = SlideReader(package, target, number, {"hidden": True} if hidden else {}, pictures)
    yield from reader.shapes(root)
    for source in package.related(target, "notesSlide"):
        notes = package.optional(source)
        if notes is not None:
            yield from reader.notes(notes)
    yield from slide_comments(package, target, number, authors)
    for layout in package.related(target, "slideLayout"):
        for source in (layout, *package.related(layout, "slideMaster")):
            master = package.optional(source)
            if master is not None:
                background = SlideReader(package, source, number, {**reader.metadata, "master": True})
                yield from background.background(master)
