from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.context import ParseContext
from ingest.errors import CorruptFile, EncryptedFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.mupdf import pymupdf
from ingest.parsers.pdf import parse
from ingest.parsers.pdf_metadata import parse_date


def context_for(path: Path, **limits: int) -> ParseContext:
    return ParseContext(path, path.name, "application/pdf", ParseLimits(**limits), path.parent)


def make_pdf(path: Path, *pages: str, **save: object) -> Path:
    document = pymupdf.open()
    for text in pages:
        document.new_page().insert_text((72, 72), text)
    document.set_metadata({"title": "Field notes", "author": "Ada", "creationDate": "D:20240131120000Z"})
    document.save(path, **save)
    return path


def test_reads_pages_and_metadata(tmp_path: Path) -> None:
    context = context_for(make_pdf(tmp_path / "a.pdf", "Moss grows slowly.", "Second page."))
    pieces = list(parse(context))
    assert [(piece.text, piece.anchor.page) for piece in pieces] == [
        ("Moss grows slowly.", 1),
        ("Second page.", 2),
    ]
    assert context.metadata.title == "Field notes"
    assert context.metadata.authors == ("Ada",)
    assert context.metadata.occurred_at == datetime(2024, 1, 31, 12, tzinfo=UTC)
    assert context.metadata.page_count == 2


def test_password_is_an_encrypted_file_and_empty_password_opens(tmp_path: Path) -> None:
    locked = make_pdf(
        tmp_path / "l.pdf", "Secret", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o"
    )
    with pytest.raises(EncryptedFile):
        list(parse(context_for(locked)))
    owned = make_pdf(tmp_path / "o.pdf", "Open", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o")
    assert [piece.text for piece in parse(context_for(owned))] == ["Open"]


def test_rubbish_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "r.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing here\n")
    with pytest.raises(CorruptFile):
        list(parse(context_for(path)))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("D:20240131120000+02'00'", "2024-01-31T12:00:00+02:00"),
        ("D:2024", "2024-01-01T00:00:00+00:00"),
        ("D:20241399", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_dates(raw: str | None, expected: str | None) -> None:
    found = parse_date(raw)
    assert (found.isoformat() if found else None) == expected


def test_reads_columns_one_after_the_other(tmp_path: Path) -> None:
    left = [f"Left column line number {row} tells of moss and" for row in range(8)]
    right = [f"Right column line number {row} tells of ferns" for row in range(8)]
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 60), "A heading over both columns of this page", fontsize=18)
    for row in range(8):  # drawn line by line across the page, as some programs do
        page.insert_text((72, 100 + 14 * row), left[row], fontsize=9)
        page.insert_text((320, 100 + 14 * row), right[row], fontsize=9)
    document.save(tmp_path / "c.pdf")
    pieces = list(parse(context_for(tmp_path / "c.pdf")))
    assert pieces[0].kind is ElementKind.HEADING
    assert pieces[0].level == 1
    assert [piece.text for piece in pieces[1:]] == [" ".join(left), " ".join(right)]


def test_ruled_table_becomes_rows_with_named_cells(tmp_path: Path) -> None:
    rows = [("Item", "Cost"), ("Rent", "1,200"), ("Water and heat", "85")]
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 60), "What the house costs in a month:")
    for index, row in enumerate(rows):
        for column, text in enumerate(row):
            x, y = 72 + 120 * column, 100 + 24 * index
            page.draw_rect((x, y, x + 120, y + 24))
            page.insert_text((x + 4, y + 16), text)
    page.insert_text((72, 240), "All sums are in euros.")
    document.save(tmp_path / "t.pdf")
    pieces = list(parse(context_for(tmp_path / "t.pdf")))
    assert [piece.text for piece in pieces] == [
        "What the house costs in a month:",
        "Item | Cost",
        "Rent | 1,200",
        "Water and heat | 85",
        "All sums are in euros.",
    ]
    assert pieces[2].kind is ElementKind.TABLE_ROW
    assert [(cell.name, cell.value) for cell in pieces[2].cells] == [("Item", "Rent"), ("Cost", "1,200")]
    assert pieces[2].anchor.bbox == pytest.approx((76, 127, 222, 143), abs=4)


def test_running_heads_are_told_once_and_page_numbers_are_feet(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(1, 5):
        page = document.new_page()
        page.insert_text((72, 40), "Annual report of the moss society")
        page.insert_text((72, 300), f"Chapter {number} has something to say.")
        page.insert_text((300, 820), f"Page {number} of 4")
    document.save(tmp_path / "h.pdf")
    pieces = list(parse(context_for(tmp_path / "h.pdf")))
    assert [piece.text for piece in pieces if piece.kind is ElementKind.HEADER] == [
        "Annual report of the moss society"
    ]
    assert [piece.text for piece in pieces if piece.kind is ElementKind.FOOTER] == [
        f"Page {number} of 4" for number in range(1, 5)
    ]
    assert [piece.text for piece in pieces if piece.kind is ElementKind.PARAGRAPH] == [
        f"Chapter {number} has something to say." for number in range(1, 5)
    ]


def test_notes_form_values_links_and_attachments(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "See the plan.")
    note = page.add_text_annot((200, 72), "Check the dates.")
    note.set_info(title="Bo")
    note.update()
    page.insert_link(
        {"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(70, 60, 160, 76), "uri": "https://moss.test/plan"}
    )
    widget = pymupdf.Widget()
    widget.field_name, widget.field_value = "city", "Turku"
    widget.field_type, widget.rect = pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.Rect(72, 200, 200, 220)
    page.add_widget(widget)
    document.embfile_add("data.csv", b"a,b\n1,2\n", filename="data.csv")
    document.save(tmp_path / "n.pdf")
    context = context_for(tmp_path / "n.pdf")
    pieces = list(parse(context))
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (ElementKind.PARAGRAPH, "See the plan."),
        (ElementKind.FORM_FIELD, "city: Turku"),
        (ElementKind.ANNOTATION, "Check the dates."),
        (ElementKind.FIELD, "See the plan. <https://moss.test/plan>"),
    ]
    assert pieces[2].metadata["author"] == "Bo"
    assert [(child.name, child.media_type, child.size_bytes) for child in context.children] == [
        ("data.csv", "text/csv", 8)
    ]


def test_turned_page_reads_and_anchors_as_shown(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=800)
    page.insert_text((100, 700), "Turned around.", rotate=90)
    page.set_rotation(90)
    document.save(tmp_path / "r.pdf")
    (piece,) = parse(context_for(tmp_path / "r.pdf"))
    assert piece.text == "Turned around."
    x0, y0, x1, y1 = piece.anchor.bbox
    assert x1 - x0 > 3 * (y1 - y0)
    assert 0 <= x0 < x1 <= 800
    assert 0 <= y0 < y1 <= 400


def test_page_tree_that_lies_is_rebuilt(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "l.pdf", "The only page.")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"/Count 1", b"/Count 999999999"))
    context = context_for(path)
    assert [piece.text for piece in parse(context)] == ["The only page."]
    assert [warning.code for warning in context.warnings] == ["page_tree_rebuilt"]


def test_too_many_pages(tmp_path: Path) -> None:
    with pytest.raises(FileTooLarge, match="PARSE_MAX_PAGES"):
        list(parse(context_for(make_pdf(tmp_path / "p.pdf", "1", "2", "3"), max_pages=2)))
