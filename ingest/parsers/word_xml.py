"""Word documents in a single XML file: the format of Word 2003, often saved under the name .doc."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.model import ElementKind
from ingest.parsers.ooxml import NAMESPACES, Node, attribute, local, parse_xml, tag
from ingest.parsers.properties import read_date
from ingest.parsers.word_body import Note, Place, Walker
from ingest.parsers.word_styles import read_styles

_WORD_2003 = b"http://schemas.microsoft.com/office/word/2003/wordml"
_NOTES = {"footnote": ElementKind.FOOTNOTE, "endnote": ElementKind.FOOTNOTE}
_DELETED = ("Word.Deletion", "Word.Formatting")


def is_word_xml(head: bytes) -> bool:
    """Return whether the first bytes are those of a Word 2003 XML document."""
    return _WORD_2003 in head and re.search(rb"<\w+:wordDocument", head) is not None


def parse_word_xml(context: ParseContext) -> Iterator[Piece]:
    """Read a Word 2003 XML document; raises like ``ooxml.parse_xml``."""
    root = parse_xml(context.path.read_bytes().replace(_WORD_2003, NAMESPACES["w"].encode()))
    body = root.find(tag("w:body"))
    if body is None:
        raise CorruptFile("The file does not hold a Word document.")
    _describe(context, root)
    notes = _lift_notes(root)
    walker = Walker(None, read_styles(root.find(tag("w:styles")), None), notes)
    margins = list(root.iter(tag("w:hdr"), tag("w:ftr")))
    for margin in margins:
        margin.getparent().remove(margin)
    yield from walker.story(body, "")
    for key in list(walker.notes):
        yield from walker.note(key)
    walker.headings, walker.blocks = [], 0
    for margin in margins:
        name, kind = (
            ("header", ElementKind.HEADER) if local(margin) == "hdr" else ("footer", ElementKind.FOOTER)
        )
        yield from walker.story(margin, "", Place(name, kind, {"pages": attribute(margin, "type", "odd")}))


def _describe(context: ParseContext, root: Node) -> None:
    properties = root.find(tag("o:DocumentProperties"))
    found = {local(node): (node.text or "").strip() for node in (() if properties is None else properties)}
    created = read_date(found.get("Created"))
    context.describe(
        title=found.get("Title") or None,
        authors=(found["Author"],) if found.get("Author") else None,
        created_at=created,
        modified_at=read_date(found.get("LastSaved")),
        occurred_at=created,
    )


def _lift_notes(root: Node) -> dict[tuple[str, str], Note]:
    """Turn notes, comments and tracked changes, which this format writes inline, into references."""
    notes: dict[tuple[str, str], Note] = {}
    for number, node in enumerate(list(root.iter())):
        name = local(node)
        kind = attribute(node, "type") if name == "annotation" else ""
        if kind in _DELETED:
            node.getparent().remove(node)
        elif kind == "Word.Comment" or (
            name in _NOTES and node.getparent() is not None and local(node.getparent()) == "r"
        ):
            label = "comment" if kind else name
            author = attribute(node, "author")
            notes[label, str(number)] = Note(
                node, _NOTES.get(label, ElementKind.COMMENT), "", {"author": author} if author else {}
            )
            reference = node.makeelement(tag(f"w:{label}Reference"), {tag("w:id"): str(number)})
            reference.tail = node.tail
            node.getparent().replace(node, reference)
    return notes
