"""The table of everything Strata reads: one row a type, and what follows from a row.

A parser is named, not imported: its module and the library behind it are loaded when the first file of its
type comes in, so a worker that only meets CSV never loads a PDF library.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from ingest.context import Parser
from ingest.errors import UnsupportedFile


class Format(NamedTuple):
    """A type of file.

    Attributes:
        media_type: its name on the wire.
        extensions: lower case, without the dot; the first is the usual one.
        parser: "module:function" below ``ingest.parsers``.
        is_text: the file is characters, so its encoding has to be found.
    """

    media_type: str
    extensions: tuple[str, ...]
    parser: str
    is_text: bool = False


_OOXML = "application/vnd.openxmlformats-officedocument."
PDF = "application/pdf"
SVG = "image/svg+xml"
DOCX = _OOXML + "wordprocessingml.document"
DOCM = "application/vnd.ms-word.document.macroenabled.12"
XLSX = _OOXML + "spreadsheetml.sheet"
XLSM = "application/vnd.ms-excel.sheet.macroenabled.12"
PPTX = _OOXML + "presentationml.presentation"
PPTM = "application/vnd.ms-powerpoint.presentation.macroenabled.12"
DOC = "application/msword"
XLS = "application/vnd.ms-excel"
PPT = "application/vnd.ms-powerpoint"
EML = "message/rfc822"
HTML = "text/html"
XHTML = "application/xhtml+xml"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"
VTT = "text/vtt"
CSV = "text/csv"
TSV = "text/tab-separated-values"
ODT = "application/vnd.oasis.opendocument.text"
RTF = "application/rtf"
EPUB = "application/epub+zip"
MSG = "application/vnd.ms-outlook"
RST = "text/x-rst"
ORG = "text/org"
XML = "application/xml"
ZIP = "application/zip"

FORMATS: tuple[Format, ...] = (
    Format(PDF, ("pdf",), "pdf:parse"),
    Format("image/png", ("png",), "image:parse"),
    Format("image/jpeg", ("jpg", "jpeg", "jpe", "jfif"), "image:parse"),
    Format("image/webp", ("webp",), "image:parse"),
    Format("image/tiff", ("tiff", "tif"), "image:parse"),
    Format("image/bmp", ("bmp", "dib"), "image:parse"),
    Format(SVG, ("svg",), "svg:parse"),
    Format(DOCX, ("docx", "dotx"), "word:parse"),
    Format(DOCM, ("docm", "dotm"), "word:parse"),
    Format(DOC, ("doc", "dot"), "legacy_word:parse"),
    Format(XLSX, ("xlsx", "xltx"), "sheet:parse"),
    Format(XLSM, ("xlsm", "xltm"), "sheet:parse"),
    Format(XLS, ("xls", "xlt"), "legacy_sheet:parse"),
    Format(PPTX, ("pptx", "ppsx", "potx"), "slides:parse"),
    Format(PPTM, ("pptm", "ppsm", "potm"), "slides:parse"),
    Format(PPT, ("ppt", "pps", "pot"), "legacy_slides:parse"),
    Format(EML, ("eml",), "mail:parse", is_text=True),
    Format(HTML, ("html", "htm"), "html:parse", is_text=True),
    Format(XHTML, ("xhtml", "xht"), "html:parse", is_text=True),
    Format(PLAIN, ("txt", "text", "log"), "plain:parse", is_text=True),
    Format(MARKDOWN, ("md", "markdown", "mdown", "mkd"), "markdown:parse", is_text=True),
    Format(VTT, ("vtt",), "subtitles:parse", is_text=True),
    Format(CSV, ("csv",), "table:parse", is_text=True),
    Format(TSV, ("tsv", "tab"), "table:parse", is_text=True),
    Format(ODT, ("odt", "ott"), "opendocument:parse"),
    Format(RTF, ("rtf",), "rich_text_file:parse", is_text=True),
    Format(EPUB, ("epub",), "book:parse"),
    Format(MSG, ("msg",), "outlook:parse"),
    Format(RST, ("rst", "rest"), "restructured:parse", is_text=True),
    Format(ORG, ("org",), "org:parse", is_text=True),
    Format(XML, ("xml",), "general:parse", is_text=True),
    Format(ZIP, ("zip",), "archive:parse"),
)

_BY_MEDIA_TYPE = {row.media_type: row for row in FORMATS}
_BY_EXTENSION = {extension: row for row in FORMATS for extension in row.extensions}


def extension_of(name: str) -> str:
    """Return the extension of a file name in lower case without the dot, "" where there is none."""
    stem, dot, extension = name.strip().rpartition(".")
    return extension.lower() if dot and stem else ""


def by_media_type(media_type: str) -> Format | None:
    """Return the row of a media type; parameters and case do not matter."""
    return _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())


def by_name(name: str) -> Format | None:
    """Return the row a file name points to."""
    return _BY_EXTENSION.get(extension_of(name))


def load_parser(row: Format) -> Parser:
    """Import the parser of a row.

    Raises:
        UnsupportedFile: the module, or a library it needs, is not installed; names what is missing.
    """
    module, _, function = row.parser.partition(":")
    try:
        parser: Parser = getattr(import_module(f"ingest.parsers.{module}"), function)
    except ImportError as error:
        kind = row.extensions[0]
        missing = f"the Python module {error.name}" if error.name else f"what it needs ({error})"
        raise UnsupportedFile(
            f"Files of type .{kind} cannot be read here: {missing} is not installed.",
            next_step=f"Install it as docs/formats.md says for .{kind}, or convert the file to another type.",
        ) from error
    return parser
