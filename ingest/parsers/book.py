"""EPUB books: the chapters of the spine, each an XHTML page."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import unquote
from zipfile import ZipFile

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.errors import CorruptFile, EncryptedFile, IngestError
from ingest.parsers.html import declared_charset
from ingest.parsers.html_blocks import blocks
from ingest.parsers.ooxml import Node, attribute, local, parse_xml
from ingest.zipguard import checked_zip, read_member

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_FONT_LOCKS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield a book chapter by chapter; a damaged chapter is passed over with a warning.

    Raises:
        CorruptFile: no chapter can be read.
        EncryptedFile: the chapters are locked (DRM).
    """
    with checked_zip(context.path, context.limits) as package:
        _refuse_locked(package)
        folder, book = _book(package)
        _describe(context, book)
        read = 0
        for number, name in enumerate(_spine(folder, book), start=1):
            try:
                data = read_member(package, name)
            except IngestError as error:
                context.warn("chapter_unreadable", f"Chapter {number} cannot be read: {error.detail}")
                continue
            read += 1
            yield from _chapter(data, f"chapter {number}")
    if not read:
        raise CorruptFile("The book has no chapter that can be read.")


def _refuse_locked(package: ZipFile) -> None:
    if "META-INF/encryption.xml" not in package.namelist():
        return
    locks = parse_xml(read_member(package, "META-INF/encryption.xml"))
    methods = {attribute(node, "Algorithm") for node in locks.iter("{*}EncryptionMethod")}
    if methods - set(_FONT_LOCKS):
        raise EncryptedFile("The book is locked by its seller (DRM).")


def _book(package: ZipFile) -> tuple[str, Node]:
    """Return the folder of the book's description (OPF) and its root."""
    container = parse_xml(read_member(package, "META-INF/container.xml"))
    name = next((attribute(node, "full-path") for node in container.iter("{*}rootfile")), "")
    if not name:
        raise CorruptFile("The book does not say where its contents are.")
    return posixpath.dirname(name), parse_xml(read_member(package, name), recover=True)


def _describe(context: ParseContext, book: Node) -> None:
    said: dict[str, list[str]] = {}
    for node in book.iter("{*}title", "{*}creator", "{*}date", "{*}language", "{*}publisher", "{*}subject"):
        if text := " ".join("".join(node.itertext()).split()):
            said.setdefault(local(node), []).append(text)
    date = _date(said.get("date", [""])[0])
    context.describe(
        title=said.get("title", [None])[0],
        authors=tuple(said.get("creator", ())) or None,
        language=said.get("language", [None])[0],
        created_at=date,
        occurred_at=date,
        extra={key: ", ".join(said[key]) for key in ("publisher", "subject") if key in said},
    )


def _date(text: str) -> datetime | None:
    for shape in ("%Y-%m-%d", "%Y-%m", "%Y"):
        try:
            return datetime.strptime(
                text[: 10 if shape.endswith("d") else 7 if shape.endswith("m") else 4], shape
            ).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _spine(folder: str, book: Node) -> Iterator[str]:
    """Yield the members of the archive that hold the chapters, in reading order, each once."""
    items = {attribute(node, "id"): node for node in book.iter("{*}item")}
    order = [attribute(node, "idref") for node in book.iter("{*}itemref")]
    for key in dict.fromkeys(order):
        item = items.get(key)
        if (
            item is not None
            and attribute(item, "media-type") in _PAGES
            and "nav" not in attribute(item, "properties").split()
        ):
            yield posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href"))))


def _chapter(data: bytes, part: str) -> Iterator[Piece]:
    text, _ = decode_text(data, declared_charset(data))
    for block in blocks(text):
        anchor = SectionAnchor(
            heading_path=block.headings, line_start=block.line_start, line_end=block.line_end, part=part
        )
        yield Piece(block.kind, block.text, anchor, block.level, block.cells, block.metadata)
