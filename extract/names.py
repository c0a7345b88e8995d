"""What to call a document, a sheet, a row and a speaker."""

from __future__ import annotations

import re
from pathlib import PurePath

from extract.phrases import phrase
from extract.scripts import one_line, shorten
from ingest.anchors import CueAnchor, MessageAnchor, RowAnchor, SheetAnchor
from ingest.model import Document, Element, ElementKind

_WIDTH = 110
_PROGRAM = re.compile(r"^(?:Microsoft (?:Office )?(?:Word|Excel|PowerPoint)\s*[-–]\s*)", re.IGNORECASE)
_MEANINGLESS = re.compile(
    r"^(?:untitled.*|document ?\d*|presentation ?\d*|powerpoint[- ]presentation|slide ?\d+|sheet ?\d+"
    r"|book ?\d+|workbook ?\d*|no title|title|new document|scan(?:ned)?[ _-]?\d*|\W*"
    r"|.*\.(?:docx?|dot|xlsx?|pptx?|pdf|indd|tex|dvi))$",
    re.IGNORECASE,
)
_MEANINGLESS_SHEET = re.compile(
    r"(?:sheet|tabelle|feuil|feuille|hoja|planilha|foglio|blad|лист|工作表|シート|chart)? ?\d*$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")


def document_title(document: Document) -> str:
    """Return what to call a document: its own title unless that says nothing, else the file's name."""
    return own_title(document) or _file_title(document.source.name)


def own_title(document: Document) -> str | None:
    """Return the title a document gives itself, or None when it has none that says something."""
    title = _PROGRAM.sub("", one_line(document.metadata.title or ""))
    return shorten(title, _WIDTH) if title and not _MEANINGLESS.match(title) else None


def _file_title(name: str) -> str:
    stem = PurePath(name).stem or name
    return shorten(stem.replace("_", " "), _WIDTH)


def display_name(person: str) -> str:
    """Return the name in "Alice Smith <alice@example.com>", or the address when there is none."""
    name, _, address = person.replace("[mailto:", "<").partition("<")
    return name.strip().strip("\"'") or address.strip(" >]") or person


def sheet_label(title: str, sheet: str, language: str) -> str:
    """Return what to call a sheet; "Sheet1" says nothing without its workbook."""
    label = phrase(language, "sheet", sheet)
    return f"{title}, {label}" if _MEANINGLESS_SHEET.match(sheet.strip()) else label


def row_number(element: Element) -> int | None:
    """Return the row an element of a delimited table or a sheet stands in, counted from 1."""
    if isinstance(element.anchor, RowAnchor):
        return element.anchor.row
    if isinstance(element.anchor, SheetAnchor) and element.kind is ElementKind.TABLE_ROW:
        found = _DIGITS.search(element.anchor.cells)
        return int(found.group()) if found else None
    return None


def speaker_of(element: Element) -> str | None:
    """Return who speaks an element of a transcript or conversation."""
    if isinstance(element.anchor, CueAnchor):
        return element.anchor.speaker
    return element.anchor.sender if isinstance(element.anchor, MessageAnchor) else None
