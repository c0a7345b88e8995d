from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from ingest.context import ParseContext
from ingest.detect import detect
from ingest.errors import CorruptFile, EmptyFile, FileTooLarge, TypeMismatch, UnsupportedFile
from ingest.limits import ParseLimits
from ingest.parsers.archive import parse


def archive(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        for name, data in members.items():
            package.writestr(name, data)
    return stream.getvalue()


def unpack(folder: Path, data: bytes, **limits: int) -> ParseContext:
    path = folder / "blob"
    path.write_bytes(data)
    context = ParseContext(path, "a.zip", "application/zip", ParseLimits(**limits), folder)
    assert list(parse(context)) == []
    return context


def test_files_become_documents_and_litter_does_not(tmp_path: Path) -> None:
    inner = archive({"deep.txt": b"deep"})
    members = {
        "notes/a.txt": b"one",
        "../../b.zip": inner,
        "__MACOSX/a": b"x",
        ".hidden": b"x",
        "empty/": b"",
    }
    context = unpack(tmp_path, archive(members))
    assert [(child.name, child.media_type, child.part) for child in context.children] == [
        ("notes/a.txt", "text/plain", "1"),
        ("b.zip", "application/zip", "2"),
    ]
    assert (tmp_path / context.children[0].stored_as).read_bytes() == b"one"


def test_a_damaged_member_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    data = archive({"a.txt": b"first file", "b.txt": b"second file"}).replace(b"first", b"worst")
    context = unpack(tmp_path, data)
    assert [child.name for child in context.children] == ["b.txt"]
    assert [warning.code for warning in context.warnings] == ["attachment_unreadable"]


@pytest.mark.parametrize(
    ("data", "limits", "error"),
    [
        (archive({}), {}, EmptyFile),
        (archive({"a": b"x", "b": b"x", "c": b"x"}), {"max_attachments": 2}, FileTooLarge),
        (archive({"a.txt": b"first"}).replace(b"first", b"worst"), {}, CorruptFile),
    ],
    ids=["no files", "too many", "all damaged"],
)
def test_archives_that_give_nothing(
    data: bytes, limits: dict[str, int], error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error):
        unpack(tmp_path, data, **limits)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.zip", "application/zip"),
        ("attachment", "application/zip"),
        ("a.docx", TypeMismatch),
        ("a.jar", UnsupportedFile),
    ],
)
def test_only_what_is_called_an_archive_is_one(
    name: str, found: str | type[Exception], tmp_path: Path
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(archive({"a.txt": b"x"}))
    if isinstance(found, str):
        assert detect(path, name, ParseLimits()).media_type == found
    else:
        with pytest.raises(found):
            detect(path, name, ParseLimits())
