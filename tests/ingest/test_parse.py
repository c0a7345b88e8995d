from pathlib import Path

import pytest

from ingest import parse
from ingest.artifacts import read_jsonl
from ingest.context import ParseContext
from ingest.errors import EmptyFile, UnsupportedFile
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.outcome import ParseOutcome
from ingest.parse import parse_file, parse_in_process

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


@pytest.mark.parametrize(
    ("data", "wall_s", "cpu_s"), [(b"x" * 2**21, 10, 14), (b"%PDF-1.7" + b"x" * 2**20, 40, 42)]
)
def test_large_files_and_pixels_get_more_time(
    data: bytes, wall_s: float, cpu_s: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[ParseLimits] = []
    outcome = ParseOutcome(media_type="text/plain")
    monkeypatch.setattr(parse, "run_limited", lambda *args: given.append(args[2]) or outcome)
    source = tmp_path / "blob"
    source.write_bytes(data)
    limits = ParseLimits(wall_s=10, cpu_s=10, cpu_s_per_mb=2, ocr_s=30)
    assert parse_file(source, "notes.txt", limits, tmp_path / "out") is outcome
    assert (given[0].wall_s, given[0].cpu_s) == (wall_s, cpu_s)


def test_long_text_comes_in_parts_an_episode_can_hold(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text("The ferry leaves at nine. " * 1_000)
    context = ParseContext(source, "a.md", "text/markdown", LIMITS, tmp_path)
    elements = list(parse_in_process(context))
    assert [element.metadata["part"] for element in elements] == [1, 2, 3, 4]
    assert [element.position for element in elements] == [0, 1, 2, 3]
