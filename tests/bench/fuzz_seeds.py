"""Small intact files of every type, for ``fuzz_parsers`` to damage."""

from __future__ import annotations

import base64
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from ingest.parsers.ole_writer import compound_file
from tests.ingest.parsers import (
    test_book,
    test_legacy_sheet,
    test_legacy_slides,
    test_legacy_word,
    test_light_markup,
    test_mail_tnef,
    test_opendocument,
    test_outlook,
)
from tests.ingest.parsers.office_samples import word_file


def make_docx() -> bytes:
    """Make a document with a heading, a list, a table and a header."""
    import docx

    document = docx.Document()
    document.add_heading("The garden", 1)
    document.add_paragraph("Sow beans in May.", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("Plant", "Rows", "Bean", "3"), strict=True):
        cell.text = text
    document.sections[0].header.paragraphs[0].text = "Garden book"
    return _saved(document.save)


def make_xlsx() -> bytes:
    """Make a workbook with two sheets, a merged cell, a comment and a formula."""
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("Item", "Cost"), ("Rent", 1200), ("Food", 300), ("Sum", "=B2+B3")):
        sheet.append(row)
    sheet["A2"].comment = Comment("monthly", "Ann")
    sheet.merge_cells("A6:B6")
    book.create_sheet("Second").append(["words", 3.5])
    return _saved(book.save)


def make_pptx() -> bytes:
    """Make a slide with a title, a text box and notes."""
    import pptx

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Beans"
    slide.placeholders[1].text = "Sow in May"
    slide.notes_slide.notes_text_frame.text = "Say why"
    return _saved(show.save)


def make_pdf() -> bytes:
    """Make two pages of text with a link."""
    import pymupdf

    document = pymupdf.open()
    for number in (1, 2):
        document.new_page().insert_text((72, 72), f"Page {number} of the garden book. Sow beans in May.")
    return bytes(document.tobytes())


def make_rich_docx() -> bytes:
    """Make a document with notes, comments, a text box, an embedded page and a tracked deletion."""
    body = (
        '<w:p><w:r><w:t>Plan</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        '<w:r><w:commentReference w:id="0"/></w:r></w:p>'
        '<w:altChunk r:id="aFChunk"/>'
        "<w:p><w:r><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent>"
        "</v:textbox></w:pict></w:r></w:p>"
    )
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    comment = '<w:comment w:id="0" w:author="A">'
    said = "<w:p><w:r><w:t>Said</w:t></w:r></w:p>"
    parts = {
        "word/footnotes.xml": f'<w:footnotes {space}><w:footnote w:id="2">{said}</w:footnote></w:footnotes>',
        "word/comments.xml": f"<w:comments {space}>{comment}{said}</w:comment></w:comments>",
        "word/chunk.html": "<html><body><p>Inside</p></body></html>",
    }
    return _written(
        lambda path: word_file(
            path, body, parts, footnotes="footnotes.xml", comments="comments.xml", aFChunk="chunk.html"
        )
    )


def make_epub() -> bytes:
    """Make a book of two chapters."""
    return _zipped({
        "META-INF/container.xml": test_book.CONTAINER,
        "OEBPS/book.opf": test_book.OPF,
        "OEBPS/one.xhtml": test_book.page("One"),
        "OEBPS/two.xhtml": test_book.page("Two"),
    })  # fmt: skip


def make_odt() -> bytes:
    """Make a text with a heading, a list and a table."""
    body = (
        '<text:h text:outline-level="1">Walls</text:h><text:p>Moss<text:s/>grows.</text:p>'
        "<text:list><text:list-item><text:p>stone</text:p></text:list-item></text:list><table:table>"
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>a</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    root = (
        f"<office:document-content {test_opendocument.NAMES}><office:body><office:text>{body}</office:text>"
        "</office:body></office:document-content>"
    )
    return _zipped({
        "mimetype": "application/vnd.oasis.opendocument.text", "content.xml": root,
        "meta.xml": test_opendocument.META, "styles.xml": test_opendocument.STYLES,
    })  # fmt: skip


def make_msg() -> bytes:
    """Make an Outlook message with an attached file and an attached message."""
    file = {**test_outlook.text(0x3707, "plan.txt"), "__substg1.0_37010102": b"Count the north wall."}
    inner = {"__substg1.0_3701000D": test_outlook.message("An older count")}
    root = test_outlook.message(
        **{"__attach_version1.0_#00000000": file, "__attach_version1.0_#00000001": inner}
    )
    return test_outlook.compound(root)


def make_winmail() -> bytes:
    """Make a mail whose words and files are in winmail.dat."""
    tnef = test_mail_tnef
    hidden = tnef.stream(
        tnef.attribute(0x800C, b"Hidden words\0"),
        tnef.attribute(0x9002, b""),
        tnef.attribute(0x8010, b"a.txt\0"),
        tnef.attribute(0x800F, b"data"),
        tnef.attribute(
            0x9003, tnef.properties(tnef.text_property(0x37, "Old"), tnef.binary_property(0x1009, b"{"))
        ),
    )
    return (
        b"Subject: x\nContent-Type: application/ms-tnef; name=winmail.dat\n"
        b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(hidden)
    )


def make_doc() -> bytes:
    """Make a Word 97 document with notes, a comment and a table."""
    stream, table = test_legacy_word.word_document()
    return compound_file({"WordDocument": stream, "1Table": table})


def make_ppt() -> bytes:
    """Make a PowerPoint 97 presentation."""
    return compound_file(test_legacy_slides.presentation())


def make_xls() -> bytes:
    """Make an Excel 97 workbook."""
    return compound_file({"Workbook": test_legacy_sheet.workbook(test_legacy_sheet.ROWS)})


def make_picture(kind: str) -> Callable[[], bytes]:
    """Return a maker of a small picture."""

    def make() -> bytes:
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (160, 40), "white")
        ImageDraw.Draw(picture).text((8, 12), "BEANS IN MAY", fill="black")
        return _saved(lambda stream: picture.save(stream, kind))

    return make


MAIL = b"""\
Received: by host; Wed, 1 May 2024 10:00:00 +0200
From: =?utf-8?q?J=C3=B6rg?= <j@example.org>
To: ann@example.org
Subject: Beans
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/plain; charset=utf-8

Sow them in May.
> When?
--B
Content-Type: text/csv; name="rows.csv"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="rows.csv"

UGxhbnQsUm93cwpCZWFuLDMK
--B--
"""
SEEDS: dict[str, Callable[[], bytes]] = {
    "docx": make_docx,
    "xlsx": make_xlsx,
    "pptx": make_pptx,
    "pdf": make_pdf,
    "png": make_picture("PNG"),
    "jpg": make_picture("JPEG"),
    "webp": make_picture("WEBP"),
    "tiff": make_picture("TIFF"),
    "bmp": make_picture("BMP"),
    "eml": lambda: MAIL,
    "txt": lambda: "Grüße aus dem Garten.\n\nDie Bohnen kommen im Mai.\n".encode() * 5,
    "csv": lambda: b'id,plant,"row, number"\n1,"Bean ""May""",3\n2,Pea,4\n' * 5,
    "tsv": lambda: b"id\tplant\n1\tBean\n",
    "md": lambda: b"---\ntitle: T\n---\n# Beans\n\n- [May](x)\n\n|a|b|\n|-|-|\n|1|2|\n\n```\ncode\n```\n",
    "html": lambda: b"<!DOCTYPE html><meta charset=utf-8><h1>Beans</h1><table><tr><td>May<ul><li>x</table>",
    "vtt": lambda: b"WEBVTT\n\nNOTE x\n\n1\n00:01.000 --> 00:02.000 align:start\n<v Ann>Sow <b>beans</b>\n",
    "rich.docx": make_rich_docx,
    "doc": make_doc,
    "xls": make_xls,
    "ppt": make_ppt,
    "odt": make_odt,
    "epub": make_epub,
    "msg": make_msg,
    "winmail.eml": make_winmail,
    "rtf": lambda: (
        rb"{\rtf1\ansi{\info{\title T}}\pard Moss \b slowly\b0 .\par Caf\'e9 \u26032?\par\trowd a\cell\row }"
    ),
    "rst": lambda: test_light_markup.RST.encode(),
    "org": lambda: test_light_markup.ORG.encode(),
    "svg": lambda: (
        b'<svg xmlns="http://www.w3.org/2000/svg"><text x="1">Beans</text><g><use href="#a"/></g></svg>'
    ),
}


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def _written(write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made"
        write(path)
        return path.read_bytes()


def _zipped(members: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in members.items():
            package.writestr(name, text)
    return stream.getvalue()
