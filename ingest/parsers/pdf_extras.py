"""What a PDF holds beside its pages' text: notes, form values, links, attached files."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import JsonValue

from ingest.anchors import PageAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import FileTooLarge
from ingest.model import ElementKind
from ingest.mupdf import MUPDF_ERRORS, PdfDocument, PdfPage, pymupdf
from ingest.parsers.page_lines import Box, fold, rounded
from ingest.parsers.pdf_metadata import parse_date

_MAX_PER_PAGE = 5_000
_SILENT_VALUES = ("", "Off")


def read_annotations(context: ParseContext, page: PdfPage, number: int) -> Iterator[Piece]:
    """Yield the notes of a page, with their author and date; files pinned to it become attachments."""
    for index, note in enumerate(_bounded(context, page.annots)):
        if note.type[0] == pymupdf.PDF_ANNOT_FILE_ATTACHMENT:
            _attach(
                context, note.get_file, note.file_info.get("filename", ""), f"page {number}, note {index + 1}"
            )
        info = note.info
        text = " ".join(info.get("content", "").split())
        if not text or note.type[0] == pymupdf.PDF_ANNOT_POPUP:
            continue
        metadata: dict[str, JsonValue] = {"type": note.type[1]}
        if info.get("title"):
            metadata["author"] = info["title"]
        if info.get("subject"):
            metadata["subject"] = info["subject"]
        date = parse_date(info.get("modDate") or info.get("creationDate"))
        if date:
            metadata["date"] = date.isoformat()
        anchor = PageAnchor(page=number, bbox=_shown(page, note.rect))
        yield Piece(ElementKind.ANNOTATION, text, anchor, metadata=metadata)


def read_form(context: ParseContext, page: PdfPage, number: int) -> Iterator[Piece]:
    """Yield the filled fields of a page's form as "name: value"."""
    seen: set[str] = set()
    for widget in _bounded(context, page.widgets):
        value = widget.field_value
        text = ", ".join(value) if isinstance(value, list | tuple) else str(value or "").strip()
        name = (widget.field_label or widget.field_name or "").strip()
        line = f"{name}: {text}" if name else text
        if text in _SILENT_VALUES or line in seen:  # the buttons of a radio group share one value
            continue
        seen.add(line)
        metadata: dict[str, JsonValue] = {"field": widget.field_name or "", "type": widget.field_type_string}
        yield Piece(
            ElementKind.FORM_FIELD,
            line,
            PageAnchor(page=number, bbox=_shown(page, widget.rect)),
            metadata=metadata,
        )


def read_links(page: PdfPage, number: int, visible: str) -> Iterator[Piece]:
    """Yield the web addresses behind links, each once, where the page's text does not show them already."""
    seen: set[str] = set()
    shown = fold(visible)
    for link in page.get_links()[:_MAX_PER_PAGE]:
        address = link.get("uri") or ""
        if link.get("kind") != pymupdf.LINK_URI or not address or address in seen:
            continue
        seen.add(address)
        if fold(address.removeprefix("mailto:")).rstrip("/") in shown:
            continue
        label = " ".join(page.get_textbox(link["from"]).split())
        text = f"{label} <{address}>" if label else address
        anchor = PageAnchor(page=number, bbox=_shown(page, link["from"]))
        yield Piece(ElementKind.FIELD, text, anchor, metadata={"link": address})


def attach_embedded(context: ParseContext, document: PdfDocument) -> None:
    """Hand over the files embedded in the document as a whole."""
    for index, name in enumerate(document.embfile_names()):
        info = document.embfile_info(name)
        label = info.get("ufilename") or info.get("filename") or name
        _attach(context, lambda name=name: document.embfile_get(name), label, f"attachment {index + 1}")  # type: ignore[misc]


def _attach(context: ParseContext, read: Callable[[], bytes], name: str, part: str) -> None:
    try:
        data = bytes(read())
    except MUPDF_ERRORS as error:
        context.warn("attachment_unreadable", f"The attached file {name!r} cannot be read: {error}.")
        return
    total = len(data) + sum(child.size_bytes for child in context.children)
    if total > context.limits.max_unpacked_bytes:
        raise FileTooLarge("The attached files are larger than PARSE_MAX_UNPACKED_BYTES allows.")
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    context.attach(name or part, media_type, data, part)


def _bounded(context: ParseContext, source: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yield at most ``_MAX_PER_PAGE`` things; a damaged one ends the list."""
    try:
        for index, thing in enumerate(source() or ()):
            if index >= _MAX_PER_PAGE:
                return
            yield thing
    except MUPDF_ERRORS as error:
        context.warn("notes_unreadable", f"Notes or form fields of a page cannot be read: {error}.")


def _shown(page: PdfPage, rect: Any) -> Box:  # noqa: ANN401  pymupdf.Rect
    x0, y0, x1, y1 = pymupdf.Rect(rect) * page.rotation_matrix
    return rounded((x0, y0, x1, y1))
