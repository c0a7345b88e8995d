"""`strata eval` as it is called: its own store process, the default encoder, one JSON document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.evaluation import tiny
from tests.e2e.instance import Instance

pytestmark = pytest.mark.e2e


def test_one_json_document_and_nothing_of_the_users_own_is_touched(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    command = Instance(tmp_path / "home")
    asked = ["eval", str(tmp_path / "sets"), "--json", "--limit", "4", "--configs", "flat-rrf,hybrid"]
    done = command.run(*asked, "--workdir", str(tmp_path / "work"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "out" / "report.json").read_text())
    assert [(one["set"], one["name"]) for one in report["configurations"]] == [
        ("talks", "flat-rrf"), ("talks", "hybrid"),
    ]  # fmt: skip
    assert all(one["hit@5"] >= 0.75 for one in report["configurations"])
    assert report["encoder"].startswith("multilingual-e5-small")
    assert report["sets"][0]["ingest"]["texts_embedded"] > 0
    assert "talks: " in done.stderr
    assert len(list((tmp_path / "out").glob("talks-*.png"))) == 3
    assert not (tmp_path / "home" / "ledger.db").exists()

    again = command.run(*asked, "--workdir", str(tmp_path / "work"), "--reuse")
    assert again.returncode == 0, again.stderr
    kept = json.loads(again.stdout)
    assert kept["sets"][0]["ingest"]["texts_embedded"] == 0
    names = ("recall@5", "mrr@10", "ndcg@10")
    assert [[one[name] for name in names] for one in kept["configurations"]] == [
        [one[name] for name in names] for one in report["configurations"]
    ]


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    done = Instance(tmp_path / "home").run("eval", str(tmp_path), "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert json.loads(done.stderr.splitlines()[-1])["code"] == "question_set_invalid"
