from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ingest.anchors import SectionAnchor
from ingest.errors import CorruptFile, EncryptedFile
from ingest.model import ElementKind
from ingest.parsers.legacy_word import parse
from tests.ingest.parsers.office_samples import ole_file, read

BODY = (
    "The plan\rRent is due \x13 HYPERLINK \"http://x.test\" \x14on Monday\x15.\x02\x05\r"
    "Fruit\x07Trees\x07Yield\x07\x07Apple\x0712\x07340\x07\x07Pear\x077\x0795\x07\x07End.\r"
)  # fmt: skip
FOOTNOTE, HEADER, COMMENT = "\x02 See the lease.\r", "\rConfidential\r", "\x05Which Monday?\r"
TEXT_AT, NOTE_AT = 0x800, BODY.index("\x02")


def word_document(*, flags: int = 0x0200) -> tuple[bytes, bytes]:
    """Return main and table stream of a Word 97 document without any formatting."""
    text = BODY + FOOTNOTE + HEADER + COMMENT
    table = bytearray(b"\0")
    places: dict[int, tuple[int, int]] = {}

    def put(index: int, data: bytes) -> None:
        places[index] = (len(table), len(data))
        table.extend(data)

    pieces = struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, TEXT_AT, 0)
    put(33, b"\x02" + struct.pack("<I", len(pieces)) + pieces)
    put(2, struct.pack("<IIH", NOTE_AT, len(BODY), 1))
    put(3, struct.pack("<III", 0, len(FOOTNOTE), len(FOOTNOTE)))
    put(4, struct.pack("<II", NOTE_AT + 1, len(BODY)) + bytes(20) + struct.pack("<H", 0) + bytes(8))
    put(5, struct.pack("<III", 0, len(COMMENT), len(COMMENT)))
    put(11, struct.pack("<9I", 0, 0, 0, 0, 0, 0, 0, 1, len(HEADER)))
    put(36, struct.pack("<H", 3) + "Ada".encode("utf-16-le"))
    stream = bytearray(TEXT_AT) + text.encode("utf-16-le")
    struct.pack_into("<HH", stream, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", stream, 0x0A, flags)
    counts = (len(BODY), len(FOOTNOTE), len(HEADER), 0, len(COMMENT), 0, 0, 0)
    struct.pack_into("<8I", stream, 0x4C, *counts)
    for index, place in places.items():
        struct.pack_into("<II", stream, 0x9A + 8 * index, *place)
    return bytes(stream), bytes(table)


def write(path: Path, *, flags: int = 0x0200) -> Path:
    stream, table = word_document(flags=flags)
    return ole_file(path, {"WordDocument": stream, "1Table": table})


def test_body_notes_comments_and_margins(tmp_path: Path) -> None:
    pieces, _ = read(parse, write(tmp_path / "a.doc"))
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (ElementKind.PARAGRAPH, "The plan"),
        (ElementKind.PARAGRAPH, "Rent is due on Monday."),
        (ElementKind.FOOTNOTE, "See the lease."),
        (ElementKind.COMMENT, "Which Monday?"),
        (ElementKind.TABLE_ROW, "Fruit | Trees | Yield"),
        (ElementKind.TABLE_ROW, "Apple | 12 | 340"),
        (ElementKind.TABLE_ROW, "Pear | 7 | 95"),
        (ElementKind.PARAGRAPH, "End."),
        (ElementKind.HEADER, "Confidential"),
    ]
    assert pieces[3].metadata == {"author": "Ada"}
    assert [cell.name for cell in pieces[5].cells] == ["Fruit", "Trees", "Yield"]
    assert isinstance(pieces[2].anchor, SectionAnchor)
    assert (pieces[2].anchor.part, pieces[2].anchor.paragraph) == ("footnote 1", 2)


def test_a_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        read(parse, write(tmp_path / "a.doc", flags=0x0300))


def test_other_compound_files_and_truncated_ones_are_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(parse, ole_file(tmp_path / "a.doc", {"Something": b"else"}))
    whole = write(tmp_path / "b.doc")
    whole.write_bytes(whole.read_bytes()[:1500])
    with pytest.raises(CorruptFile):
        read(parse, whole)


def test_word_2003_xml(tmp_path: Path) -> None:
    path = tmp_path / "a.doc"
    path.write_text(
        '<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" '
        'xmlns:aml="http://schemas.microsoft.com/aml/2001/core"><w:body><w:sect>'
        "<w:p><w:r><w:t>Rent is due</w:t>"
        "<w:footnote><w:p><w:r><w:t>See the lease</w:t></w:r></w:p></w:footnote></w:r>"
        '<aml:annotation w:type="Word.Deletion"><aml:content><w:r><w:delText>never</w:delText></w:r>'
        "</aml:content></aml:annotation></w:p><w:sectPr><w:hdr w:type='odd'>"
        "<w:p><w:r><w:t>Private</w:t></w:r></w:p>"
        "</w:hdr></w:sectPr></w:sect></w:body></w:wordDocument>"
    )
    found = [(piece.kind, piece.text) for piece in read(parse, path)[0]]
    assert found == [
        (ElementKind.PARAGRAPH, "Rent is due"),
        (ElementKind.FOOTNOTE, "See the lease"),
        (ElementKind.HEADER, "Private"),
    ]
