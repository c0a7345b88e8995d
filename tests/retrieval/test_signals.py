from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.asked import ask
from retrieval.ranking.pools import EpisodePool, FactPool
from retrieval.ranking.signals import (
    EPISODE_SIGNALS,
    FACT_SIGNALS,
    SEARCH_SIGNALS,
    episode_signals,
    fact_signals,
    search_signals,
    standard,
)
from retrieval.traits import Traits


def pool(*traits: Traits, bm25: list[float] | None = None) -> FactPool:
    size = len(traits)
    values = np.array(bm25 or [1.0] * size)
    ids = tuple(f"f{at}" for at in range(size))
    return FactPool(ids, traits, np.linspace(0.9, 0.7, size), values, np.full(size, 0.8), values)


def test_leaders_are_zero_and_depth_changes_nothing() -> None:
    deep = np.concatenate([np.linspace(0.9, 0.8, 100), np.full(500, 0.7)])
    assert standard(deep, 0.01)[:100] == pytest.approx(standard(deep[:100], 0.01))
    assert standard(deep, 0.01)[:10].mean() == pytest.approx(0)


def test_a_missing_vector_counts_as_the_least_alike() -> None:
    found = standard(np.array([0.9, np.nan, 0.7]), 0.01)
    assert found[1] == found[2] < found[0]
    assert list(standard(np.array([np.nan, np.nan]), 0.01)) == [0, 0]


@given(st.lists(st.floats(0, 50), max_size=30))
def test_standard_keeps_order(values: list[float]) -> None:
    found = standard(np.array(values), 0.5)
    assert np.isfinite(found).all()
    assert (np.diff(found[np.argsort(values)]) >= 0).all()


def test_all_signals_are_there_and_aligned() -> None:
    told = Traits("e1", language="en", people=("ann",), others=("bo",), words=3, timed=True)
    facts = pool(told, Traits("e2", language="en", question=True))
    asked = ask("When did Ann leave?")
    found = fact_signals(asked, facts)
    assert tuple(found) == FACT_SIGNALS
    assert list(found["named"]) == [0.5, -0.5]
    assert list(found["time"]) == [1, 0]
    assert list(found["question"]) == [0, 1]
    episodes = EpisodePool(("e1", "e2", "e3"), (Traits(language="en"),) * 3, np.full(3, 0.8), np.zeros(3))
    coarse = episode_signals(asked, episodes, facts)
    assert tuple(coarse) == EPISODE_SIGNALS
    assert coarse["best_cosine"][0] > coarse["best_cosine"][1] == coarse["best_cosine"][2]


def test_words_count_little_across_scripts() -> None:
    facts = pool(*(Traits("e", language="zh"),) * 2, bm25=[9.0, 0.0])
    across, within = (np.ptp(fact_signals(ask(text), facts)["bm25"]) for text in ("tomato", "番茄"))
    assert across == pytest.approx(0.2 * within)


def test_what_no_word_can_match_is_worth_what_its_kind_is_on_the_whole() -> None:
    facts = pool(
        Traits("e", language="en"), Traits("e", language="en"), Traits("f", language="zh"), bm25=[9, 0, 0]
    )
    hit, missed, foreign = fact_signals(ask("tomato"), facts)["bm25"]
    assert hit > foreign > missed


def test_neighbours_lend_their_matches() -> None:
    told = [Traits("e", place=at) for at in range(3)]
    found = fact_signals(
        ask("What did Ann buy?"), pool(*told, Traits("f", place=3), bm25=[5.0, 1.0, 3.0, 4.0])
    )
    own, before = found["bm25"], found["before_bm25"]
    assert list(before) == pytest.approx([own.min(), own[0], own[1], own.min()])


def test_how_well_the_best_match_is_told_in_absolute_terms() -> None:
    facts = pool(*(Traits("e", language="en"),) * 4, bm25=[8.0, 4.0, 0.0, 0.0])
    found = search_signals(ask("tomato prices"), facts)
    assert tuple(found) == SEARCH_SIGNALS
    assert found["cosine_latin"] == pytest.approx(0.9)
    assert found["words_latin"] == pytest.approx((8 + 4 + 0) / 3 / 2)
    assert sum(np.isnan(value) for value in found.values()) == len(SEARCH_SIGNALS) - 2


def test_between_scripts_only_the_lead_tells_how_well_the_best_match() -> None:
    facts = pool(*(Traits("e", language="en"),) * 4)
    found = search_signals(ask("番茄"), facts)
    assert found["lead_from_cjk"] == pytest.approx(facts.cosine[:3].mean() - facts.cosine.mean())
    assert sum(np.isnan(value) for value in found.values()) == len(SEARCH_SIGNALS) - 1
    blind = facts._replace(cosine=np.full(4, np.nan))
    assert np.isnan(list(search_signals(ask("番茄"), blind).values())).all()
    assert np.isnan(list(search_signals(ask("番茄"), pool()).values())).all()


@pytest.mark.parametrize(
    ("question", "person", "named"),
    [
        ("What did Ann Lee say?", "ann lee", True),
        ("What did Ann say?", "ann lee", True),
        ("What did Lee say?", "ann lee", False),
        ("What did Anna say?", "ann", False),
        ("王芳说了什么？", "王芳", True),
        ("What did ANN's dog eat?", "ann", True),
    ],
)
def test_who_is_named(question: str, person: str, named: bool) -> None:
    assert ask(question).names((person,)) is named


def test_what_is_asked_for() -> None:
    assert ask("When did it start?").time
    assert ask("你什么时候回来？").time
    assert ask("How many dogs?").number
    assert not ask("Who whenever comes?").time
