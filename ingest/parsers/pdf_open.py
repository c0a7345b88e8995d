"""Opening a PDF: passwords, damage, and page trees that lie."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.context import ParseContext
from ingest.errors import CorruptFile, EncryptedFile, FileTooLarge
from ingest.mupdf import MUPDF_ERRORS, PdfDocument, PdfPage, pymupdf

_MAX_OBJECTS = 2_000_000
# Pages that fail one after the other before the rest of the tree is given up.
_MAX_FAILURES = 100


def open_pdf(context: ParseContext) -> PdfDocument:
    """Open the file; an empty user password opens it.

    Raises:
        EncryptedFile: a password is needed.
        CorruptFile: there is no page in it, not even a lost one.
        FileTooLarge: more pages than ``limits.max_pages``.
    """
    try:
        document = pymupdf.open(context.path, filetype="pdf")
    except MUPDF_ERRORS as error:
        raise CorruptFile("The PDF is damaged beyond repair.") from error
    if document.needs_pass:
        raise EncryptedFile("The PDF is protected by a password.")
    if _page_count(document) == 0 or not _loads(document, 0):
        _rebuild_page_tree(context, document)
    pages = _page_count(document)
    if pages > context.limits.max_pages:
        raise FileTooLarge(
            f"The PDF has {pages} pages; the limit PARSE_MAX_PAGES is {context.limits.max_pages}."
        )
    return document


def _page_count(document: PdfDocument) -> int:
    try:
        return int(document.page_count)
    except MUPDF_ERRORS:  # "Invalid number of pages"
        return 0


def _loads(document: PdfDocument, index: int) -> bool:
    try:
        document.load_page(index)
    except MUPDF_ERRORS:
        return False
    return True


def _rebuild_page_tree(context: ParseContext, document: PdfDocument) -> None:
    """Hang every page object found in the file directly under the root.

    Raises:
        CorruptFile: there are none.
    """
    pages = list(_lost_pages(document))
    root = document.xref_get_key(document.pdf_catalog(), "Pages") if pages else ("null", "")
    if root[0] != "xref":
        raise CorruptFile("The PDF has no page that can be read.")
    number = int(root[1].split()[0])
    document.xref_set_key(number, "Kids", "[" + " ".join(f"{xref} 0 R" for xref in pages) + "]")
    document.xref_set_key(number, "Count", str(len(pages)))
    if not _page_count(document):
        raise CorruptFile("The PDF has no page that can be read.")
    context.warn("page_tree_rebuilt", f"The list of pages was damaged; {len(pages)} pages were found.")


def _lost_pages(document: PdfDocument) -> Iterator[int]:
    for xref in range(1, min(document.xref_length(), _MAX_OBJECTS)):
        try:
            if document.xref_get_key(xref, "Type") == ("name", "/Page"):
                yield xref
        except MUPDF_ERRORS:
            continue


def load_pages(context: ParseContext, document: PdfDocument) -> Iterator[tuple[int, PdfPage]]:
    """Yield (1-based number, page); a page that cannot be loaded is skipped with a warning."""
    failures = 0
    for number in range(1, _page_count(document) + 1):
        try:
            page = document.load_page(number - 1)
        except MUPDF_ERRORS as error:
            context.warn("page_unreadable", f"Page {number} cannot be read: {error}.")
            failures += 1
            if failures >= _MAX_FAILURES:
                context.warn("pages_given_up", f"Reading stopped at page {number}: too many damaged pages.")
                return
            continue
        failures = 0
        yield number, page
