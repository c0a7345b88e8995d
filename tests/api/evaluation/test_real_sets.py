"""The evaluation on real question sets, a few questions each: are they understood and judged rightly?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from api.evaluation.configurations import Means, chosen
from api.evaluation.course import Course, narrowed
from api.evaluation.ground import connected, own_settings
from api.evaluation.place import on_ground
from api.evaluation.run import measure_set
from api.evaluation.sets import find_sets
from retrieval.embedders.fake import HashEmbedder
from retrieval.evaluation.flat import FlatIndex, single
from retrieval.evaluation.judging import measure
from retrieval.evaluation.off_topic import evenly
from retrieval.evaluation.sets import QuestionSet
from retrieval.sparse import encode_query
from workers.settings import Settings

SETS = os.environ.get("RETRIEVAL_DIR", "")
pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not SETS, reason="RETRIEVAL_DIR is not set")]


def the_set(name: str) -> QuestionSet:
    if not (Path(SETS) / name).is_dir():
        pytest.skip(f"{name} is not there")
    return find_sets([Path(SETS)], [name])[0]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("locomo_dev", {"multi-hop", "open-domain", "single-hop", "temporal", "adversarial"}),
        ("qmsum_dev", {"single-span", "multi-span"}),
        ("madial_zh", {"dialogue-recall"}),
        ("xquad_en_zh", {"en>en", "en>zh", "zh>en", "zh>zh"}),
        ("hotpotqa100", {"multi-hop"}),
        ("cmrc2018_zh", {"single-hop"}),
    ],
)
def test_each_set_is_searched_where_it_should_be(name: str, kinds: set[str]) -> None:
    found = the_set(name)
    memories = {found.memory_of(one) for one in found.passages}
    texts = {"en", "zh"} if found.parallel else {"all"}
    expected = {one.scope for one in found.passages} if found.talks else texts
    assert memories == expected
    assert {one.kind for one in found.questions} == kinds
    home = {one.id: found.memory_of(one) for one in found.passages}
    for question in found.questions:
        assert all(home[id_] == question.memory for id_ in question.gold), question.id


def test_chinese_words_find_chinese_paragraphs() -> None:
    found = the_set("cmrc2018_zh")
    index = FlatIndex(single(found.passages), HashEmbedder(8))
    asked = evenly(found.questions, 150)
    hits = [
        measure(
            [hit.covers for hit in index.best(index.bm25(encode_query(one.text, "zh")), 5)], one.gold, (5,)
        )
        for one in asked
    ]
    assert sum(one["recall@5"] for one in hits) / len(asked) >= 0.97


def test_a_meeting_goes_through_the_pipeline(tmp_path: Path) -> None:
    found = narrowed(the_set("qmsum_dev"), 1, 0)
    course = Course(tuple(chosen(["flat-bm25", "keyword"], Means())), (5,), 5, None, 0, tmp_path, reuse=False)
    settings = own_settings(Settings(), tmp_path, ":memory:", "")
    with connected(settings, QdrantClient(":memory:"), tmp_path / "v.db", HashEmbedder(64)) as made:
        report = measure_set(found, [], course, on_ground(made), lambda _: None)
    assert report.ingest["facts"] >= 0.5 * report.passages  # type: ignore[operator]
    flat, keyword = report.configurations
    assert keyword.levels["evidence"]["all"].values["hit@5"].mean >= 0.5  # type: ignore[index]
    assert keyword.context.characters["5"] > flat.context.characters["5"]
