from __future__ import annotations

import numpy as np
import pytest

from retrieval.protocols import Vector
from retrieval.sparse import encode_query
from retrieval.surroundings import alone, surroundings
from retrieval.traits import Traits, episode_traits, fact_traits, is_question, names_number, names_time
from tests.retrieval.builders import a_fact, an_episode, day


def axis(at: int) -> Vector:
    vector = np.zeros(8, dtype=np.float32)
    vector[at] = 1
    return vector


def test_neighbours_count_less_the_further_they_stand() -> None:
    facts = [a_fact(position=at, text=f"word{at}").fact for at in range(6)]
    first = surroundings(facts, [axis(at) for at in range(6)], None)[0].dense
    assert first is not None
    assert np.linalg.norm(first) == pytest.approx(1)
    assert list(first / first[0]) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 0, 0, 0, 0])


def test_terms_reach_two_facts_to_each_side() -> None:
    facts = [a_fact(position=at, text=f"word{at}", topic_name="Zebra").fact for at in range(6)]
    terms = set(surroundings(facts, [None] * 6, None)[3].sparse.indices)
    assert terms == set(encode_query("word1 word2 word3 word4 word5 zebra").indices)


def test_a_fact_without_a_vector_gets_none_and_lends_none() -> None:
    facts = [a_fact(position=at).fact for at in range(2)]
    found = surroundings(facts, [None, axis(0)], None)
    assert found[0].dense is None
    assert list(found[1].dense) == list(axis(0))  # type: ignore[arg-type]


def test_traits_tell_what_stands_before() -> None:
    asked = a_fact(position=0, text="Where did you go last week?", speaker="Zoë").fact
    told = a_fact(position=1, text="To Lyon, with three friends.", occurred=day(1)).fact
    first, second = (around.traits for around in surroundings([asked, told], [None, None], day(4)))
    assert (first.question, first.answers, first.timed, first.people) == (True, False, True, ("zoë",))
    assert (second.question, second.answers, second.counted, second.words) == (False, True, True, 5)
    assert first.start == first.told_start == day(4).start.timestamp()
    assert second.start == day(1).start.timestamp()
    assert second.told_end == day(4).end.timestamp()


def test_traits_survive_being_stored() -> None:
    for traits in (
        fact_traits(a_fact(speaker="Bo", occurred=day(0)).fact, None),
        episode_traits(an_episode(participants=("Ann", "Bo"), occurred=day(0)).episode),
        alone(a_fact(), None, encode_query("x")).traits,
    ):
        packed = traits.packed()
        assert isinstance(packed, list)
        assert Traits.unpacked(packed) == traits


@pytest.mark.parametrize("text", ["Why?", "为什么？", 'He asked "why?"', "Why?) "])
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["Why? Because.", "No.", ""])
def test_statements(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize("text", ["on Friday", "two years ago", "in 2019", "昨天去了", "上个月", "2023年"])
def test_times(text: str) -> None:
    assert names_time(text)


@pytest.mark.parametrize("text", ["a mayor", "Monet", "苹果"])
def test_no_times(text: str) -> None:
    assert not names_time(text)


@pytest.mark.parametrize("text", ["3 dogs", "twice", "三个人"])
def test_numbers(text: str) -> None:
    assert names_number(text)


def test_no_numbers() -> None:
    assert not names_number("someone was alone")
