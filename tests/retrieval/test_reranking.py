from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from retrieval.deadline import Deadline, Overdue
from retrieval.embedders.fake import HashEmbedder
from retrieval.errors import RerankerRefused, RerankerUnavailable
from retrieval.extra_knobs import RerankKnobs
from retrieval.knobs import Fusion, MragKnobs
from retrieval.model import Include, SearchAnswer
from retrieval.reranking import Rerank
from retrieval.search import Extras, Searcher
from tests.fakes import MemoryStore
from tests.retrieval.test_search import ask, fill

Score = Callable[[Sequence[str]], list[float]]


class Stub:
    name = "stub"

    def __init__(self, score: Score) -> None:
        self._score = score
        self.texts: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.texts = list(texts)
        return self._score(texts)


def search(score: Score, top_k: int = 3, stub: Stub | None = None, **knobs: object) -> SearchAnswer:
    store = MemoryStore()
    fill(store)
    rerank = Rerank(stub or Stub(score), RerankKnobs.model_validate({"by": "http", **knobs}))
    mrag = MragKnobs(fusion=Fusion.RRF)
    searcher = Searcher(store, HashEmbedder(), mrag, extras=Extras(rerank=rerank))
    return searcher.search(ask("Who took the night train to Lyon?", top_k=top_k, include=[Include.TRACE]))


def leaking(texts: Sequence[str]) -> list[float]:
    return [0.9 if "hose leaks" in text else 0.1 for text in texts]


def test_the_reranker_decides_and_the_trace_tells_what_moved() -> None:
    stub = Stub(leaking)
    answer = search(leaking, top_k=2, stub=stub)
    best = answer.facts[0]
    assert best.indexed.fact.text == "The hose leaks."
    assert best.score == 0.9
    assert best.trace is not None
    assert best.trace.rerank_change is not None
    assert best.trace.rerank_change > 0
    assert best.trace.rerank_score == 0.9
    assert best.trace.fused_score is not None
    assert best.trace.fused_score < 0.9
    assert 2 < len(stub.texts) <= 6
    assert len(answer.facts) + sum(hit.answers for hit in answer.episodes) == 2
    assert answer.trace is not None
    assert answer.trace.reranker == "stub"
    assert answer.degraded == ()
    assert any(text.startswith("Trip to Lyon: ") for text in stub.texts)


def test_logits_are_read_as_chances() -> None:
    answer = search(lambda texts: [4.0 if "hose" in text else -3.0 for text in texts])
    assert answer.facts[0].indexed.fact.text == "The hose leaks."
    assert answer.facts[0].score == pytest.approx(0.982, abs=0.001)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (RerankerUnavailable("The service sleeps."), "The service sleeps."),
        (RerankerRefused("No such model."), "No such model."),
    ],
)
def test_a_failing_reranker_leaves_the_fused_order_and_says_so(raised: Exception, said: str) -> None:
    def fail(_: Sequence[str]) -> list[float]:
        raise raised

    answer = search(fail)
    assert answer.facts[0].indexed.fact.text == "Zoë took the night train to Lyon."
    assert [one.part for one in answer.degraded] == ["reranker"]
    assert said in answer.degraded[0].reason
    assert "fused order" in answer.degraded[0].reason
    assert len(answer.facts) + sum(hit.answers for hit in answer.episodes) == 3


@pytest.mark.parametrize("wrong", [[], [0.5], [float("nan")] * 7, [0.1] * 50])
def test_wrong_lengths_and_numbers_are_failures_too(wrong: list[float]) -> None:
    answer = search(lambda _: wrong)
    assert answer.facts[0].indexed.fact.text == "Zoë took the night train to Lyon."
    assert answer.degraded[0].part == "reranker"


def test_a_slow_reranker_is_not_waited_for() -> None:
    def sleep(texts: Sequence[str]) -> list[float]:
        time.sleep(1.5)
        return [0.0 for _ in texts]

    began = time.monotonic()
    answer = search(sleep, timeout_s=0.1)
    assert time.monotonic() - began < 1.4
    assert "no answer within 0.1 s" in answer.degraded[0].reason
    assert answer.facts


def test_late_calls_do_not_pile_up() -> None:
    deadline = Deadline(at_once=1)
    with pytest.raises(Overdue, match="within"):
        deadline.run(lambda: time.sleep(0.5), 0.01)
    with pytest.raises(Overdue, match="under way"):
        deadline.run(lambda: 1, 1)
    time.sleep(0.7)
    assert deadline.run(lambda: 1, 1) == 1
    with pytest.raises(ZeroDivisionError):
        deadline.run(lambda: 1 // 0, 1)
