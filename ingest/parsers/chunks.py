"""Documents of another format inside a Word document (altChunk): read where they stand."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from ingest.context import ParseContext, Piece
from ingest.errors import IngestError, MaliciousFile
from ingest.formats import DOCX, EML, HTML, PLAIN, RTF, by_media_type, load_parser
from ingest.parsers.opc import Package

_TYPES = {
    ".htm": HTML, ".html": HTML, ".xhtml": HTML, ".mht": EML, ".mhtml": EML, ".eml": EML,
    ".docx": DOCX, ".docm": DOCX, ".dotx": DOCX, ".rtf": RTF, ".txt": PLAIN,
}  # fmt: skip
_FILE = "chunk.part"


def read_chunk(context: ParseContext, package: Package, source: str, key: str) -> Iterator[Piece]:
    """Yield the pieces of an embedded document.

    One that cannot be read in place is attached instead, with a warning. So is one inside another: a
    document that embeds itself must come to an end.

    Args:
        context: of the document around it.
        package: the opened document.
        source: the part that embeds it.
        key: the relation id.
    """
    link = package.relations(source).get(key)
    if link is None or link.external or not package.has(link.target):
        context.warn("chunk_missing", "An embedded document is missing from the file.")
        return
    data = package.read(link.target)
    name = posixpath.basename(link.target)
    row = by_media_type(_TYPES.get(posixpath.splitext(name)[1].lower(), ""))
    if row is None or context.path.name == _FILE:
        context.attach(name, "application/octet-stream", data, link.target)
        return
    path = context.child_dir / _FILE
    path.write_bytes(data)
    try:
        inner = replace(context, path=path, name=name, media_type=row.media_type)
        yield from load_parser(row)(inner)
    except MaliciousFile:
        raise
    except IngestError as error:
        context.warn("chunk_unreadable", f"The embedded document {name} was attached instead: {error.detail}")
        context.attach(name, row.media_type, data, link.target)
    finally:
        path.unlink(missing_ok=True)
