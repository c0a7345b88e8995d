"""What a file is: its content first, its name second."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ingest.delimited import looks_delimited
from ingest.encoding import is_noise
from ingest.errors import CorruptFile, TypeMismatch, UnsupportedFile
from ingest.formats import (
    CSV,
    DOC,
    DOCM,
    DOCX,
    EML,
    HTML,
    MARKDOWN,
    ODT,
    PDF,
    PLAIN,
    PPTM,
    PPTX,
    RTF,
    SVG,
    VTT,
    XHTML,
    XLS,
    XLSM,
    XLSX,
    ZIP,
    Format,
    by_name,
    extension_of,
)
from ingest.limits import ParseLimits
from ingest.model import ParseWarning
from ingest.packages import type_of_ole, type_of_zip
from ingest.signatures import OLE, TextHead, binary_type, foreign_type, is_mail, text_head, text_type

_SAMPLE_BYTES = 2**16
_SAME = ({DOCX, DOCM}, {XLSX, XLSM}, {PPTX, PPTM}, {HTML, XHTML})
_WRITTEN_PAGES = (DOC, DOCX, ODT, RTF)
_SHEETS = (XLS, XLSX, XLSM)


class Detected(NamedTuple):
    """The type of a file and what was strange about it."""

    media_type: str
    warnings: tuple[ParseWarning, ...] = ()


def detect(path: Path, name: str, limits: ParseLimits) -> Detected:
    """Return the type of a file that is not empty.

    Raises:
        UnsupportedFile: neither content nor name belongs to a type that is read.
        TypeMismatch: the name promises something the content cannot be read as.
        CorruptFile: the content has no mark of the type the name promises.
        IngestError: an archive or compound file is locked, damaged or harmful.
    """
    samples = _samples(path)
    row = by_name(name)
    media_type = _type_of_content(path, samples, name, row, limits)
    if row is None or media_type == row.media_type or any({media_type, row.media_type} <= s for s in _SAME):
        return Detected(media_type)
    detail = f"The name ends in .{extension_of(name)}, but the content is {media_type}; it was read as that."
    return Detected(media_type, (ParseWarning(code="type_mismatch", detail=detail),))


def _samples(path: Path) -> list[bytes]:
    """Return the first bytes of a file, and of a long one some from its middle and end."""
    with path.open("rb") as stream:
        samples = [stream.read(_SAMPLE_BYTES)]
        size = stream.seek(0, 2)
        if size > 4 * _SAMPLE_BYTES:
            for place in (size // 2, size - _SAMPLE_BYTES):
                stream.seek(place)
                samples.append(stream.read(_SAMPLE_BYTES))
    return samples


def _type_of_content(
    path: Path, samples: list[bytes], name: str, row: Format | None, limits: ParseLimits
) -> str:
    head = samples[0]
    kind = binary_type(head)
    if kind == ZIP:
        kind = type_of_zip(path, limits) or _type_of_archive(name, row)
    elif kind == OLE:
        kind = type_of_ole(path) or _refuse("an Office container without a document inside", name, row)
    if kind:
        return kind
    words = foreign_type(head)
    text = None if words else text_head(samples)
    if text is not None and not (row is None and is_noise(head)):
        return _type_of_text(text, name, row)
    if is_mail(head.decode("latin-1")):
        return EML  # with a binary attachment
    if row is not None and row.media_type in (PDF, "image/bmp") and not words:
        return row.media_type  # their readers find a beginning that was pushed back or damaged
    return _refuse(words or "binary data of an unknown kind", name, row, known=bool(words))


def _type_of_archive(name: str, row: Format | None) -> str:
    """Take an archive that is no document for one of files, unless its name promises something else."""
    if extension_of(name) in ("", "zip"):
        return ZIP
    return _refuse("an archive without a document inside", name, row)


def _refuse(words: str, name: str, row: Format | None, *, known: bool = True) -> str:
    if row is None:
        raise UnsupportedFile(f"The content is {words}, which is not read.")
    if known or row.is_text:
        raise TypeMismatch(f"The name ends in .{extension_of(name)}, but the content is {words}.")
    raise CorruptFile(
        f"The content has no mark of a .{extension_of(name)} file; it is damaged or was renamed."
    )


def _type_of_text(text: TextHead, name: str, row: Format | None) -> str:
    promised = row.media_type if row else None
    loose = promised not in (PLAIN, MARKDOWN, CSV, VTT) and not (row and row.is_text)
    marked = text_type(text.text, in_pieces=loose or promised in (HTML, XHTML))
    if marked:
        return marked
    if row and row.is_text:
        return row.media_type
    if row is None:
        if extension_of(name):
            raise UnsupportedFile(f"Files named .{extension_of(name)} are not read.")
        return PLAIN
    return _text_in_disguise(text, name, row)


def _text_in_disguise(text: TextHead, name: str, row: Format) -> str:
    """Return what plain text under the name of another type is read as."""
    if row.media_type == SVG and "<" in text.text:
        return SVG
    if row.media_type in _SHEETS and looks_delimited(text.text):
        return CSV
    if row.media_type in _WRITTEN_PAGES:
        return PLAIN
    raise TypeMismatch(f"The name ends in .{extension_of(name)}, but the content is plain text.")
