"""Word documents (DOCX, DOCM, DOTX): the accepted text with everything that hangs on it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pydantic import JsonValue

from ingest.context import ParseContext, Piece
from ingest.model import ElementKind
from ingest.parsers.chunks import read_chunk
from ingest.parsers.embedded import attach_embedded
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.opc import Package
from ingest.parsers.properties import describe_package
from ingest.parsers.word_body import Note, Place, Walker
from ingest.parsers.word_styles import read_styles

_NOTE_PARTS = (
    ("footnotes", "footnote", ElementKind.FOOTNOTE),
    ("endnotes", "endnote", ElementKind.FOOTNOTE),
    ("comments", "comment", ElementKind.COMMENT),
)


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a Word document.

    Insertions count as accepted and deletions as gone. Foot- and endnotes, comments and text boxes follow
    the paragraph they hang on; headers and footers follow the body, each once.

    Raises:
        CorruptFile: the file is no complete Word document.
        EncryptedFile: it is protected by a password.
        FileTooLarge: it unpacks to more than the limits allow.
        MaliciousFile: it is built to harm its reader.
    """
    with Package(context.path, context.limits) as package:
        part = package.main_part("word/document.xml")
        describe_package(context, package)
        root, is_damaged = package.salvage(part)
        if is_damaged:
            context.warn("document_damaged", "The document is damaged; what follows the damage is missing.")

        def related(kind: str) -> Node | None:
            return package.optional(next(iter(package.related(part, kind)), ""))

        walker = Walker(package, read_styles(related("styles"), related("numbering")))
        walker.pictures = InnerPictures(context)
        walker.embed = partial(read_chunk, context, package)
        for kind, name, element in _NOTE_PARTS:
            for source in package.related(part, kind):
                walker.notes |= _read_notes(package.optional(source), name, element, source)
        for piece in walker.story(root, part):
            if piece.kind is ElementKind.TITLE and not context.metadata.title:
                context.describe(title=piece.text)
            yield piece
        for key in list(walker.notes):
            yield from walker.note(key)
        yield from _margins(walker, package, part, root)
        walker.pictures.report()
        attach_embedded(context, package, part, *_story_parts(package, part))


def _read_notes(root: Node | None, name: str, kind: ElementKind, source: str) -> dict[tuple[str, str], Note]:
    found: dict[tuple[str, str], Note] = {}
    for node in () if root is None else root:
        # Separator lines between text and notes are stored as notes of a type of their own.
        if local(node) == name and attribute(node, "type", "normal") == "normal":
            metadata: dict[str, JsonValue] = {
                key: attribute(node, key) for key in ("author", "date") if attribute(node, key)
            }
            found[name, attribute(node, "id")] = Note(node, kind, source, metadata)
    return found


def _story_parts(package: Package, part: str) -> Iterator[str]:
    for kind in ("header", "footer", "footnotes", "endnotes", "comments"):
        yield from package.related(part, kind)


def _margins(walker: Walker, package: Package, part: str, root: Node) -> Iterator[Piece]:
    """Yield headers and footers, equal ones once."""
    relations = package.relations(part)
    seen: set[tuple[str, str]] = set()
    for reference in root.iter(tag("w:headerReference"), tag("w:footerReference")):
        name = local(reference).removesuffix("Reference")
        link = relations.get(attribute(reference, "id"))
        margin = package.optional(link.target) if link else None
        if link is None or margin is None:
            continue
        kind = ElementKind.HEADER if name == "header" else ElementKind.FOOTER
        place = Place(name, kind, {"pages": attribute(reference, "type", "default")})
        walker.headings, walker.blocks = [], 0
        for piece in walker.story(margin, link.target, place):
            if (name, piece.text) not in seen:
                seen.add((name, piece.text))
                yield piece
