"""Open an anchor in an Office file by openpyxl, xlrd, python-pptx, or lxml over the parts of a Word file."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import pptx
import xlrd
from lxml import etree
from openpyxl.utils import range_boundaries

from ingest.anchors import Anchor, SectionAnchor, SheetAnchor, SlideAnchor

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def workbook(path: Path, anchor: Anchor) -> str:
    """Return the values of the cells, each in every form a reader may be shown."""
    assert isinstance(anchor, SheetAnchor)
    with warnings.catch_warnings(action="ignore"):  # of what openpyxl does not keep
        sheet = openpyxl.load_workbook(path, data_only=True)[anchor.sheet]
    cells = (
        [cell for row in sheet[anchor.cells] for cell in row]
        if ":" in anchor.cells
        else [sheet[anchor.cells]]
    )
    comments = [cell.comment.text for cell in cells if cell.comment]
    padded = [_padded(cell.value, cell.number_format) for cell in cells if isinstance(cell.value, int)]
    forms = [form for cell in cells for form in _forms(cell.value)]
    return "\n".join([anchor.sheet, *forms, *padded, *comments])


def _padded(value: int, code: str) -> str:
    """Return a whole number in a format with letters of its own, such as "1."00."""
    return re.sub(r"[0#]+", lambda match: f"{value:0{len(match.group())}d}", re.sub(r'["\\]', "", code))


def old_workbook(path: Path, anchor: Anchor) -> str:
    """Return the values of the cells of an .xls file."""
    assert isinstance(anchor, SheetAnchor)
    book = xlrd.open_workbook(str(path))
    sheet = book.sheet_by_name(anchor.sheet)
    left, top, right, bottom = range_boundaries(anchor.cells)
    forms = [
        sheet.name,
        *(note.text for place, note in sheet.cell_note_map.items() if _within(place, anchor.cells)),
    ]
    for row in range(top - 1, min(bottom, sheet.nrows)):
        for column in range(left - 1, min(right, sheet.row_len(row))):
            cell = sheet.cell(row, column)
            if cell.ctype == xlrd.XL_CELL_DATE:
                forms += _forms(xlrd.xldate_as_datetime(cell.value, book.datemode))
            elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
                forms += _forms(bool(cell.value))
            elif cell.ctype == xlrd.XL_CELL_ERROR:
                forms.append(xlrd.error_text_from_code[cell.value])
            else:
                forms += _forms(cell.value)
    return "\n".join(forms)


def _within(place: tuple[int, int], cells: str) -> bool:
    left, top, right, bottom = range_boundaries(cells)
    return top <= place[0] + 1 <= bottom and left <= place[1] + 1 <= right


def _forms(value: object) -> Iterator[str]:
    """Yield the forms in which a value may be shown."""
    yield str(value)
    if isinstance(value, bool):
        yield str(value).upper()
    elif isinstance(value, int | float):
        for places in range(7):
            yield f"{value:,.{places}f}"
            yield f"{abs(value):.{places}f}"
            yield f"{100 * value:,.{places}f}%"
        yield f"{value:.15g}"
    elif isinstance(value, datetime | date | time):
        yield value.isoformat()
        for pattern in ("%d/%m/%Y", "%m/%d/%Y", "%d-%b-%y", "%b-%y", "%H:%M", "%H:%M:%S", "%m-%d-%y"):
            yield value.strftime(pattern)
        if isinstance(value, datetime):
            yield f"{value.month}/{value.day}/{value.year} {value.month}/{value.day}/{value.year % 100}"


def slides(path: Path, anchor: Anchor) -> str:
    """Return all text of a slide and of what hangs on it: notes, comments, charts, diagrams, its layout."""
    assert isinstance(anchor, SlideAnchor)
    part = pptx.Presentation(str(path)).slides[anchor.slide - 1].part
    parts = {part.partname: part}
    for relation in part.rels.values():
        if not relation.is_external:
            parts[relation.target_part.partname] = relation.target_part
    return "\n".join(xml_text(one.blob) for name, one in parts.items() if str(name).endswith(".xml"))


def xml_text(data: bytes) -> str:
    """Return the text nodes of XML in order, paragraph by paragraph, and alternative texts."""
    root = etree.fromstring(data)
    described = [str(value) for value in root.xpath("//@descr")]
    return "".join(str(text) for text in root.itertext()) + "\n" + "\n".join(described)


def word(path: Path, anchor: Anchor) -> str:
    """Return the text of the paragraph or table that is counted, or of the part that is named."""
    assert isinstance(anchor, SectionAnchor)
    with zipfile.ZipFile(path) as package:
        if anchor.part and not anchor.part.startswith("text box"):
            kind = anchor.part.split()[0]
            names = [name for name in package.namelist() if re.match(rf"word/{kind}s?\d*\.xml", name)]
            return "\n".join(_word_text(etree.fromstring(package.read(name))) for name in names)
        body = etree.fromstring(package.read("word/document.xml")).find(f"{_W}body")
        related = [
            package.read(n) for n in package.namelist() if re.match(r"word/(charts|diagrams)/.*\.xml", n)
        ]
    blocks = list(_word_blocks(body))
    assert anchor.paragraph is not None
    node = blocks[anchor.paragraph - 1]
    hanging = map(xml_text, related) if node.xpath(".//*[local-name()='graphicData']") else ()
    return "\n".join([_word_text(node), *map(str, node.xpath(".//@descr | .//@title")), *hanging])


def _word_blocks(node: etree._Element) -> Iterator[etree._Element]:
    for child in node:
        if child.tag in (f"{_W}p", f"{_W}tbl", f"{_W}altChunk"):
            yield child
        elif isinstance(child.tag, str) and not child.tag.endswith("Fallback"):
            yield from _word_blocks(child)


def _word_text(node: etree._Element) -> str:
    tags = (f"{_W}t", f"{_M}t", f"{_W}tab", f"{_W}br", f"{_W}p")
    return "".join((part.text or "") if part.tag.endswith("}t") else " " for part in node.iter(*tags))
