"""Reading one file in this very process: detection, parser, numbering; a child process does it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingest.artifacts import write_jsonl
from ingest.charsets import begin_file
from ingest.context import ParseContext, Piece
from ingest.cutting import in_parts
from ingest.detect import Detected
from ingest.errors import EmptyFile, FileTooLarge, NoTextFound, UnsupportedFile
from ingest.formats import by_media_type, load_parser
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.outcome import ParseOutcome

ELEMENTS = "elements.jsonl"
CHILDREN = "children"
VIEWS = "views"
ELEMENT_CHARS = 8_000


def parse_in_process(context: ParseContext) -> Iterator[Element]:
    """Yield the numbered elements of a file whose media type is known.

    Pieces without text are left out; text of more than 8,000 characters comes in parts, because an episode
    is made of whole elements.

    Raises:
        IngestError: whatever the parser of its type raises.
    """
    row = by_media_type(context.media_type)
    if row is None:
        raise UnsupportedFile(f"Files of type {context.media_type} are not read.")
    position = 0
    for piece in load_parser(row)(context):
        for part in _parts(piece):
            yield Element(position=position, **part._asdict())
            position += 1


def _parts(piece: Piece) -> Iterator[Piece]:
    """Yield a piece as it is, or in parts where its text is longer than an episode can hold."""
    if len(piece.text) <= ELEMENT_CHARS or piece.cells:
        if piece.text.strip():
            yield piece
        return
    for number, text in enumerate(in_parts(piece.text, ELEMENT_CHARS), start=1):
        yield piece._replace(text=text, metadata={**piece.metadata, "part": number})


def check_size(path: Path, limits: ParseLimits) -> None:
    """Refuse a file without a byte or with too many.

    Raises:
        EmptyFile: it has no byte.
        FileTooLarge: it has more bytes than ``limits.max_file_bytes``.
    """
    size = path.stat().st_size
    if not size:
        raise EmptyFile
    if size > limits.max_file_bytes:
        raise FileTooLarge(f"The file has {size} bytes; PARSE_MAX_FILE_BYTES allows {limits.max_file_bytes}.")


def read_as(found: Detected, path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read a file as the type it was found to be and write its elements and children below ``out_dir``.

    Raises:
        NoTextFound: it was read and holds neither text nor files nor anything to be looked at.
        IngestError: whatever the parser of its type raises.
    """
    child_dir = out_dir / CHILDREN
    child_dir.mkdir(parents=True, exist_ok=True)
    begin_file()
    context = ParseContext(path, name, found.media_type, limits, child_dir, warnings=list(found.warnings))
    if limits.max_views:
        context.view_dir = out_dir / VIEWS
        context.view_dir.mkdir(exist_ok=True)
    count = write_jsonl(out_dir / ELEMENTS, parse_in_process(context))
    if not count and not context.children and not context.views:
        (out_dir / ELEMENTS).unlink()
        raise NoTextFound
    return ParseOutcome(
        media_type=context.media_type,
        metadata=context.metadata,
        element_count=count,
        children=tuple(context.children),
        warnings=tuple(context.warnings),
        views=tuple(context.views),
    )
