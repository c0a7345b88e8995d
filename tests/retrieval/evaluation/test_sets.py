from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.evaluation.sets import load_set


def write(folder: Path, **files: list[dict[str, object]]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def question(identity: str, kind: str = "one", **meta: str) -> dict[str, object]:
    return {"id": identity, "text": "what?", "lang": "en", "type": kind, "meta": meta}


def test_talks_are_searched_one_by_one_and_corrections_are_preferred(tmp_path: Path) -> None:
    found = load_set(
        write(
            tmp_path / "talks",
            docs=[{"id": "d1", "text": "Ann: hi", "meta": {"conv": "c1"}}],
            queries=[question("q1", conv="c1"), question("q2", "adversarial", conv="c1")],
            qrels=[{"query_id": "q1", "doc_id": "wrong", "grade": 1}],
            qrels_audited=[
                {"query_id": "q1", "doc_id": "d1", "grade": 2},
                {"query_id": "q2", "doc_id": "d1", "grade": 1},
            ],
        )
    )
    assert found.talks
    assert not found.parallel
    assert [(one.memory, one.answerable) for one in found.questions] == [("c1", True), ("c1", False)]
    assert found.questions[0].gold == {"d1": 2}
    assert found.memory_of(found.passages[0]) == "c1"


def test_parallel_texts_are_asked_for_in_each_language(tmp_path: Path) -> None:
    found = load_set(
        write(
            tmp_path / "parallel",
            docs=[{"id": f"{language}:1", "text": "x", "meta": {}} for language in ("en", "zh")],
            queries=[question("q1")],
            qrels=[{"query_id": "q1", "doc_id": f"{language}:1", "grade": 1} for language in ("en", "zh")],
        )
    )
    assert found.parallel
    assert [(one.kind, one.memory, set(one.gold)) for one in found.questions] == [
        ("en>en", "en", {"en:1"}), ("en>zh", "zh", {"zh:1"}),
    ]  # fmt: skip
    assert [found.memory_of(one) for one in found.passages] == ["en", "zh"]


def test_other_texts_are_one_memory(tmp_path: Path) -> None:
    found = load_set(
        write(
            tmp_path / "texts",
            docs=[{"id": "h1", "text": "x", "meta": {}}],
            queries=[question("q1"), question("q2")],
            qrels=[{"query_id": "q1", "doc_id": "h1", "grade": 1}],
        )
    )
    assert [one.memory for one in found.questions] == ["all", "all"]
    assert [one.answerable for one in found.questions] == [True, False]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"qrels\.jsonl"):
        load_set(write(tmp_path / "broken", docs=[], queries=[]))
