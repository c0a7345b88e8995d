from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ingest.errors import CorruptFile, EncryptedFile
from ingest.model import ElementKind
from ingest.parsers.legacy_slides import parse
from tests.ingest.parsers.office_samples import ole_file, read


def atom(kind: int, data: bytes = b"", instance: int = 0) -> bytes:
    return struct.pack("<HHI", instance << 4, kind, len(data)) + data


def box(kind: int, *inside: bytes, instance: int = 0) -> bytes:
    data = b"".join(inside)
    return struct.pack("<HHI", instance << 4 | 0xF, kind, len(data)) + data


def wide(text: str) -> bytes:
    return atom(0x0FA0, text.encode("utf-16-le"))


def text(value: str, kind: int = 4) -> bytes:
    return atom(0x0F9F, struct.pack("<I", kind)) + wide(value)


def shape(*inside: bytes, placeholder: int | None = None, corner: tuple[int, int] | None = None) -> bytes:
    parts = [box(0xF00D, *inside)]
    if placeholder is not None:
        parts.append(box(0xF011, atom(0x0BC3, struct.pack("<iBBH", 0, placeholder, 0, 0))))
    if corner:
        parts.append(atom(0xF00F, struct.pack("<4i", *corner, 0, 0)))
    return box(0xF004, *parts)


def page(kind: int, head: bytes, *shapes: bytes) -> bytes:
    return box(kind, head, box(0x040C, box(0xF002, box(0xF003, box(0xF004), *shapes))))


def table(rows: list[list[str]]) -> bytes:
    mark = box(0xF004, atom(0xF122, struct.pack("<HI", 0x039F, 1), instance=1))
    cells = [
        shape(text(value), corner=(column * 100, row * 50))
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
    ]
    return box(0xF003, mark, *cells)


def comment(author: str, words: str) -> bytes:
    strings = (atom(0x0FBA, author.encode("utf-16-le"), 0), atom(0x0FBA, words.encode("utf-16-le"), 1))
    return box(0x1388, box(0x138A, atom(0x138B, box(0x2EE0, *strings))))


def presentation(*, encrypted: bool = False, lost_directory: bool = False) -> dict[str, bytes]:
    slide_atom = atom(0x03EF, struct.pack("<I8sIIHH", 0, b"", 0, 256, 0, 0))
    hidden = atom(0x03F9, bytes(10) + struct.pack("<H", 4) + bytes(4))
    first = page(
        0x03EE, slide_atom + hidden + comment("Ada", "Check this"),
        shape(atom(0x0F9E, struct.pack("<I", 1)), placeholder=0x0E),
        shape(atom(0x0F9E, struct.pack("<I", 0)), placeholder=0x0D),
        table([["Fruit", "Trees", "Yield"], ["Apple", "12", "340"], ["Pear", "7", "95"]]),
    )  # fmt: skip
    notes = page(0x03F0, atom(0x03F1, struct.pack("<IHH", 256, 0, 0)), shape(text("Mention the weather", 2)))
    place = struct.pack("<IIiII", 2, 0, 2, 256, 0)
    document = box(
        0x03E8,
        box(0x0FF0, atom(0x03F3, place), text("Harvest", 0), text("Apples\rPears", 1)),
        box(0x0FF0, atom(0x03F3, struct.pack("<IIiII", 3, 0, 0, 256, 0)), instance=2),
    )
    stream = document + first + notes
    offsets = (0, len(document), len(document) + len(first))
    directory = len(stream)
    stream += atom(0x1772, struct.pack("<IIII", 3 << 20 | 1, *offsets))
    edit = 0 if lost_directory else len(stream)
    stream += atom(0x0FF5, struct.pack("<IHBBIIIIHH", 0, 0, 0, 3, 0, directory, 1, 3, 1, 0))
    token = 0xF3D1C4DF if encrypted else 0xE391C05F
    user = atom(0x0FF6, struct.pack("<III", 0x14, token, edit))
    return {"PowerPoint Document": stream, "Current User": user}


def test_slides_with_outline_tables_notes_and_comments(tmp_path: Path) -> None:
    pieces, context = read(parse, ole_file(tmp_path / "a.ppt", presentation()))
    assert [(piece.kind, piece.text, piece.anchor.label()) for piece in pieces] == [
        (ElementKind.TITLE, "Harvest", "slide 1"),
        (ElementKind.LIST_ITEM, "Apples", "slide 1"),
        (ElementKind.LIST_ITEM, "Pears", "slide 1"),
        (ElementKind.TABLE_ROW, "Fruit | Trees | Yield", "slide 1, table"),
        (ElementKind.TABLE_ROW, "Apple | 12 | 340", "slide 1, table"),
        (ElementKind.TABLE_ROW, "Pear | 7 | 95", "slide 1, table"),
        (ElementKind.NOTE, "Mention the weather", "slide 1, notes"),
        (ElementKind.COMMENT, "Check this", "slide 1, comment"),
    ]
    assert all(piece.metadata["hidden"] is True for piece in pieces)
    assert {cell.name: cell.value for cell in pieces[5].cells} == {
        "Fruit": "Pear",
        "Trees": "7",
        "Yield": "95",
    }
    assert pieces[-1].metadata["author"] == "Ada"
    assert context.metadata.page_count == 1


def test_a_lost_directory_is_told_and_the_slides_still_read(tmp_path: Path) -> None:
    pieces, context = read(parse, ole_file(tmp_path / "a.ppt", presentation(lost_directory=True)))
    assert pieces[0].text == "Harvest"
    assert [warning.code for warning in context.warnings] == ["directory_damaged"]


def test_a_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        read(parse, ole_file(tmp_path / "a.ppt", presentation(encrypted=True)))


def test_streams_without_slides_are_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(parse, ole_file(tmp_path / "a.ppt", {"PowerPoint Document": bytes(100)}))


def test_powerpoint_95(tmp_path: Path) -> None:
    def old(kind: int, data: bytes = b"", *, is_box: bool = True) -> bytes:
        return struct.pack("<IIII", kind, 0xFFFF if is_box else 0, len(data), 0) + data

    def old_text(value: bytes) -> bytes:
        return old(0x0FA2, old(0x0FE0, old(0x07EE, value, is_box=False)))

    slide = old(
        0x03EE, old(0x03F0, old_text(b"Say it slowly")) + old_text(b"Harvest") + old_text(b"Apples\rPears")
    )
    stream = old(0x0003, old(0x03E8, old(0x07D0, slide)))
    pieces, _ = read(parse, ole_file(tmp_path / "a.ppt", {"PowerPoint Document": stream}))
    assert [(piece.kind, piece.text, piece.anchor.label()) for piece in pieces] == [
        (ElementKind.TITLE, "Harvest", "slide 1"),
        (ElementKind.TEXT_BOX, "Apples", "slide 1"),
        (ElementKind.TEXT_BOX, "Pears", "slide 1"),
        (ElementKind.NOTE, "Say it slowly", "slide 1, notes"),
    ]
