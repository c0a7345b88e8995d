"""What kind of office file an archive (ZIP) or a compound file (OLE) is, told by its parts."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

from ingest.errors import CorruptFile, EncryptedFile, UnsupportedFile
from ingest.formats import DOC, DOCM, DOCX, EPUB, MSG, ODT, PPT, PPTM, PPTX, XLS, XLSM, XLSX
from ingest.limits import ParseLimits
from ingest.zipguard import check_markup, checked_zip, read_member

# The content type of the main part of an Open Packaging package, and the type it makes the file.
_MAIN_PARTS = (
    (b"wordprocessingml.document.main", DOCX), (b"wordprocessingml.template.main", DOCX),
    (b"vnd.ms-word.document.macroenabled.main", DOCM),
    (b"vnd.ms-word.template.macroenabledtemplate.main", DOCM),
    (b"spreadsheetml.sheet.main", XLSX), (b"spreadsheetml.template.main", XLSX),
    (b"vnd.ms-excel.sheet.macroenabled.main", XLSM), (b"vnd.ms-excel.template.macroenabled.main", XLSM),
    (b"presentationml.presentation.main", PPTX), (b"presentationml.slideshow.main", PPTX),
    (b"presentationml.template.main", PPTX), (b"vnd.ms-powerpoint.presentation.macroenabled.main", PPTM),
    (b"vnd.ms-powerpoint.slideshow.macroenabled.main", PPTM),
    (b"vnd.ms-powerpoint.template.macroenabled.main", PPTM),
)  # fmt: skip
_MAIN_NAMES = {"word/document.xml": DOCX, "xl/workbook.xml": XLSX, "ppt/presentation.xml": PPTX}
_KNOWN_BUT_NOT_READ = {
    "application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument spreadsheet (.ods)",
    "application/vnd.oasis.opendocument.presentation": "an OpenDocument presentation (.odp)",
    "application/vnd.oasis.opendocument.graphics": "an OpenDocument drawing (.odg)",
}
_OLE_STREAMS = (("worddocument", DOC), ("powerpoint document", PPT), ("workbook", XLS), ("book", XLS))


def type_of_zip(path: Path, limits: ParseLimits) -> str | None:
    """Return the media type of the office file in an archive, None when it is any other archive.

    Raises:
        IngestError: the archive is damaged, locked, too large or harmful (see ``ingest.zipguard``), or an
            office file of a type that is not read.
    """
    with checked_zip(path, limits) as package:
        names = {name.lower().replace("\\", "/"): name for name in package.namelist()}
        if "mimetype" in names:
            return _by_mimetype(package, names["mimetype"])
        found = _by_content_types(package, names) or next(
            (kind for name, kind in _MAIN_NAMES.items() if name in names), None
        )
        if found:
            check_markup(package)
        elif "xl/workbook.bin" in names:
            raise UnsupportedFile("The file is a binary Excel workbook (.xlsb).")
        return found


def _by_mimetype(package: ZipFile, member: str) -> str | None:
    declared = read_member(package, member, 256).decode("latin-1").strip().lower()
    if declared in _KNOWN_BUT_NOT_READ:
        raise UnsupportedFile(f"The file is {_KNOWN_BUT_NOT_READ[declared]}.")
    if declared.removesuffix("-template") not in (ODT, EPUB):
        return None
    if any(name.startswith("META-INF/manifest") for name in package.namelist()):
        manifest = read_member(package, "META-INF/manifest.xml", 2**20)
        if b"encryption-data" in manifest:
            raise EncryptedFile
    check_markup(package, doctype_allowed=True)
    return declared.removesuffix("-template")


def _by_content_types(package: ZipFile, names: dict[str, str]) -> str | None:
    if "[content_types].xml" not in names:
        return None
    listing = read_member(package, names["[content_types].xml"], 2**20).lower()
    if listing.startswith((b"\xff\xfe", b"\xfe\xff")):
        listing = listing.decode("utf-16", "replace").encode()
    return next((kind for mark, kind in _MAIN_PARTS if mark in listing), None)


def type_of_ole(path: Path) -> str | None:
    """Return the media type of a compound file by its streams, None when they belong to no type we read.

    Raises:
        EncryptedFile: it wraps an encrypted Open XML package.
        CorruptFile: its directory cannot be read and names no known stream.
    """
    import olefile  # loaded for the few files that need it

    try:
        with olefile.OleFileIO(path) as compound:
            entries = {entry[0].lower() for entry in compound.listdir(streams=True, storages=True)}
    except Exception as error:  # olefile lets out whatever a broken table leads to
        entries = _names_in_bytes(path)
        if not entries:
            raise CorruptFile("The file is a damaged Office document.") from error
    if entries & {"encryptedpackage", "encryptioninfo"}:
        raise EncryptedFile
    if "__properties_version1.0" in entries:
        return MSG
    return next((kind for stream, kind in _OLE_STREAMS if stream in entries), None)


def _names_in_bytes(path: Path) -> set[str]:
    """Find names of known streams in a compound file whose directory is broken."""
    known = [stream for stream, _ in _OLE_STREAMS[:3]] + ["encryptedpackage"]
    data = path.read_bytes()
    return {
        name
        for name in known
        if re.search(re.escape(name.encode("utf-16-le")) + b"\0\0", data, flags=re.IGNORECASE)
    }
