import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest import formats
from ingest.detect import Detected, detect
from ingest.errors import (
    CorruptFile,
    EncryptedFile,
    FileTooLarge,
    IngestError,
    MaliciousFile,
    TypeMismatch,
    UnsupportedFile,
)
from ingest.limits import ParseLimits

LIMITS = ParseLimits()
Detect = Callable[..., Detected]

CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/main.xml" ContentType="application/{main}+xml"/></Types>'
)
WORD = "vnd.openxmlformats-officedocument.wordprocessingml.document.main"
WORDML = b"<?xml version='1.0'?><w:d xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'/>"
MAIL = b"Received: by host\r\nFrom: a@example.org\r\nSubject: Hi\r\nMessage-ID: <1@x>\r\n\r\nText\r\n"


def package(**members: str | bytes) -> bytes:
    """Make a zip; "__" in a keyword stands for "/", "_" for "."."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return buffer.getvalue()


def office(main: str, **members: str | bytes) -> bytes:
    parts = package(**members)
    buffer = io.BytesIO(parts)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES.format(main=main))
    return buffer.getvalue()


@pytest.fixture
def found(tmp_path: Path) -> Detect:
    def look(data: bytes, name: str, limits: ParseLimits = LIMITS) -> Detected:
        path = tmp_path / "blob"
        path.write_bytes(data)
        return detect(path, name, limits)

    return look


CONTENT = [
    (b"%PDF-1.7\n", formats.PDF),
    (b"junk before\n%PDF-1.4\n", formats.PDF),
    (b"\x89PNG\r\n\x1a\n....", "image/png"),
    (b"\xff\xd8\xff\xe0....JFIF", "image/jpeg"),
    (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    (b"MM\0*\0\0", "image/tiff"),
    (b"BM\x10\0\0\0\0\0\0\0\x36\0\0\0", "image/bmp"),
    (b"{\\rtf1\\ansi text}", formats.RTF),
    (b"\xef\xbb\xbf<!-- x --><!DOCTYPE html><html></html>", formats.HTML),
    (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', formats.XHTML),
    (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', formats.SVG),
    (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", formats.VTT),
    (MAIL, formats.EML),
    (MAIL + bytes(range(256)) * 9, formats.EML),
    (b"From x@y Mon\n" + MAIL, formats.EML),
    (office(WORD), formats.DOCX),
    (office("vnd.ms-word.document.macroEnabled.main"), formats.DOCM),
    (office("vnd.openxmlformats-officedocument.spreadsheetml.sheet.main"), formats.XLSX),
    (office("vnd.openxmlformats-officedocument.presentationml.slideshow.main"), formats.PPTX),
    (package(word__document_xml="<w:document/>"), formats.DOCX),
    (package(mimetype="application/vnd.oasis.opendocument.text"), formats.ODT),
    (package(mimetype="application/epub+zip"), formats.EPUB),
]


@pytest.mark.parametrize(
    ("data", "media_type"), CONTENT, ids=[f"{m}-{i}" for i, (_, m) in enumerate(CONTENT)]
)
def test_content_decides_without_a_name(found: Detect, data: bytes, media_type: str) -> None:
    assert found(data, "upload") == Detected(media_type)


def test_a_wrong_extension_is_noted_and_read_as_what_it_is(found: Detect) -> None:
    media_type, warnings = found(office(WORD), "report.doc")
    assert media_type == formats.DOCX
    assert [warning.code for warning in warnings] == ["type_mismatch"]


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"name;age\nAnn;30\nBob;31\n", "people.xls", formats.CSV),
        (b"<table><tr><td>1</td></tr></table>", "export.xls", formats.HTML),
        (b"plain words of an old letter", "letter.doc", formats.PLAIN),
        (WORDML, "old.xml", formats.DOC),
    ],
)
def test_text_under_an_office_name(found: Detect, data: bytes, name: str, media_type: str) -> None:
    assert found(data, name).media_type == media_type


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"<div align=center>logo</div>\n\n# Title", "README.md", formats.MARKDOWN),
        (b"BMW sells cars", "cars.txt", formats.PLAIN),
        (b"From: a\nTo: b\nSubject: notes\n", "notes.txt", formats.PLAIN),
        ("Grüße\n".encode("utf-16"), "u.txt", formats.PLAIN),
        (b"\x1b[31mred\x1b[0m\x1b[31mred\x1b[0m", "colour.log", formats.PLAIN),
        (b"no header 00:01.000 --> 00:02.000", "a.vtt", formats.VTT),
        (b"plain", "README", formats.PLAIN),
        (b"12:00 started\n" * 50 + b"\0" * 60 + b"12:10 started\n", "power.log", formats.PLAIN),
        (b"a\tb\n", "t.TSV", formats.TSV),
    ],
)
def test_plain_text_is_what_its_name_says(found: Detect, data: bytes, name: str, media_type: str) -> None:
    assert found(data, name) == Detected(media_type)


@pytest.mark.parametrize(
    ("data", "name", "error"),
    [
        (bytes(range(256)) * 10, "notes.txt", TypeMismatch),
        (bytes(range(256)) * 10, "notes.bin", UnsupportedFile),
        (bytes(range(1, 256)) * 10, "report.docx", CorruptFile),
        (b"some text", "photo.png", TypeMismatch),
        (b"some text", "paper.pdf", TypeMismatch),
        (b"GIF89a....", "photo.png", TypeMismatch),
        (b"\x1f\x8b\x08....", "logs.gz", UnsupportedFile),
        (b"some text", "movie.mkv", UnsupportedFile),
        (package(readme="hi"), "report.docx", TypeMismatch),
        (package(readme="hi"), "all.jar", UnsupportedFile),
        (package(xl__workbook_bin=b"\0"), "book.xlsb", UnsupportedFile),
        (package(mimetype="application/vnd.oasis.opendocument.spreadsheet"), "a.ods", UnsupportedFile),
        (office(WORD)[:-40], "report.docx", CorruptFile),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old.doc", CorruptFile),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage\0".encode("utf-16-le"),
            "x.docx",
            EncryptedFile,
        ),
    ],
)
def test_refusals_are_typed(found: Detect, data: bytes, name: str, error: type[IngestError]) -> None:
    with pytest.raises(error) as caught:
        found(data, name)
    assert caught.value.detail.endswith(".")


LAUGHS = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa">]><w:document>&a;</w:document>'


@pytest.mark.parametrize(
    "document",
    [
        LAUGHS,
        LAUGHS.encode("utf-16"),
        LAUGHS.encode("utf-16-be"),
        LAUGHS.encode("utf-32"),
        LAUGHS.encode("cp037"),
        LAUGHS.replace('"?>', '" encoding="UTF-7"?>'),
        "<!--" + "x" * 9_000 + "-->" + LAUGHS[21:],
        "<!-- x -->" + LAUGHS[21:],
        "<!--" + " " * 70_000,
    ],
)
def test_a_document_type_in_an_office_file_is_malicious(found: Detect, document: str | bytes) -> None:
    with pytest.raises(MaliciousFile):
        found(office(WORD, word__document_xml=document), "report.docx")


def test_an_entity_in_a_book_is_malicious_but_a_doctype_is_not(found: Detect) -> None:
    mimetype = "application/epub+zip"
    page = "<!DOCTYPE html><html/>"
    assert found(package(mimetype=mimetype, a_xml=page), "b.epub").media_type == formats.EPUB
    with pytest.raises(MaliciousFile):
        found(package(mimetype=mimetype, a_xml=LAUGHS), "b.epub")


def test_zip_bombs_are_too_large(found: Detect) -> None:
    bomb = office(WORD, word__document_xml=b" " * (40 * 2**20))
    with pytest.raises(FileTooLarge, match="PARSE_MAX_UNPACK_RATIO"):
        found(bomb, "a.docx")
    with pytest.raises(FileTooLarge, match="PARSE_MAX_UNPACKED_BYTES"):
        found(bomb, "a.docx", LIMITS.model_copy(update={"max_unpacked_bytes": 2**20}))
    with pytest.raises(FileTooLarge, match="PARSE_MAX_MEMBERS"):
        found(bomb, "a.docx", LIMITS.model_copy(update={"max_members": 1}))


def test_locked_members_are_encrypted(found: Detect) -> None:
    data = bytearray(office(WORD))
    directory = data.find(b"PK\x01\x02")
    data[directory + 8] |= 1
    with pytest.raises(EncryptedFile):
        found(bytes(data), "a.docx")


def test_overlapping_members_are_malicious(found: Detect) -> None:
    data = bytearray(package(a="one", b="two"))
    second = data.rfind(b"PK\x01\x02")
    data[second + 42 : second + 46] = b"\0\0\0\0"
    with pytest.raises((MaliciousFile, CorruptFile)):
        found(bytes(data), "a.docx")


SOUND = bytes(128 + (number * number * 7 + number // 3) % 127 for number in range(4000))


def test_text_without_a_name_is_told_from_noise(found: Detect) -> None:
    words = "Мы посчитали двенадцать пятен мха на северной стене дома, и завтра придём снова. " * 20
    assert found(words.encode("windows-1251"), "notes").media_type == "text/plain"
    with pytest.raises(UnsupportedFile, match="unknown kind"):
        found(SOUND, "recording")


@pytest.mark.parametrize(
    "start", ["<!---->" * 60, "<!--?>-->" * 5_000, "<?x?>" * 10_000, "<!doctype svg [" + "]" * 60_000]
)
def test_a_preamble_built_to_be_tried_in_every_way_costs_nothing(found: Detect, start: str) -> None:
    assert found(f"{start}x".encode(), "a.txt").media_type == "text/plain"
