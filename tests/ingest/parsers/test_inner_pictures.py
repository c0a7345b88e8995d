from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw

from ingest import ocr_picture
from ingest.anchors import SectionAnchor, SheetAnchor, SlideAnchor
from ingest.context import ParseContext, Piece
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.ocr import OcrLine
from ingest.ocr_picture import PictureText
from ingest.parsers import html, opendocument, sheet, slides, word
from ingest.parsers.html_pictures import carried_bytes
from ingest.parsers.inner_pictures import InnerPictures

PLACE = SectionAnchor(paragraph=1)
ODT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink">'
    "<office:body><office:text><text:p>Before.</text:p><text:p><draw:frame>"
    '<draw:image xlink:href="Pictures/a.png"/><draw:image xlink:href="https://example.org/b.png"/>'
    "</draw:frame></text:p></office:text></office:body></office:document-content>"
)


def picture(text: str = "Moss 1,250", size: tuple[int, int] = (320, 90), kind: str = "PNG") -> bytes:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((20, 20), text, fill="black", font_size=32)
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Replace the reading; what is kept are the sizes of the pictures shown."""
    seen: list[tuple[int, int]] = []

    def read(image: Image.Image) -> PictureText:
        seen.append(image.size)
        box = ((0.0, 0.0), (99.0, 0.0), (99.0, 20.0), (0.0, 20.0))
        return PictureText([OcrLine(f"picture {len(seen)}", 0.99, box)], 0, 0.0, 0)

    monkeypatch.setattr(ocr_picture, "read_picture", read)
    return seen


def context_for(path: Path, limits: ParseLimits | None = None) -> ParseContext:
    return ParseContext(path, path.name, "", limits or ParseLimits(), path.parent)


def word_file(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Before.")
    document.add_picture(io.BytesIO(picture()))
    document.save(str(path))


def slide_file(path: Path) -> None:
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[6])
    show.slides.add_slide(show.slide_layouts[6]).shapes.add_picture(io.BytesIO(picture()), 0, 0)
    show.save(str(path))


def sheet_file(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Plan"
    book.active.append(["Before"])
    book.active.add_image(SheetImage(io.BytesIO(picture())), "C4")
    book.save(path)


def odt_file(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("content.xml", ODT)
        package.writestr("Pictures/a.png", picture())


def html_file(path: Path) -> None:
    carried = base64.b64encode(picture()).decode()
    path.write_text(
        f'<p>Before.</p>\n<img src="https://example.org/a.png">\n<img src="data:image/png;base64,{carried}">'
    )


@pytest.mark.parametrize(
    ("write", "parse", "anchor"),
    [
        (word_file, word.parse, SectionAnchor(paragraph=2)),
        (slide_file, slides.parse, SlideAnchor(slide=2, part="figure")),
        (sheet_file, sheet.parse, SheetAnchor(sheet="Plan", cells="C4")),
        (odt_file, opendocument.parse, SectionAnchor(paragraph=2, part="picture")),
        (html_file, html.parse, SectionAnchor(line_start=3, line_end=3)),
    ],
    ids=["docx", "pptx", "xlsx", "odt", "html"],
)
def test_pictures_are_read_where_they_stand(
    tmp_path: Path,
    shown: list[tuple[int, int]],
    write: Callable[[Path], None],
    parse: Callable[[ParseContext], list[Piece]],
    anchor: object,
) -> None:
    path = tmp_path / "file"
    write(path)
    found = [piece for piece in parse(context_for(path)) if piece.kind is ElementKind.IMAGE_TEXT]
    assert [(piece.text, piece.anchor) for piece in found] == [("picture 1", anchor)]
    assert shown == [(320, 90)]


def test_letters_in_a_picture_of_a_document_come_out(tmp_path: Path) -> None:
    word_file(tmp_path / "a.docx")
    texts = [piece.text for piece in word.parse(context_for(tmp_path / "a.docx"))]
    assert any("Moss" in text and "1,250" in text for text in texts)


def test_what_holds_no_line_of_text_is_not_shown_to_the_engine(
    tmp_path: Path, shown: list[tuple[int, int]]
) -> None:
    context = context_for(tmp_path / "a")
    pictures = InnerPictures(context)
    for data in (picture(size=(40, 40)), picture(size=(900, 4)), picture(""), b"\x01\0\0\0 EMF", b"<svg/>"):
        assert list(pictures.read(data, PLACE)) == []
    assert shown == []
    assert context.warnings == []


def test_a_picture_is_read_once_however_often_it_is_shown(
    tmp_path: Path, shown: list[tuple[int, int]]
) -> None:
    pictures = InnerPictures(context_for(tmp_path / "a"))
    assert [len(list(pictures.read(picture(), PLACE))) for _ in range(3)] == [1, 0, 0]
    assert len(shown) == 1


@pytest.mark.parametrize("limits", [{"max_pictures": 1}, {"max_pixels": 30_000}])
def test_what_is_left_unread_is_told(
    tmp_path: Path, shown: list[tuple[int, int]], limits: dict[str, int]
) -> None:
    context = context_for(tmp_path / "a", ParseLimits(**limits))
    pictures = InnerPictures(context)
    for size in ((320, 90), (340, 100)):
        list(pictures.read(picture(size=size), PLACE))
    pictures.report()
    assert shown == [(320, 90)]
    assert [warning.code for warning in context.warnings] == ["pictures_unread"]


@pytest.mark.parametrize("limit", ["pictures_s", "ocr_s"])
def test_time_for_pictures_is_bounded(tmp_path: Path, shown: list[tuple[int, int]], limit: str) -> None:
    context = context_for(tmp_path / "a", ParseLimits(**{limit: 0}))
    pictures = InnerPictures(context)
    assert list(pictures.read(picture(), PLACE)) == []
    pictures.report()
    assert "1 pictures" in context.warnings[0].detail
    assert shown == []


def test_a_damaged_picture_is_told_and_harms_nothing(tmp_path: Path, shown: list[tuple[int, int]]) -> None:
    context = context_for(tmp_path / "a")
    pictures = InnerPictures(context)
    assert list(pictures.read(picture()[:200], PLACE)) == []
    assert [warning.code for warning in context.warnings] == ["picture_unreadable"]
    assert len(list(pictures.read(picture(), PLACE))) == 1


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("data:image/png;base64,aGk=", b"hi"),
        ("data:image/png;base64,aGk", b"hi"),
        ("data:image/gif,a%20b", b"a b"),
        ("data:text/html,x", b""),
        ("https://example.org/,x", b""),
        ("data:image/png;base64,%%%", b""),
    ],
)
def test_what_an_address_carries(address: str, data: bytes) -> None:
    assert carried_bytes(address) == data
