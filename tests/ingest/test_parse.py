from pathlib import Path

import pytest

from ingest.artifacts import read_jsonl
from ingest.errors import EmptyFile, UnsupportedFile
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import parse_file

LIMITS = ParseLimits()


def test_text_becomes_numbered_paragraphs(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text("One\ntwo\n\n\nThree é\n", encoding="utf-8")
    outcome = parse_file(source, "notes.txt", LIMITS, tmp_path / "out")
    elements = list(read_jsonl(tmp_path / "out/elements.jsonl", Element))
    assert outcome.media_type == "text/plain"
    assert outcome.element_count == 2
    assert [element.text for element in elements] == ["One\ntwo", "Three é"]
    assert [element.anchor.label() for element in elements] == ["lines 1-2", "line 5"]


def test_zero_bytes_are_an_empty_file(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.touch()
    with pytest.raises(EmptyFile):
        parse_file(source, "notes.txt", LIMITS, tmp_path / "out")


def test_a_type_that_is_not_read_names_its_next_step(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text("x")
    with pytest.raises(UnsupportedFile) as caught:
        parse_file(source, "movie.mkv", LIMITS, tmp_path / "out")
    assert "mkv" in caught.value.detail
    assert caught.value.next_step
