"""Open an anchor in its source without our parsers: what does another reader find at that place?

One function for each type of file, from the bytes and an anchor to the text there. They share no code with
``ingest/parsers`` and use other libraries: PDFium, Beautiful Soup, openpyxl, xlrd, webvtt-py, python-pptx,
plain lxml over the parts of a Word file, the standard library's ``email`` and ``csv``, tesseract for pixels.
"""

from __future__ import annotations

import csv
import email
import email.policy
import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from email.message import EmailMessage
from pathlib import Path

import olefile
import openpyxl
import pptx
import pypdfium2
import webvtt
import xlrd
from bs4 import BeautifulSoup
from lxml import etree
from openpyxl.utils import range_boundaries
from PIL import Image, ImageOps, ImageSequence

from ingest.anchors import (
    Anchor,
    CueAnchor,
    MailAnchor,
    PageAnchor,
    RowAnchor,
    SectionAnchor,
    SheetAnchor,
    SlideAnchor,
)

HAS_TESSERACT = shutil.which("tesseract") is not None
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MARGIN = 3.0  # points: boxes of two engines differ by the height they give a font
_DPI = 300


def pdf(path: Path, anchor: Anchor) -> str:
    """Return the text PDFium finds in a box of a page as shown; where it finds none, what tesseract reads."""
    assert isinstance(anchor, PageAnchor)
    document = pypdfium2.PdfDocument(path)
    page = document[anchor.page - 1]
    if anchor.bbox is None:
        return str(page.get_textpage().get_text_bounded())
    x0, y0, x1, y1 = anchor.bbox
    corners = [_stored(page, x, y) for x, y in ((x0 - _MARGIN, y0 - _MARGIN), (x1 + _MARGIN, y1 + _MARGIN))]
    (left, right), (bottom, top) = (sorted(values) for values in zip(*corners, strict=True))
    text = str(page.get_textpage().get_text_bounded(left, bottom, right, top))
    if any(map(str.isalnum, text)) or not HAS_TESSERACT:
        return text
    shown = page.render(scale=_DPI / 72).to_pil().convert("RGB")
    return _by_tesseract(shown, tuple(value * _DPI / 72 for value in anchor.bbox))


def _stored(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
    """Map a point of the page as shown, from the top left, to the page as stored, from the bottom left."""
    width, height = page.get_size()
    left, bottom, *_ = page.get_cropbox()
    turn = page.get_rotation()
    wide, high = (width, height) if turn in (0, 180) else (height, width)
    across, up = {0: (x, high - y), 90: (y, x), 180: (wide - x, y), 270: (wide - y, high - x)}[turn]
    return left + across, bottom + up


def picture(path: Path, anchor: Anchor) -> str:
    """Return what tesseract reads in a box of a frame."""
    assert isinstance(anchor, PageAnchor)
    with Image.open(path) as opened:
        frame = next(image for n, image in enumerate(ImageSequence.Iterator(opened), 1) if n == anchor.page)
        shown = ImageOps.exif_transpose(frame.convert("RGB") if frame.mode != "P" else frame.convert("RGBA"))
    flat = Image.new("RGB", shown.size, "white")
    flat.paste(shown, mask=shown if shown.mode == "RGBA" else None)
    return _by_tesseract(flat, anchor.bbox or (0.0, 0.0, float(flat.width), float(flat.height)))


def _by_tesseract(shown: Image.Image, box: tuple[float, ...]) -> str:
    """Read a box of a picture, with a margin, at two sizes: any reading counts."""
    x0, y0, x1, y1 = box
    margin = 8 + 0.1 * (y1 - y0)
    crop = shown.crop((int(x0 - margin), int(y0 - margin), int(x1 + margin), int(y1 + margin)))
    found: list[str] = []
    for turn in (0, 180):
        for scale in (1, 2):
            large = crop.resize((crop.width * scale, crop.height * scale), Image.Resampling.LANCZOS)
            buffer = io.BytesIO()
            large.rotate(turn).save(buffer, "PNG")
            command = ["tesseract", "stdin", "stdout", "--psm", "6", "-l", "eng+chi_sim"]
            done = subprocess.run(command, input=buffer.getvalue(), capture_output=True, check=False)
            found.append(done.stdout.decode("utf-8", "replace"))
        if any(map(str.isalnum, "".join(found))):
            break
    return "\n".join(found)


def workbook(path: Path, anchor: Anchor) -> str:
    """Return the values of the cells, each in every form a reader may be shown."""
    assert isinstance(anchor, SheetAnchor)
    sheet = openpyxl.load_workbook(path, data_only=True)[anchor.sheet]
    cells = (
        [cell for row in sheet[anchor.cells] for cell in row]
        if ":" in anchor.cells
        else [sheet[anchor.cells]]
    )
    comments = [cell.comment.text for cell in cells if cell.comment]
    return "\n".join([*(form for cell in cells for form in _forms(cell.value)), *comments])


def old_workbook(path: Path, anchor: Anchor) -> str:
    """Return the values of the cells of an .xls file."""
    assert isinstance(anchor, SheetAnchor)
    book = xlrd.open_workbook(str(path))
    sheet = book.sheet_by_name(anchor.sheet)
    left, top, right, bottom = range_boundaries(anchor.cells)
    forms: list[str] = []
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
    return "\n".join(_xml_text(one.blob) for name, one in parts.items() if str(name).endswith(".xml"))


def _xml_text(data: bytes) -> str:
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
    hanging = map(_xml_text, related) if node.xpath(".//*[local-name()='graphicData']") else ()
    return "\n".join([_word_text(node), *map(str, node.xpath(".//@descr | .//@title")), *hanging])


def _word_blocks(node: etree._Element) -> Iterator[etree._Element]:
    for child in node:
        if child.tag in (f"{_W}p", f"{_W}tbl", f"{_W}altChunk"):
            yield child
        elif isinstance(child.tag, str) and not child.tag.endswith("Fallback"):
            yield from _word_blocks(child)


def _word_text(node: etree._Element) -> str:
    tags = (f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}p")
    return "".join((part.text or "") if part.tag == f"{_W}t" else " " for part in node.iter(*tags))


def binary(path: Path, anchor: Anchor) -> str:
    """Return all that the streams of an OLE file say when read as letters of one and of two bytes.

    No second reader of these formats is at hand: it proves that the file says so, not where.
    """
    with olefile.OleFileIO(path) as opened:
        data = b"".join(opened.openstream(name).read() for name in opened.listdir() if len(name) == 1)
    return "\n".join(
        [
            data.decode("utf-16-le", "ignore"),
            data[1:].decode("utf-16-le", "ignore"),
            data.decode("cp1252", "ignore"),
        ]
    )


def mail(path: Path, anchor: Anchor) -> str:
    """Return the text of a MIME part, or the headers."""
    assert isinstance(anchor, MailAnchor)
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    if anchor.part == "headers":
        return "\n".join(f"{name}: {value}" for name, value in message.items())
    part = message
    for number in anchor.part.split(".") if message.is_multipart() else ():
        part = list(part.iter_parts())[int(number) - 1]
    return f"{part.get_filename() or ''}\n{_part_text(part, anchor)}"


def _part_text(part: EmailMessage, anchor: MailAnchor) -> str:
    if part.is_multipart() or part.get_content_maintype() != "text":
        return ""
    content = str(part.get_content())
    if part.get_content_subtype() == "html":
        return BeautifulSoup(content, "html.parser").get_text()
    if anchor.line_start is None or part.get_content_subtype() == "calendar":
        return re.sub(r"\r?\n[ \t]", "", content)
    return "\n".join(content.splitlines()[anchor.line_start - 1 : anchor.line_end])


def lines(path: Path, anchor: Anchor, encoding: str) -> str:
    """Return some lines of a text file."""
    assert isinstance(anchor, SectionAnchor)
    assert anchor.line_start is not None
    found = re.split(r"\r\n|\r|\n", path.read_bytes().decode(encoding))
    return "\n".join(found[anchor.line_start - 1 : anchor.line_end])


def markup(path: Path, anchor: Anchor, encoding: str) -> str:
    """Return some lines of a web page or of Markdown without their tags and link targets."""
    text = re.sub(r"\]\([^)]*\)", "", lines(path, anchor, encoding))
    soup = BeautifulSoup(text, "html.parser")
    said = [
        str(tag[name])
        for tag in soup.find_all(True)
        for name in ("alt", "value", "title", "href")
        if tag.get(name)
    ]
    return "\n".join([soup.get_text(), *said])


def record(path: Path, anchor: Anchor, encoding: str) -> str:
    """Return a record of a delimited table, with the header that names its columns."""
    assert isinstance(anchor, RowAnchor)
    text = path.read_bytes().decode(encoding)
    mark = "\t" if path.suffix == ".tsv" else max(",;|\t", key=text[:5_000].count)
    records = [
        row for row in csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True) if any(row)
    ]
    return "\n".join(records[anchor.row - 1])


def cues(path: Path, anchor: Anchor, encoding: str) -> str:
    """Return what is said between two times."""
    assert isinstance(anchor, CueAnchor)
    found = webvtt.from_buffer(io.StringIO(path.read_bytes().decode(encoding)))
    within = (
        cue for cue in found if _seconds(cue.end) > anchor.start_s and _seconds(cue.start) < anchor.end_s
    )
    return "\n".join(re.sub(r"<[^>]*>", "", cue.raw_text) for cue in within)


def _seconds(clock: str) -> float:
    hours, minutes, seconds = ("0:" + clock).split(":")[-3:]
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def drawing(path: Path, anchor: Anchor) -> str:
    """Return the text of an SVG file, whose places only a renderer could tell."""
    return _xml_text(path.read_bytes())


WITH_ENCODING: dict[str, Callable[[Path, Anchor, str], str]] = {
    "txt": lines, "md": markup, "html": markup, "htm": markup, "csv": record, "tsv": record, "vtt": cues,
}  # fmt: skip
PLAIN: dict[str, Callable[[Path, Anchor], str]] = {
    "pdf": pdf, "xlsx": workbook, "xls": old_workbook, "pptx": slides, "docx": word, "doc": binary,
    "ppt": binary, "eml": mail, "svg": drawing,
    **dict.fromkeys(("png", "jpg", "jpeg", "webp", "tiff", "bmp"), picture),
}  # fmt: skip
