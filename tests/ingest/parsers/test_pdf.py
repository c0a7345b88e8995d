from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.context import ParseContext
from ingest.errors import CorruptFile, EncryptedFile
from ingest.limits import ParseLimits
from ingest.mupdf import pymupdf
from ingest.parsers.pdf import parse, parse_date


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
