"""Word 6 to 2003 documents (DOC), read from the piece table; and the XML that Word 2003 saves as .doc."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.parsers import word
from ingest.parsers.doc_format import read_formats
from ingest.parsers.doc_lists import read_lists
from ingest.parsers.doc_stories import StoryReader
from ingest.parsers.doc_text import open_text
from ingest.parsers.embedded import attach_storages
from ingest.parsers.office_program import WORD, with_fallback
from ingest.parsers.ole import open_ole
from ingest.parsers.ole_properties import describe_ole
from ingest.parsers.opc import is_flat_package
from ingest.parsers.word_xml import is_word_xml, parse_word_xml

_HEAD = 4096


def parse(context: ParseContext) -> Iterator[Piece]:
    """Read a Word document of the binary format.

    Deleted text and field instructions are left out. Foot- and endnotes and comments follow the paragraph
    they hang on; text boxes, headers and footers follow the body.

    Raises:
        CorruptFile: the text cannot be found.
        EncryptedFile: the document is protected by a password.
        MaliciousFile: it is built to harm its reader.
    """
    with context.path.open("rb") as file:
        head = file.read(_HEAD)
    if is_word_xml(head):
        yield from parse_word_xml(context)
        return
    if is_flat_package(head):
        yield from word.parse(context)
        return
    with open_ole(context.path) as ole:
        if not ole.exists("WordDocument"):
            raise CorruptFile("The file does not hold a Word document.")
    yield from with_fallback(context, _read, WORD, word.parse)


def _read(context: ParseContext) -> Iterator[Piece]:
    with open_ole(context.path) as ole:
        describe_ole(context, ole)
        document = open_text(ole)
        attach_storages(context, ole)
    yield from StoryReader(document, read_formats(document), read_lists(document)).pieces()
