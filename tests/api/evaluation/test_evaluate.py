"""`strata eval` on small sets of our own: the real pipeline and search, a store in memory, a toy encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from qdrant_client import QdrantClient

from api.app import create_app
from api.auth import Principal, Scope
from api.cli.client import Address, Client
from api.evaluation.configurations import ALL, BASELINE, DEFAULT, Means, chosen
from api.evaluation.course import Course, fewer, narrowed
from api.evaluation.errors import NothingToReuse, SetInvalid, Unavailable
from api.evaluation.ground import Ground, connected, own_settings
from api.evaluation.place import Place, on_ground, there
from api.evaluation.plots import draw
from api.evaluation.run import evaluate, measure_set
from api.evaluation.sets import find_sets
from api.evaluation.table import tables
from retrieval.embedders.fake import HashEmbedder
from retrieval.evaluation.judging import Level
from retrieval.evaluation.report import EvaluationReport, SetReport
from retrieval.evaluation.tally import ALL as ALL_KINDS
from tests.api.evaluation import tiny
from workers.settings import Settings

MEASURES = ("recall@5", "recall@10", "mrr@10", "ndcg@10", "hit@5")


class WorkedClient(Client):
    """A server whose worker works whenever its client waits."""

    made: Ground

    def follow(self, batch_id: str, timeout_s: float | None = None) -> Iterator[dict[str, Any]]:
        self.made.work(lambda _: None)
        yield from super().follow(batch_id, timeout_s)


def measured(
    folder: Path, *names: str, limit: int | None = None, talks: int | None = None, reuse: bool = False
) -> SetReport:
    """Measure the first set of a folder in some configurations."""
    sets = find_sets([folder / "sets"], [])
    course = Course(tuple(chosen(names, Means())), (1, 3), limit, talks, 0, folder / "work", reuse)
    settings = own_settings(Settings(), folder / "work", ":memory:", "")
    encoder = HashEmbedder(256)
    with connected(settings, QdrantClient(":memory:"), folder / "vectors.db", encoder) as made:
        the_set = narrowed(sets[0], talks, 0)
        return measure_set(the_set, sets[1:], course, on_ground(made), lambda _: None)


def whole(one: SetReport) -> EvaluationReport:
    return EvaluationReport(
        version="0", made_at="2026-01-01T00:00:00+00:00", place="here", encoder="hash",
        extractor="extractive", limit=None, talks=None, seed=0, cutoffs=(1, 3, 5, 10), baseline=BASELINE,
        sets=(one,),
    )  # fmt: skip


@pytest.fixture(scope="module")
def on_talks(tmp_path_factory: pytest.TempPathFactory) -> SetReport:
    folder = tmp_path_factory.mktemp("talks")
    tiny.talks(folder / "sets" / "a-talks")
    tiny.texts(folder / "sets" / "b-texts")
    return measured(folder, limit=6)


def by_name(report: SetReport) -> dict[str, Any]:
    return {one["name"]: one for one in whole(report).public()["configurations"]}  # type: ignore[index,union-attr]


def test_every_configuration_carries_its_figures_by_level_and_type(on_talks: SetReport) -> None:
    document = json.loads(json.dumps(whole(on_talks).public(), allow_nan=False))
    expected = [one.name for one in ALL if not (one.crossed or one.plain)]
    assert [one["name"] for one in document["configurations"]] == expected
    kinds = {"all": 5, "single-hop": 4, "multi-hop": 1}
    for one in document["configurations"]:
        assert set(one["levels"]) == set(Level)
        for level in one["levels"].values():
            assert {kind: figures["questions"] for kind, figures in level.items()} == kinds
            for figures in level.values():
                for name in MEASURES:
                    low, high = figures["intervals"][name]
                    assert 0 <= low <= figures[name] <= high <= 1
        for name in MEASURES:
            assert one[name] == one["levels"]["evidence"]["all"][name]
        assert set(one["latency_ms"]) == {"p50", "p95"}
        assert one["degraded"] == ({"embedder": 5} if one["name"] == "no-dense" else {})
    assert document["sets"][0]["tokens"] == document["sets"][0]["ingest"]["tokens"] == 0
    assert document["sets"][0]["questions"] == 5
    assert document["sets"][0]["scope"] == "one talk"


def test_search_finds_the_evidence_and_the_layers_differ(on_talks: SetReport) -> None:
    found = by_name(on_talks)
    assert found[DEFAULT]["recall@5"] >= 0.8
    assert found[BASELINE]["recall@5"] >= 0.8
    # A flat list has statements only; one lane gives whole episodes only.
    assert found[BASELINE]["levels"]["fact"] == found[BASELINE]["levels"]["evidence"]
    assert found["keyword"]["levels"]["fact"]["all"]["recall@10"] == 0
    assert found["episodes-only"]["levels"]["fact"]["all"]["recall@10"] == 0
    assert found["keyword"]["recall@10"] == 1
    assert found["no-dense"]["recall@10"] >= 0.8
    assert found["keyword"]["context"]["characters"]["5"] > found[BASELINE]["context"]["characters"]["1"]


def test_no_configuration_is_left_without_candidates(on_talks: SetReport) -> None:
    # With its dense lanes muted a search had no episodes: their traits come with the dense lane. Without an
    # encoder the sparse lane brings them, so that is what "no-dense" is.
    for name, one in by_name(on_talks).items():
        assert one["hit@10"] >= 0.6, name
        assert one["context"]["characters"]["5"] > 0, name


def test_the_difference_to_the_baseline_is_that_of_the_means(on_talks: SetReport) -> None:
    found = by_name(on_talks)
    ahead = found[DEFAULT]["ahead_of_baseline"]["all"]["recall@5"]
    assert ahead == pytest.approx(found[DEFAULT]["recall@5"] - found[BASELINE]["recall@5"])
    assert found[BASELINE]["ahead_of_baseline"] == {}


def test_equal_context_never_uses_more_than_the_budget(on_talks: SetReport) -> None:
    found = by_name(on_talks)
    budget = found[DEFAULT]["context"]["characters"]["5"]
    own = found[DEFAULT]["equal_context"]["figures"]["all"]
    assert own["characters"] == pytest.approx(budget)
    assert own["recall"] == pytest.approx(found[DEFAULT]["recall@5"])
    assert found["flat-dense"]["equal_context"]["budget_of"] == DEFAULT


def test_unanswerable_questions_are_apart(on_talks: SetReport) -> None:
    for one in by_name(on_talks).values():
        groups = one["abstention"]
        assert {group: row["questions"] for group, row in groups.items()} == {
            "adversarial": 1, "nonsense": 6, "off-topic": 3,
        }  # fmt: skip
        assert all(0 <= row["auroc"] <= 1 for row in groups.values())


def test_vectors_are_made_once_for_all_configurations(on_talks: SetReport) -> None:
    # Episodes and facts; the turns of the flat list without their dates are texts of their own at most.
    assert 12 <= (on_talks.ingest["texts_embedded"] or 0) <= 32  # type: ignore[operator]
    assert on_talks.baseline_texts is not None
    assert on_talks.baseline_texts <= 12 + 4  # turns and windows


def test_texts_go_through_the_stages_and_are_asked_for_per_language(tmp_path: Path) -> None:
    tiny.texts(tmp_path / "sets" / "texts")
    report = measured(tmp_path, DEFAULT, BASELINE, "flat-bm25")
    assert report.scope == "one language"
    assert report.ingest["documents"] == 6
    figures = report.configurations[0].levels[Level.EVIDENCE]
    assert set(figures) == {ALL_KINDS, "en>en", "en>zh", "zh>en", "zh>zh"}
    for own in ("en>en", "zh>zh"):
        assert figures[own].values["hit@1"].mean == 1
    assert "windows-rrf" not in [one.name for one in report.configurations]


def test_a_limit_asks_fewer_questions(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    report = measured(tmp_path, BASELINE, "flat-bm25", limit=2)
    assert report.questions == 2
    assert {group: row.questions for group, row in report.configurations[0].abstention.items()} == {
        "adversarial": 1, "nonsense": 2,
    }  # fmt: skip
    assert report.configurations[0].equal_context is None  # no configuration that sets the budget


def test_a_server_is_measured_over_its_api(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    tiny.texts(tmp_path / "sets" / "texts")
    settings = own_settings(Settings(), tmp_path / "home", ":memory:", "")
    names = [one.name for one in chosen([], Means(remote=True))]
    with connected(settings, QdrantClient(":memory:"), tmp_path / "v.db", HashEmbedder(256)) as made:
        app = create_app(made.services, settings, lambda _: Principal(tenant="t", scope=Scope.ADMIN))
        client = WorkedClient(Address("http://server", None), httpx.WSGITransport(app=app))
        client.made = made
        for the_set in find_sets([tmp_path / "sets"], []):
            course = Course(tuple(chosen(names, Means(remote=True))), (1,), 4, None, 0, tmp_path, reuse=False)
            with there(client, settings, tmp_path)(the_set.name) as place:
                place = replace(place, embedder=made.embedder)  # the baselines' encoder; not a real one here
                first = measure_set(the_set, [], course, place, lambda _: None)
                again = measure_set(the_set, [], course._replace(reuse=True), place, lambda _: None)
            assert first.ingest["texts_embedded"] is None
            assert first.encode_ms == {}
            found = {one.name: one.levels[Level.EVIDENCE][ALL_KINDS].values for one in first.configurations}
            assert found[DEFAULT]["hit@5"].mean >= 0.75
            assert found == {
                one.name: one.levels[Level.EVIDENCE][ALL_KINDS].values for one in again.configurations
            }
        owners = {row["user_id"] for row in client.call("GET", "/api/v1/documents")["documents"]}
    assert owners == {"eval-talks-harbour", "eval-talks-orchard", "eval-texts-en", "eval-texts-zh"}


def test_weights_are_fitted_without_the_talk_they_rank(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    tiny.texts(tmp_path / "sets" / "texts")
    sets = find_sets([tmp_path / "sets"], [])
    names = ["mrag-crossed", BASELINE]
    course = Course(
        tuple(chosen(names, Means(crossed=True))), (1,), 5, None, 0, tmp_path, reuse=False, folds=2
    )

    @contextmanager
    def opened(name: str) -> Iterator[Place]:
        settings = own_settings(Settings(), tmp_path / name, ":memory:", "")
        client = kept.setdefault(name, QdrantClient(":memory:"))
        client.close = lambda: None  # a memory that lasts until it is opened again
        with connected(settings, client, tmp_path / "v.db", HashEmbedder(256)) as made:
            yield on_ground(made)

    kept: dict[str, QdrantClient] = {}
    said: list[str] = []
    report = evaluate(sets, course, opened, "extractive", said.append)
    assert [one.name for one in report.sets[0].configurations] == names
    crossed = report.sets[0].configurations[0].levels[Level.EVIDENCE][ALL_KINDS].values
    assert crossed["recall@5"].mean >= 0.6
    assert report.sets[0].ingest["documents"] == 4
    assert [line for line in said if "fold" in line] == [
        "fitting without fold 1 of 2", "fitting without fold 2 of 2",
    ]  # fmt: skip


def test_nothing_to_reuse_is_told(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    with pytest.raises(NothingToReuse):
        measured(tmp_path, BASELINE, reuse=True)


def test_some_talks_leave_the_others_out(tmp_path: Path) -> None:
    tiny.talks(tmp_path / "sets" / "talks")
    report = measured(tmp_path, "flat-bm25", talks=1, limit=9)
    whole_set = {"harbour": (7, 3), "orchard": (5, 2)}
    assert (report.passages, report.questions) in whole_set.values()


def test_fewer_texts_keep_the_questions_they_answer(tmp_path: Path) -> None:
    tiny.texts(tmp_path / "sets" / "texts")
    (whole_set,) = find_sets([tmp_path / "sets"], [])
    part = fewer(whole_set, 3, 0)
    ids = {one.id for one in part.passages}
    assert len(ids) == 3
    assert 0 < len(part.questions) < len(whole_set.questions)
    assert all(set(one.gold) <= ids for one in part.questions)
    assert fewer(whole_set, None, 0) == whole_set


def test_tables_and_plots_hold_every_configuration(on_talks: SetReport, tmp_path: Path) -> None:
    report = whole(on_talks)
    made = list(tables(report, 200))
    assert [table.row_count for table in made] == [len(on_talks.configurations)] * 3
    drawn = draw(report, tmp_path)
    assert [path.name for path in drawn] == [
        "a-talks-measures.png", "a-talks-types.png", "a-talks-context.png",
    ]  # fmt: skip
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000 for path in drawn)


def test_what_cannot_be_asked_for_is_named() -> None:
    with pytest.raises(Unavailable, match="reranker"):
        chosen(["no-rerank"], Means())
    assert "no-rerank" in [one.name for one in chosen([], Means(reranks=True))]
    with pytest.raises(Unavailable, match="hybrod"):
        chosen(["hybrod"], Means())
    with pytest.raises(Unavailable, match="crossed"):
        chosen(["mrag-crossed"], Means())
    with pytest.raises(Unavailable, match="alpha-0"):
        chosen(["alpha-0"], Means(remote=True))
    assert DEFAULT in [one.name for one in chosen([], Means(remote=True))]


def test_broken_sets_are_named(tmp_path: Path) -> None:
    with pytest.raises(SetInvalid, match="no question set"):
        find_sets([tmp_path], [])
    tiny.talks(tmp_path / "talks")
    with pytest.raises(SetInvalid, match="other"):
        find_sets([tmp_path], ["other"])
    (tmp_path / "talks" / "docs.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(SetInvalid, match="talks: a line"):
        find_sets([tmp_path], [])
    (tmp_path / "talks" / "docs.jsonl").unlink()
    with pytest.raises(SetInvalid, match=r"docs\.jsonl is missing"):
        find_sets([tmp_path], [])
