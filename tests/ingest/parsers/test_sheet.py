from __future__ import annotations

import datetime
from pathlib import Path

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import Font

from ingest.anchors import SheetAnchor
from ingest.errors import CorruptFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers.sheet import parse
from tests.ingest.parsers.office_samples import read, zip_parts


def sample(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Budget"
    sheet["A1"] = "Plan of the year"
    for row in [["Item", "Due", "Cost", "Share"], ["Rent", datetime.date(2024, 3, 1), 1200.5, 0.62],
                ["Seeds", datetime.date(2024, 4, 15), 80, 0.05], ["Fence", None, 14500, 0.33]]:  # fmt: skip
        sheet.append(row)
    for row_number in (3, 4, 5):
        sheet.cell(row_number, 3).number_format = '"$"#,##0.00'
        sheet.cell(row_number, 4).number_format = "0%"
    sheet["A3"].comment = Comment("Ask for a discount", "Ada")
    sheet.oddHeader.center.text = "Private &P"
    hidden = book.create_sheet("Archive")
    hidden.sheet_state = "hidden"
    hidden["B7"] = "old value"
    hidden["B7"].font = Font(bold=True)
    book.properties.creator = "Ada Example"
    book.save(path)
    return path


def test_rows_carry_names_shown_and_stored_values(tmp_path: Path) -> None:
    pieces, context = read(parse, sample(tmp_path / "b.xlsx"))
    row = next(piece for piece in pieces if piece.text.startswith("Rent"))
    assert [(cell.name, cell.value, cell.stored, cell.ref) for cell in row.cells] == [
        ("Item", "Rent", None, "A3"),
        ("Due", "2024-03-01", None, "B3"),
        ("Cost", "$1,200.50", "1200.5", "C3"),
        ("Share", "62%", "0.62", "D3"),
    ]
    assert row.anchor == SheetAnchor(sheet="Budget", cells="A3:D3")
    assert next(piece for piece in pieces if piece.text.startswith("Item")).metadata == {"header": True}
    assert context.metadata.authors == ("Ada Example",)
    assert context.metadata.extra["sheets"] == ["Budget", "Archive"]


def test_hidden_sheets_comments_and_margins_are_read_and_marked(tmp_path: Path) -> None:
    pieces, _ = read(parse, sample(tmp_path / "b.xlsx"))
    old = next(piece for piece in pieces if piece.text == "old value")
    assert (old.metadata, old.anchor.label()) == ({"hidden": True}, "Archive!B7")
    comment = next(piece for piece in pieces if piece.kind is ElementKind.COMMENT)
    assert (comment.text, comment.metadata["author"], comment.anchor.label()) == (
        "Ask for a discount", "Ada", "Budget!A3",
    )  # fmt: skip
    assert next(piece.text for piece in pieces if piece.kind is ElementKind.HEADER) == "Private"


def test_every_cell_stands_where_openpyxl_finds_it(tmp_path: Path) -> None:
    path = sample(tmp_path / "b.xlsx")
    book = openpyxl.load_workbook(path)
    checked = 0
    for piece in read(parse, path)[0]:
        for cell in piece.cells:
            assert isinstance(piece.anchor, SheetAnchor)
            assert cell.ref
            value = book[piece.anchor.sheet][cell.ref].value
            expected = str(value.date()) if isinstance(value, datetime.datetime) else str(value)
            assert (cell.stored or cell.value) == expected
            checked += 1
    assert checked == 17


def test_too_many_rows_and_missing_sheets_end_in_typed_errors(tmp_path: Path) -> None:
    with pytest.raises(FileTooLarge):
        read(parse, sample(tmp_path / "b.xlsx"), ParseLimits(max_rows=2))
    with pytest.raises(CorruptFile):
        read(parse, zip_parts(tmp_path / "c.xlsx", {"readme.txt": "no workbook"}))
