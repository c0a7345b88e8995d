from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.mrag import CoarseEpisode, MragOutcome, ScoredFact, Survivor, run

World = dict[str, tuple[float, list[float]]]
# Few distinct scores, so that ties are common; log-odds may be negative.
SCORES = st.integers(-8, 8).map(lambda n: n / 8)
WORLDS: st.SearchStrategy[World] = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=2), st.tuples(SCORES, st.lists(SCORES, max_size=4)), max_size=12
)


def facts(world: World, parent: str) -> list[ScoredFact]:
    return [ScoredFact(f"{parent}.{at}", score) for at, score in enumerate(world[parent][1])]


def search(world: World, **knobs: float) -> MragOutcome:
    def facts_of(parents: Sequence[str]) -> Mapping[str, Sequence[ScoredFact]]:
        return {parent: facts(world, parent) for parent in parents if world[parent][1]}

    episodes = [CoarseEpisode(name, score) for name, (score, _) in world.items()]
    return run(episodes, facts_of, **{"top_k": 5, "alpha": 0.5, "batch": 3, "patience": 10**6, **knobs})  # type: ignore[arg-type]


def brute_force(world: World, top_k: int, alpha: float) -> list[Survivor]:
    """Everything known at once: walk down the sorted candidates until ``top_k`` places are taken."""
    candidates = [Survivor(name, score, None, None, score) for name, (score, _) in world.items()]
    for name, (score, _) in world.items():
        for fact in facts(world, name):
            final = alpha * fact.score + (1 - alpha) * score
            candidates.append(Survivor(fact.id, final, name, fact.score, score))
    answer: list[Survivor] = []
    for item in sorted(candidates, key=lambda item: (-item.score, item.id)):
        if len(answer) == top_k:
            break
        if item.parent is None:
            if all(other.parent != item.id for other in answer):
                answer.append(item)
        else:
            answer = [other for other in answer if other.id != item.parent] + [item]
    return answer


@given(WORLDS, st.integers(1, 12), st.sampled_from((0.0, 0.25, 0.5, 1.0)), st.integers(1, 5))
def test_equals_brute_force(world: World, top_k: int, alpha: float, batch: int) -> None:
    found = search(world, top_k=top_k, alpha=alpha, batch=batch)
    assert list(found.survivors) == brute_force(world, top_k, alpha)
    assert found.expanded == len(world)
    assert not found.converged


@given(WORLDS, st.integers(1, 12), st.sampled_from((0.0, 0.5, 1.0)), st.integers(1, 5), st.integers(1, 4))
def test_invariants_hold_whenever_it_stops(
    world: World, top_k: int, alpha: float, batch: int, patience: int
) -> None:
    found = search(world, top_k=top_k, alpha=alpha, batch=batch, patience=patience)
    ids = {item.id for item in found.survivors}
    parents = {item.parent for item in found.survivors if item.parent is not None}
    assert not ids & parents
    assert len(ids) == len(found.survivors) <= top_k
    assert len(ids) >= min(top_k, len(world))
    assert list(found.survivors) == sorted(found.survivors, key=lambda item: (-item.score, item.id))


@given(WORLDS, st.integers(1, 60))
def test_as_many_results_as_exist(world: World, top_k: int) -> None:
    possible = sum(max(1, len(own)) for _, own in world.values())
    assert len(search(world, top_k=top_k).survivors) == min(top_k, possible)


def test_a_fact_takes_its_parents_place_and_no_other() -> None:
    world: World = {"a": (0.8, [0.9, 0.1]), "b": (0.6, [])}
    assert [item.id for item in search(world, top_k=2).survivors] == ["a.0", "b"]


def test_a_parent_returns_when_better_facts_push_its_own_out() -> None:
    world: World = {"a": (0.9, [0.0]), "b": (0.4, [0.9, 0.8])}
    assert [item.id for item in search({**world, "b": (0.4, [])}, top_k=2).survivors] == ["a.0", "b"]
    assert [item.id for item in search(world, top_k=2, batch=1).survivors] == ["a", "b.0"]


def test_patience_counts_only_rounds_that_brought_facts() -> None:
    world: World = {f"e{at}": (1 - at / 100, []) for at in range(20)} | {"z": (0.5, [1.0])}
    found = search(world, top_k=30, batch=1, patience=1)
    assert found.expanded == 21
    assert "z.0" in {item.id for item in found.survivors}


def test_it_stops_after_fruitless_rounds() -> None:
    world: World = {f"e{at:02}": (1 - at / 100, [0.0]) for at in range(40)}
    found = search(world, top_k=2, batch=2, patience=3)
    assert (found.rounds, found.expanded, found.converged) == (3, 6, True)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_alpha_is_the_facts_own_share(alpha: float) -> None:
    found = search({"a": (0.25, [1.0])}, top_k=1, alpha=alpha).survivors[0]
    assert found.score == (1.0 if alpha else 0.25)
