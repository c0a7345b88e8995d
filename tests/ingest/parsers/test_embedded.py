from __future__ import annotations

import base64
import io
import struct
from pathlib import Path

import olefile
import pytest

from ingest.context import ParseContext
from ingest.errors import CorruptFile, EncryptedFile
from ingest.limits import ParseLimits
from ingest.parsers import legacy_word, word
from ingest.parsers.embedded import attach_storages, media_type_of, read_native, unpack_object
from ingest.parsers.ole_writer import compound_file
from ingest.parsers.opc import Package
from tests.ingest.parsers.office_samples import OFFICE, WORD, ole_file, read, word_file


def native(label: bytes, data: bytes) -> bytes:
    inside = (
        b"\x02\0"
        + label
        + b"\0C:\\tmp\\x\0"
        + bytes(4)
        + struct.pack("<I", 2)
        + b"x\0"
        + struct.pack("<I", len(data))
    )
    return struct.pack("<I", len(inside) + len(data)) + inside + data


def test_a_native_object_gives_its_file() -> None:
    found = read_native(native(b"C:\\docs\\plan.txt", b"hello"))
    assert found is not None
    assert (found.name, found.data) == ("plan.txt", b"hello")
    assert read_native(b"\0" * 5) is None


def test_objects_are_unwrapped_by_what_they_hold() -> None:
    document = compound_file({"WordDocument": b"w", "1Table": b"t"})
    assert [file.name for file in unpack_object("oleObject1.bin", document)] == ["oleObject1.doc"]
    wrapped = compound_file({"\x01Ole10Native": native(b"a.csv", b"1;2")})
    assert [(file.name, file.data) for file in unpack_object("o.bin", wrapped)] == [("a.csv", b"1;2")]
    reader = compound_file({"CONTENTS": b"%PDF-1.4 ..."})
    assert [file.name for file in unpack_object("o.bin", reader)] == ["o.pdf"]
    assert list(unpack_object("o.bin", compound_file({"Equation Native": b"x"}))) == []


def test_a_written_compound_file_is_read_back() -> None:
    streams = {"WordDocument": bytes(range(256)) * 40, "1Table": b"short"}
    with olefile.OleFileIO(compound_file(streams)) as ole:
        assert ole.openstream("WordDocument").read() == streams["WordDocument"]
        assert ole.openstream("1Table").read().rstrip(b"\0") == b"short"


def test_media_types_of_office_names() -> None:
    assert media_type_of("a.DOC") == "application/msword"
    assert media_type_of("a.unknown-kind") == "application/octet-stream"


def test_encrypted_and_foreign_compound_files(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        Package(ole_file(tmp_path / "a.docx", {"EncryptedPackage": b"x"}), ParseLimits())
    with pytest.raises(CorruptFile):
        Package(ole_file(tmp_path / "b.docx", {"WordDocument": b"x"}), ParseLimits())


def test_a_package_in_one_xml_file(tmp_path: Path) -> None:
    def part(name: str, inside: str) -> str:
        return f'<pkg:part pkg:name="{name}">{inside}</pkg:part>'

    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    body = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>Flat</w:t></w:r></w:p></w:body></w:document>'
    picture = base64.b64encode(b"png").decode()
    path = tmp_path / "a.doc"
    path.write_text(
        '<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">'
        + part(
            "/_rels/.rels",
            f'<pkg:xmlData><Relationships xmlns="{links}">{relation}</Relationships></pkg:xmlData>',
        )
        + part("/word/document.xml", f"<pkg:xmlData>{body}</pkg:xmlData>")
        + part("/word/media/a.png", f"<pkg:binaryData>{picture}</pkg:binaryData>")
        + "</pkg:package>"
    )
    assert [piece.text for piece in read(legacy_word.parse, path)[0]] == ["Flat"]
    with Package(path, ParseLimits()) as package:
        assert package.read("word/media/a.png") == b"png"


def test_web_pages_inside_a_document_are_read_in_place(tmp_path: Path) -> None:
    page = "<html><body><h1>Plan</h1><p>From the web</p></body></html>"
    path = word_file(
        tmp_path / "a.docx", "<w:altChunk r:id='aFChunk'/>", {"word/a.html": page}, aFChunk="a.html"
    )
    pieces, context = read(word.parse, path)
    assert [piece.text for piece in pieces] == ["Plan", "From the web"]
    assert context.children == []


class Storages:
    """Stands for an opened compound file with embedded objects in storages of their own."""

    def __init__(self, streams: dict[tuple[str, ...], bytes]) -> None:
        self.streams = streams

    def listdir(self, streams: bool = True, storages: bool = False) -> list[list[str]]:
        if streams:
            return [list(path) for path in self.streams]
        return [list(path) for path in dict.fromkeys(path[:-1] for path in self.streams if len(path) > 1)]

    def exists(self, path: list[str]) -> bool:
        return tuple(path) in self.streams

    def openstream(self, path: list[str]) -> io.BytesIO:
        return io.BytesIO(self.streams[tuple(path)])


def test_storages_of_embedded_documents_become_files(tmp_path: Path) -> None:
    context = ParseContext(tmp_path, "a.xls", "", ParseLimits(), tmp_path)
    streams = {
        ("Workbook",): b"outer",
        ("MBD1", "WordDocument"): b"text",
        ("MBD1", "1Table"): b"table",
        ("MBD2", "\x01Ole10Native"): native(b"plan.txt", b"hello"),
        ("MBD3", "Equation Native"): b"x",
    }
    attach_storages(context, Storages(streams))
    assert [(child.name, child.part) for child in context.children] == [
        ("MBD1.doc", "MBD1"),
        ("plan.txt", "MBD2"),
    ]
    with olefile.OleFileIO(tmp_path / context.children[0].stored_as) as ole:
        assert ole.openstream("1Table").read(5) == b"table"
