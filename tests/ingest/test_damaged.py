from pathlib import Path

from tests.bench.fuzz_parsers import Judge, cases
from tests.bench.fuzz_seeds import SEEDS

# Without the types that may go through OCR: those take seconds a file, and the bench runs them.
KINDS = set(SEEDS) - {"pdf", "png", "jpg", "webp", "tiff", "bmp", "svg"}


def test_damaged_files_end_in_an_outcome_or_a_typed_error(tmp_path: Path) -> None:
    judge = Judge(tmp_path)
    with judge.watching():
        endings = [(kind, *judge.judge(kind, data)) for kind, data in cases(seed=3, each=5, only=KINDS)]
        assert judge.seen() == []
    assert len(endings) >= 100
    assert [ending for ending in endings if ending[2]] == []
    assert {kind for kind, _, _ in endings} == KINDS
    assert sum(ending == "ok" for _, ending, _ in endings) > 20
