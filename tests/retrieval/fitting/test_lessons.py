from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from retrieval.embedders.fake import HashEmbedder
from retrieval.evaluation.sets import Passage, Question, QuestionSet
from retrieval.fitting.lessons import OFF_TOPIC, lessons
from retrieval.knobs import MragKnobs
from retrieval.protocols import Embedder, VectorStore
from retrieval.ranking.signals import EPISODE_SIGNALS, FACT_SIGNALS, SEARCH_SIGNALS
from tests.fakes import MemoryStore

TURNS = (
    "Did you feed the parrot?",
    "Yes, the parrot ate two walnuts this morning.",
    "I sold the canoe in May.",
)
TALKS = QuestionSet(
    "talks",
    tuple(
        Passage(f"c{talk}:{at}", text, {"conv": f"c{talk}", "session": f"c{talk}", "speaker": "AB"[at % 2]})
        for talk in range(2)
        for at, text in enumerate(TURNS)
    ),
    tuple(
        Question(f"q{talk}", "Who sold the canoe?", "plain", f"c{talk}", {f"c{talk}:2": 1})
        for talk in range(2)
    ),
)
TEXTS = QuestionSet(
    "texts",
    (
        Passage("t1", "The museum opens at nine. It closes at noon.", {}),
        Passage("t2", "Owls hunt at night.", {}),
    ),
    (Question("q", "When does the museum close?", "plain", None, {"t1": 1}, answer="noon"),),
)


@contextmanager
def room(_: str) -> Iterator[tuple[VectorStore, Embedder]]:
    yield MemoryStore(), HashEmbedder()


def test_sets_become_samples_with_truth_and_questions_about_nothing() -> None:
    told: list[str] = []
    found = lessons(room, [TALKS, TEXTS], MragKnobs(), 10, told.append)
    assert len(told) == 4
    answerable = [one for one in found if one.gold]
    assert [one.set_name for one in answerable] == ["talks", "talks", "texts"]
    for one in answerable:
        assert tuple(one.facts) == FACT_SIGNALS
        assert tuple(one.episodes) == EPISODE_SIGNALS
        assert tuple(one.search) == SEARCH_SIGNALS
        assert one.answers.sum() == 1
        assert one.holds[one.parent[one.answers]].all()
    assert {one.talk for one in answerable[:2]} == {True}
    assert len({one.group for one in answerable}) == 3
    strange = [one for one in found if one.kind == OFF_TOPIC]
    assert strange
    assert not any(one.answers.any() or one.holds.any() for one in strange)


def test_the_statement_with_the_answer_is_the_one_to_find() -> None:
    museum = next(one for one in lessons(room, [TEXTS], MragKnobs(), 10, lambda _: None) if one.gold)
    golden = [bool(shown & museum.gold) for shown in museum.shows]
    assert sum(golden) == 2
    assert museum.answers.sum() == 1
