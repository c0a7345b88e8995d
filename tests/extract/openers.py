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
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import olefile
import pypdfium2
import webvtt
from bs4 import BeautifulSoup
from PIL import Image, ImageOps, ImageSequence

from ingest.anchors import (
    Anchor,
    CueAnchor,
    MailAnchor,
    PageAnchor,
    RowAnchor,
    SectionAnchor,
)
from tests.extract.office_openers import old_workbook, slides, word, workbook, xml_text

HAS_TESSERACT = shutil.which("tesseract") is not None
_MARGIN = 3.0  # points: boxes of two engines differ by the height they give a font
_DPI = 300


class NotOpened(Exception):
    """No second reader is at hand for what stands there."""


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
        for scale in (1, 2) if crop.width > 1000 else (2, 4):
            large = crop.resize((crop.width * scale, crop.height * scale), Image.Resampling.LANCZOS)
            buffer = io.BytesIO()
            large.rotate(turn).save(buffer, "PNG")
            command = ["tesseract", "stdin", "stdout", "--psm", "6", "-l", "eng+chi_sim"]
            done = subprocess.run(command, input=buffer.getvalue(), capture_output=True, check=False)
            found.append(done.stdout.decode("utf-8", "replace"))
        if any(map(str.isalnum, "".join(found))):
            break
    return "\n".join(found)


def binary(path: Path, anchor: Anchor) -> str:
    """Return all that the streams of an OLE file say when read as letters of one and of two bytes.

    No second reader of these formats is at hand: it proves that the file says so, not where.
    """
    if not olefile.isOleFile(path):  # some are XML or RTF by their content
        return _as_letters(path.read_bytes())
    with olefile.OleFileIO(path) as opened:
        data = b"".join(opened.openstream(name).read() for name in opened.listdir() if len(name) == 1)
    return _as_letters(data)


def _as_letters(data: bytes) -> str:
    wide = (data[start:].decode("utf-16-le", "ignore") for start in (0, 1))
    pages = ("utf-8", "cp1252", "cp1251", "cp1253", "cp1250", "gbk")
    narrow = (data.decode(page, "ignore") for page in pages)
    return "\n".join((*wide, *narrow))


def mail(path: Path, anchor: Anchor) -> str:
    """Return the text of a MIME part, or the headers."""
    assert isinstance(anchor, MailAnchor)
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    if anchor.part == "headers":
        return "\n".join(f"{name}: {value}" for name, value in message.items())
    part = message
    for number in anchor.part.split(".") if message.is_multipart() else ():
        if not part.is_multipart():
            raise NotOpened("a file inside winmail.dat")
        part = list(part.iter_parts())[int(number) - 1]
    if part.get_content_subtype() in ("ms-tnef", "vnd.ms-tnef"):
        raise NotOpened("winmail.dat")
    return f"Attachment: {part.get_filename() or ''}\n{_part_text(part, anchor)}"


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
    written = lines(path, anchor, encoding)
    text = re.sub(r"\]\([^)]*\)", "", written)
    soup = BeautifulSoup(text, "html.parser")
    said = [
        str(tag[name])
        for tag in soup.find_all(True)
        for name in ("alt", "value", "title", "href")
        if tag.get(name)
    ]
    shown = [soup.get_text(), *said]
    return "\n".join([*shown, written] if path.suffix == ".md" else shown)  # code shows its tags


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
        cue for cue in found if _seconds(cue.end) >= anchor.start_s and _seconds(cue.start) <= anchor.end_s
    )
    said = (re.sub(r"<[^>]*>", "", cue.raw_text) for cue in within)
    return "\n".join(text.removeprefix(f"{anchor.speaker}:") for text in said)


def _seconds(clock: str) -> float:
    hours, minutes, seconds = ("0:" + clock).split(":")[-3:]
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def drawing(path: Path, anchor: Anchor) -> str:
    """Return the text of an SVG file, whose places only a renderer could tell."""
    return xml_text(path.read_bytes())


WITH_ENCODING: dict[str, Callable[[Path, Anchor, str], str]] = {
    "txt": lines, "md": markup, "html": markup, "htm": markup, "csv": record, "tsv": record, "vtt": cues,
}  # fmt: skip
PLAIN: dict[str, Callable[[Path, Anchor], str]] = {
    "pdf": pdf, "xlsx": workbook, "xls": old_workbook, "pptx": slides, "docx": word, "doc": binary,
    "ppt": binary, "eml": mail, "svg": drawing,
    **dict.fromkeys(("png", "jpg", "jpeg", "webp", "tiff", "bmp"), picture),
}  # fmt: skip
WHOLE = frozenset(("doc", "ppt"))
"""Formats of which no second reader tells places: what is opened is the whole file."""
PIXELS = frozenset(name for name, opener in PLAIN.items() if opener is picture)
