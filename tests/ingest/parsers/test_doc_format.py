"""Paragraph properties of binary Word documents, built page by page as [MS-DOC] describes them."""

from __future__ import annotations

import struct
from pathlib import Path

from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.doc_format import changes
from ingest.parsers.legacy_word import parse
from tests.ingest.parsers.office_samples import ole_file, read

TEXT_AT, CHARACTERS_AT, PARAGRAPHS_AT = 0x800, 0x1000, 0x1200
PARAGRAPHS = ["Scope\r", "first\r", "second\r", "Oslo\x07", "Bergen\x07", "\x07", "kept gone\r"]
TEXT = "".join(PARAGRAPHS)
ILFO, LEVEL, IN_TABLE, ROW_END, DELETED = 0x460B, 0x260A, 0x2416, 0x2417, 0x0800
HEADING, NORMAL = 1, 0


def sprm(code: int, value: int) -> bytes:
    return struct.pack("<HH" if code == ILFO else "<HB", code, value)


def page(runs: list[tuple[int, bytes]], end: int, *, is_paragraph: bool) -> bytes:
    """Return a page of 512 bytes: offsets, places, and the property lists from its end backwards."""
    offsets = struct.pack(f"<{len(runs) + 1}I", *(start for start, _ in runs), end)
    places, data, at = b"", bytearray(512), 510
    for _, content in runs:
        if not is_paragraph:
            packed = bytes([len(content)]) + content if content else b""
        elif len(content) % 2:
            packed = bytes([(len(content) + 1) // 2]) + content
        else:
            packed = bytes([0, len(content) // 2]) + content
        at -= len(packed) + len(packed) % 2
        data[at : at + len(packed)] = packed
        places += bytes([at // 2 if packed else 0]) + (bytes(12) if is_paragraph else b"")
    data[: len(offsets) + len(places)] = offsets + places
    data[511] = len(runs)
    return bytes(data)


def style(identity: int, base: int) -> bytes:
    data = struct.pack("<HHHHH", identity, base << 4 | 1, 0, 0, 0) + struct.pack("<HHH", 1, ord("x"), 0)
    return struct.pack("<H", len(data)) + data


def list_level(pattern: str) -> bytes:
    return (
        struct.pack("<IB", 1, 0) + bytes(23) + struct.pack("<H", len(pattern)) + pattern.encode("utf-16-le")
    )


def document(path: Path) -> Path:
    table = bytearray(b"\0")
    places: dict[int, tuple[int, int]] = {}

    def put(index: int, data: bytes, more: bytes = b"") -> None:
        places[index] = (len(table), len(data))
        table.extend(data + more)

    pieces = struct.pack("<II", 0, len(TEXT)) + struct.pack("<HIH", 0, TEXT_AT, 0)
    put(33, b"\x02" + struct.pack("<I", len(pieces)) + pieces)
    put(1, struct.pack("<HHH", 4, 2, 10) + style(0, 0xFFF) + style(1, NORMAL))
    put(12, struct.pack("<III", TEXT_AT, TEXT_AT + 2 * len(TEXT), CHARACTERS_AT // 512))
    put(13, struct.pack("<III", TEXT_AT, TEXT_AT + 2 * len(TEXT), PARAGRAPHS_AT // 512))
    one_list = struct.pack("<HI", 1, 77) + bytes(22) + b"\x01\0"
    put(73, one_list, list_level("\0)"))
    put(74, struct.pack("<II", 1, 77) + bytes(12) + bytes(4))
    stream = bytearray(0x1400)
    stream[TEXT_AT : TEXT_AT + 2 * len(TEXT)] = TEXT.encode("utf-16-le")
    listed = sprm(LEVEL, 0) + sprm(ILFO, 1)
    looks = [
        b"",
        listed,
        listed,
        sprm(IN_TABLE, 1),
        sprm(IN_TABLE, 1),
        sprm(IN_TABLE, 1) + sprm(ROW_END, 1),
        b"",
    ]
    runs, at = [], TEXT_AT
    for paragraph, look in zip(PARAGRAPHS, looks, strict=True):
        runs.append((at, struct.pack("<H", HEADING if paragraph == "Scope\r" else NORMAL) + look))
        at += 2 * len(paragraph)
    stream[PARAGRAPHS_AT : PARAGRAPHS_AT + 512] = page(runs, at, is_paragraph=True)
    gone = TEXT_AT + 2 * TEXT.index(" gone")
    characters = [(TEXT_AT, b""), (gone, sprm(DELETED, 1)), (gone + 10, b"")]
    stream[CHARACTERS_AT : CHARACTERS_AT + 512] = page(characters, at, is_paragraph=False)
    struct.pack_into("<HH", stream, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", stream, 0x0A, 0x0200)
    struct.pack_into("<8I", stream, 0x4C, len(TEXT), *[0] * 7)
    for index, place in places.items():
        struct.pack_into("<II", stream, 0x9A + 8 * index, *place)
    return ole_file(path, {"WordDocument": bytes(stream), "1Table": bytes(table)})


def test_headings_lists_tables_and_deletions(tmp_path: Path) -> None:
    found: list[Piece] = read(parse, document(tmp_path / "a.doc"))[0]
    assert [(piece.kind, piece.level, piece.text) for piece in found] == [
        (ElementKind.HEADING, 1, "Scope"),
        (ElementKind.LIST_ITEM, 1, "1) first"),
        (ElementKind.LIST_ITEM, 1, "2) second"),
        (ElementKind.TABLE_ROW, 0, "Oslo | Bergen"),
        (ElementKind.PARAGRAPH, 0, "kept"),
    ]
    assert found[1].anchor.label() == "Scope, paragraph 2"


def test_property_lists_of_any_size_are_walked() -> None:
    data = (
        sprm(ILFO, 3)
        + struct.pack("<HH", 0xD608, 3)
        + b"\1\2"
        + struct.pack("<HB", 0xC60D, 2)
        + b"ab"
        + sprm(LEVEL, 1)
    )
    assert [code for code, _ in changes(data)] == [ILFO, 0xD608, 0xC60D, LEVEL]
