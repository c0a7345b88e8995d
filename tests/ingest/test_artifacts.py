from pathlib import Path

import pytest

from ingest.anchors import RowAnchor
from ingest.artifacts import artifact_dir, read_json, read_jsonl, write_json, write_jsonl
from ingest.model import Cell, DocumentMeta, Element, ElementKind


def element(text: str) -> Element:
    return Element(
        position=0,
        kind=ElementKind.TABLE_ROW,
        text=text,
        anchor=RowAnchor(row=1),
        cells=(Cell(name="a", value=text),),
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    elements = [element("one"), element("zwei ü\n")]
    assert write_jsonl(tmp_path / "deep/e.jsonl", iter(elements)) == 2
    assert list(read_jsonl(tmp_path / "deep/e.jsonl", Element)) == elements
    meta = DocumentMeta(title="T", extra={"a": [1]})
    write_json(tmp_path / "m.json", meta)
    assert read_json(tmp_path / "m.json", DocumentMeta) == meta


def test_what_no_database_takes_becomes_a_replacement_sign(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    write_jsonl(path, [element("a\ud800b"), element("c\0d"), element("e\\u0000f")])
    texts = [read.text for read in read_jsonl(path, Element)]
    assert texts == ["a\ufffdb", "c\ufffdd", "e\\u0000f"]
    assert next(read_jsonl(path, Element)).cells[0].value == "a\ufffdb"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    write_jsonl(path, [element("old")])

    def broken():
        yield element("new")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_jsonl(path, broken())
    assert [read.text for read in read_jsonl(path, Element)] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b/c/d/e", "short", "x" * 65, ".hidden-file"])
def test_only_safe_ids_become_folders(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="document id"):
        artifact_dir(tmp_path, name)


def test_folders_are_sharded(tmp_path: Path) -> None:
    assert artifact_dir(tmp_path, "abcdef12-3456") == tmp_path / "ab/cd/abcdef12-3456"
