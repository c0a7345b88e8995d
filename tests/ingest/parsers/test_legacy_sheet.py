from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from ingest.errors import CorruptFile, EncryptedFile
from ingest.model import ElementKind
from ingest.parsers.biff import Chunks, rk_number
from ingest.parsers.legacy_sheet import parse
from tests.ingest.parsers.office_samples import read


def record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def text(value: str, count: str = "<H") -> bytes:
    return struct.pack(count, len(value)) + b"\x01" + value.encode("utf-16-le")


def workbook(sheet: Iterable[bytes], more: Iterable[bytes] = (), *, state: int = 0) -> bytes:
    """Return a BIFF8 stream with one sheet "Plan"; formats: style 1 is a date, style 2 money, 3 percent."""
    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 0, 0, 0))
    fonts = record(0x31, struct.pack("<HHHHH", 200, 0, 0, 400, 0) + bytes(5)) * 4
    fonts += record(0x31, struct.pack("<HHHHH", 200, 0, 0, 700, 0) + bytes(5))
    formats = record(0x41E, struct.pack("<H", 164) + text('"$"#,##0.00'))
    styles = b"".join(record(0xE0, struct.pack("<HH", font, code) + bytes(16))
                      for font, code in ((0, 0), (0, 14), (0, 164), (0, 9), (5, 0)))  # fmt: skip
    strings = ["Item", "Due", "Cost", "Share", "Rent", "Seeds"]
    table = record(0xFC, struct.pack("<II", 6, 6) + b"".join(text(value) for value in strings))
    inside = b"".join(more) + fonts + formats + styles + table + record(0x0A)
    name = text("Plan", "<B")
    bound = record(0x85, struct.pack("<IBB", len(start) + 4 + 6 + len(name) + len(inside), state, 0) + name)
    head = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x10, 0, 0, 0, 0))
    return start + bound + inside + head + b"".join(sheet) + record(0x0A)


def label(row: int, column: int, index: int, style: int = 0) -> bytes:
    return record(0xFD, struct.pack("<HHHI", row, column, style, index))


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


ROWS = [
    *(label(0, column, column, 4) for column in range(4)),
    label(1, 0, 4), number(1, 1, 45352, 1), number(1, 2, 1200.5, 2), number(1, 3, 0.62, 3),
    label(2, 0, 5), record(0x27E, struct.pack("<HHHI", 2, 2, 2, (80 << 2) | 2)),
]  # fmt: skip


def write(path: Path, stream: bytes) -> Path:
    path.write_bytes(stream)
    return path


def test_rows_have_names_shown_and_stored_values(tmp_path: Path) -> None:
    pieces, context = read(parse, write(tmp_path / "a.xls", workbook(ROWS)))
    row = next(piece for piece in pieces if piece.text.startswith("Rent"))
    assert [(cell.name, cell.value, cell.stored, cell.ref) for cell in row.cells] == [
        ("Item", "Rent", None, "A2"),
        ("Due", "2024-03-01", None, "B2"),
        ("Cost", "$1,200.50", "1200.5", "C2"),
        ("Share", "62%", "0.62", "D2"),
    ]
    assert pieces[-1].text == "Seeds | $80.00"
    assert pieces[-1].anchor.label() == "Plan!A3:C3"
    assert context.metadata.extra["sheets"] == ["Plan"]


def test_formula_results_notes_and_margins(tmp_path: Path) -> None:
    sheet = [
        record(0x14, text("&LPrivate&RPage &P")),
        record(0x06, struct.pack("<HHH", 0, 0, 0) + b"\x00" + bytes(5) + b"\xff\xff" + bytes(8)),
        record(0x207, text("computed")),
        record(0x06, struct.pack("<HHH", 1, 0, 0) + b"\x02\x00\x07" + bytes(3) + b"\xff\xff" + bytes(8)),
        record(0x5D, b"\x15\x00\x12\x00\x19\x00\x07\x00"),
        record(0x1B6, bytes(10) + struct.pack("<H", 5) + bytes(6)),
        record(0x3C, b"\x00Check"),
        record(0x1C, struct.pack("<HHHH", 1, 0, 0, 7) + text("Ada")),
    ]
    pieces, _ = read(parse, write(tmp_path / "a.xls", workbook(sheet, state=1)))
    found = {(piece.kind, piece.text) for piece in pieces}
    assert (ElementKind.TABLE_ROW, "computed") in found
    assert (ElementKind.TABLE_ROW, "#DIV/0!") in found
    assert (ElementKind.HEADER, "Private | Page") in found
    comment = next(piece for piece in pieces if piece.kind is ElementKind.COMMENT)
    assert (comment.text, comment.anchor.label()) == ("Check", "Plan!A2")
    assert comment.metadata == {"hidden": True, "author": "Ada"}


def test_hidden_rows_and_margins_of_first_pages(tmp_path: Path) -> None:
    margins = text("&CEven head") + text("First foot")
    sheet = [
        record(0x208, struct.pack("<HHHHHHHI", 0, 0, 4, 0, 0, 0, 0x20, 0)),
        record(0x89C, bytes(30) + struct.pack("<4H", 10, 0, 0, 10) + margins),
        label(0, 0, 4),
    ]
    pieces, _ = read(parse, write(tmp_path / "a.xls", workbook(sheet)))
    assert pieces[1].metadata == {"hidden": True}
    assert [(piece.kind, piece.text) for piece in pieces[2:]] == [
        (ElementKind.HEADER, "Even head"),
        (ElementKind.FOOTER, "First foot"),
    ]


def test_values_a_chart_keeps_are_not_cells(tmp_path: Path) -> None:
    chart = record(0x0809, struct.pack("<HHHH", 0x0600, 0x20, 0, 0)) + number(0, 0, 99) + record(0x0A)
    pieces, _ = read(parse, write(tmp_path / "a.xls", workbook([chart, label(0, 0, 4)])))
    assert [piece.text for piece in pieces] == ["Plan", "Rent"]


def test_a_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(EncryptedFile):
        read(parse, write(tmp_path / "a.xls", workbook(ROWS, [record(0x2F, bytes(6))])))


def test_a_workbook_cut_off_before_its_sheets_is_corrupt(tmp_path: Path) -> None:
    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 0, 0, 0))
    with pytest.raises(CorruptFile):
        read(parse, write(tmp_path / "a.xls", start + record(0x31, bytes(20))))


def test_other_bytes_are_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(parse, write(tmp_path / "a.xls", b"no workbook at all"))


def test_strings_run_over_continuations() -> None:
    chunks = Chunks([b"\x06\x00\x01" + "abc".encode("utf-16-le"), b"\x00def\x02\x00\x00xy"])
    assert (chunks.unicode_string(), chunks.unicode_string(), chunks.is_over) == ("abcdef", "xy", True)


@pytest.mark.parametrize(
    ("packed", "value"), [((5 << 2) | 2, 5), ((1234 << 2) | 3, 12.34), (0x3FF00000, 1.0)]
)
def test_packed_numbers(packed: int, value: float) -> None:
    assert rk_number(packed) == value
