"""Names and archives as they come in over HTTP."""

from __future__ import annotations

import io
import zipfile

import pytest
from werkzeug.datastructures import FileStorage

from api.uploads import incoming
from ingest.errors import CorruptFile, EmptyFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.names import safe_name


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\Users\\ana\\报告.docx", "C:/Users/ana/报告.docx"),
        ("a\x00b\n.txt", "ab.txt"),
        ("/", "unnamed"),
        ("", "unnamed"),
        (None, "unnamed"),
        ("x" * 3000, "x" * 1024),
    ],
)
def test_names_are_fit_to_be_shown(given: str | None, shown: str) -> None:
    assert safe_name(given) == shown


def archive(**members: bytes) -> FileStorage:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    held.seek(0)
    return FileStorage(held, filename="all.zip")


def test_a_zip_is_replaced_by_its_members() -> None:
    upload = archive(**{"docs/a.txt": b"one", "../b.txt": b"two", "__MACOSX/x": b"", "docs/.hidden": b"no"})
    found = {one.name: one.stream.read() for one in incoming([upload], ParseLimits()) if one.stream}
    assert found == {"docs/a.txt": b"one", "b.txt": b"two"}


def test_an_office_file_is_not_taken_for_an_archive() -> None:
    upload = archive(**{"word/document.xml": b"<x/>"})
    upload.filename = "letter.docx"
    assert [one.name for one in incoming([upload], ParseLimits())] == ["letter.docx"]


@pytest.mark.parametrize(
    ("upload", "limits", "error"),
    [
        (FileStorage(io.BytesIO(b"PK nonsense"), filename="a.zip"), ParseLimits(), CorruptFile),
        (archive(), ParseLimits(), EmptyFile),
        (archive(a=b"0" * 500_000), ParseLimits(), FileTooLarge),
        (archive(a=b"x", b=b"y"), ParseLimits(max_members=1), FileTooLarge),
    ],
    ids=["not a zip", "empty", "bomb", "too many"],
)
def test_a_bad_archive_is_refused_with_its_reason(
    upload: FileStorage, limits: ParseLimits, error: type[Exception]
) -> None:
    (only,) = incoming([upload], limits)
    assert only.stream is None
    assert isinstance(only.refused, error)
