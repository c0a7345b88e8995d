"""`strata fit-fusion` on small sets of our own, with a store in memory and a toy encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from api.cli.main import main
from retrieval.embedders.fake import HashEmbedder
from retrieval.ranking.weights import load_weights
from tests.api.evaluation import tiny
from tests.fakes import MemoryStore


@contextmanager
def small_ground(*_: object) -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(store=MemoryStore(), embedder=HashEmbedder(256))


def test_it_compares_on_unseen_questions_and_writes_weights_for_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.evaluation.ground.ground", small_ground)
    tiny.texts(tmp_path / "sets" / "b-texts")
    target = tmp_path / "weights.json"
    command = ["fit-fusion", "--data", str(tmp_path / "sets"), "--out", str(target), "--folds", "2", "--json"]
    found = CliRunner().invoke(main, command, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    rows = {(row["set_name"], row["kind"]): row for row in document["rows"]}
    assert {name for name, _ in rows} == {"b-texts"}
    assert all(0 <= row["before"]["recall_5"] <= 1 for row in rows.values())
    weights = load_weights(target, HashEmbedder(256).fingerprint)
    assert weights.fitted_on == ("b-texts",)
    assert document["encoder"] == weights.encoder


def test_sets_that_teach_nothing_are_an_error_with_a_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.evaluation.ground.ground", small_ground)
    folder = tmp_path / "empty"
    tiny.texts(folder)
    (folder / "qrels.jsonl").write_text("", encoding="utf-8")
    found = CliRunner().invoke(main, ["fit-fusion", "--data", str(folder), "--out", str(tmp_path / "w.json")])
    assert found.exit_code == 1
    assert "gold" in found.output
    assert not (tmp_path / "w.json").exists()
