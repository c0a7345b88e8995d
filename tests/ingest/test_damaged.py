from pathlib import Path

from tests.bench.fuzz_parsers import cases, judge

# Without the types that may go through OCR: those take seconds a file, and the bench runs them.
KINDS = {"docx", "xlsx", "pptx", "eml", "txt", "csv", "tsv", "md", "html", "vtt"}


def test_damaged_files_end_in_an_outcome_or_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    endings = [(kind, *judge(kind, data, tmp_path)) for kind, data in cases(seed=3, each=2, only=KINDS)]
    assert [ending for ending in endings if ending[2]] == []
    assert {kind for kind, _, _ in endings} == KINDS
    assert sum(ending == "ok" for _, ending, _ in endings) > 5
