from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest

from ingest.artifacts import read_jsonl
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.forkserver import serve
from ingest.jobs import Job
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parsers import legacy_word, office_kit, word
from ingest.parsers.office_program import WORD, with_fallback


def broken(context: ParseContext) -> Iterator[Piece]:
    context.warn("half", "Something was noticed on the way.")
    context.attach("a.bin", "application/octet-stream", b"x", "1")
    raise CorruptFile("The text cannot be found.")
    yield


def context_for(path: Path) -> ParseContext:
    path.write_bytes(b"old")
    return ParseContext(path, path.name, "application/msword", ParseLimits(), path.parent)


def word_file(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Moss grows slowly.")
    document.core_properties.title = "Field notes"
    document.save(str(path))


def test_without_libreoffice_the_error_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office_kit.shutil, "which", lambda name: None)
    with pytest.raises(CorruptFile, match=r"The text cannot be found\.") as raised:
        list(with_fallback(context_for(tmp_path / "a.doc"), broken, WORD, word.parse))
    assert "libreoffice-writer-nogui" in raised.value.next_step


def test_what_our_reader_cannot_read_comes_from_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(library: Path, source: Path, target: Path, profile: Path) -> bool:
        assert source.read_bytes() == b"old"
        word_file(target)
        return True

    monkeypatch.setattr(office_kit, "find_library", lambda: Path("library"))
    monkeypatch.setattr(office_kit, "convert", convert)
    context = context_for(tmp_path / "a.doc")
    assert [piece.text for piece in with_fallback(context, broken, WORD, word.parse)] == [
        "Moss grows slowly."
    ]
    assert context.metadata.title == "Field notes"
    assert [warning.code for warning in context.warnings] == ["read_by_libreoffice"]
    assert context.children == []


@pytest.mark.parametrize("failure", [False, OSError("no such library")], ids=["not saved", "not loaded"])
def test_what_neither_can_read_is_corrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: bool | OSError
) -> None:
    def convert(*_: Path) -> bool:
        if isinstance(failure, OSError):
            raise failure
        return failure

    monkeypatch.setattr(office_kit, "find_library", lambda: Path("library"))
    monkeypatch.setattr(office_kit, "convert", convert)
    with pytest.raises(CorruptFile, match=r"The text cannot be found\. LibreOffice"):
        list(with_fallback(context_for(tmp_path / "a.doc"), broken, WORD, word.parse))


def test_our_own_reader_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office_kit, "find_library", lambda: pytest.fail("LibreOffice was asked"))
    word_file(tmp_path / "b.docx")
    context = ParseContext(tmp_path / "b.docx", "b", "", ParseLimits(), tmp_path)
    pieces = with_fallback(context, word.parse, WORD, broken)
    assert [piece.text for piece in pieces] == ["Moss grows slowly."]


@pytest.mark.skipif(office_kit.find_library() is None, reason="needs LibreOffice")
def test_libreoffice_reads_a_file_within_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word_file(tmp_path / "a.docx")
    program = shutil.which("soffice")
    assert program is not None
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [program, "--headless", profile, "--convert-to", "doc", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "a.docx")], check=True, capture_output=True, timeout=100)
    monkeypatch.setattr(legacy_word, "_read", broken)  # the child is forked from here
    out = tmp_path / "out"
    out.mkdir()
    answer = serve(Job(path=tmp_path / "a.doc", name="a.doc", limits=ParseLimits(), out_dir=out))
    assert answer.report is not None
    assert answer.report.outcome is not None, answer
    elements = read_jsonl(out / "elements.jsonl", Element)
    assert [element.text for element in elements] == ["Moss grows slowly."]
    assert [warning.code for warning in answer.report.outcome.warnings] == ["read_by_libreoffice"]
