"""LibreOffice as the second reader of old Word and PowerPoint files: what ours cannot read it may convert.

It is never required. It runs in the confined process that reads the file (no network, no other file, the same
limits), with a profile of its own that is thrown away, and only for whole OLE files with the right stream:
left to itself it would open any rubbish as text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.context import ParseContext, Parser, Piece
from ingest.errors import CorruptFile
from ingest.parsers import office_kit


@dataclass(frozen=True, slots=True)
class Conversion:
    """How LibreOffice turns an old format into its successor.

    Attributes:
        suffix: of the new format.
        package: the Debian package that brings this part of LibreOffice.
    """

    suffix: str
    package: str


WORD = Conversion("docx", "libreoffice-writer-nogui")
SLIDES = Conversion("pptx", "libreoffice-impress-nogui")


def with_fallback(
    context: ParseContext, read: Parser, conversion: Conversion, parse: Parser
) -> Iterator[Piece]:
    """Yield what ``read`` yields, or, where it finds nothing readable, what LibreOffice makes of the file.

    Args:
        context: of the file.
        read: our own reader of the old format.
        conversion: from the old format to the new one.
        parse: the parser of the new format.

    Raises:
        CorruptFile: neither can read it; the next step names the package where LibreOffice is missing.
    """
    children, warnings = len(context.children), len(context.warnings)
    pieces = read(context)
    try:
        first = next(pieces, None)
    except CorruptFile as error:
        del context.children[children:], context.warnings[warnings:]
        with tempfile.TemporaryDirectory() as folder:
            made = _converted(context.path, conversion, Path(folder), error)
            detail = f"It was read through LibreOffice, because our own reader stopped: {error.detail}"
            context.warn("read_by_libreoffice", detail)
            inner = replace(context, path=made)
            yield from parse(inner)
            context.metadata = inner.metadata
        return
    if first is not None:
        yield first
    yield from pieces


def _converted(path: Path, conversion: Conversion, folder: Path, because: CorruptFile) -> Path:
    library = office_kit.find_library()
    if library is None:
        raise CorruptFile(
            because.detail,
            next_step=f"Save it anew in its own program, or install LibreOffice ({conversion.package}),"
            " which may still read it.",
        ) from because
    made = folder / f"copy.{conversion.suffix}"
    try:
        is_made = office_kit.convert(library, path, made, folder / "profile")
    except OSError as error:
        raise CorruptFile(f"{because.detail} LibreOffice cannot be loaded: {error!s:.200}") from because
    if not is_made or not made.is_file():
        raise CorruptFile(f"{because.detail} LibreOffice could not read it either.") from because
    return made
