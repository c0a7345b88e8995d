from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extract.model import AtomicFact, Episode, SegmentKind
from ingest.anchors import SectionAnchor
from retrieval.protocols import Vector
from retrieval.sparse import encode_query
from retrieval.surroundings import Neighbour, alone, connected, surroundings
from retrieval.traits import Traits, episode_traits, fact_traits, is_question, names_number, names_time
from tests.retrieval.builders import a_fact, an_episode, day


def axis(at: int) -> Vector:
    vector = np.zeros(8, dtype=np.float32)
    vector[at] = 1
    return vector


def line(*facts: AtomicFact, dense: bool = True) -> list[Neighbour]:
    return [Neighbour(fact, axis(at) if dense else None) for at, fact in enumerate(facts)]


def words(count: int, **more: object) -> list[AtomicFact]:
    return [a_fact(position=at, text=f"word{at}", **more).fact for at in range(count)]


EPISODE = an_episode(occurred=day(4)).episode


def test_neighbours_count_less_the_further_they_stand() -> None:
    first = surroundings(EPISODE, line(*words(6)))[0].dense
    assert first is not None
    assert np.linalg.norm(first) == pytest.approx(1)
    assert list(first / first[0]) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 0, 0, 0, 0])


def test_terms_reach_two_facts_to_each_side() -> None:
    terms = set(surroundings(EPISODE, line(*words(6, topic_name="Zebra"), dense=False))[3].sparse.indices)
    assert terms == set(encode_query("word1 word2 word3 word4 word5 zebra").indices)


def test_neighbours_across_a_cut_count_too() -> None:
    whole = surroundings(EPISODE, line(*words(6)))
    both = line(*words(6))
    left, right = surroundings(EPISODE, both[:3], after=both[3:]), surroundings(EPISODE, both[3:], both[:3])
    for one, other in zip((*left, *right), whole, strict=True):
        np.testing.assert_array_equal(one.dense, other.dense)
        assert one[1:] == other[1:]


def test_a_fact_without_a_vector_gets_none_and_lends_none() -> None:
    found = surroundings(EPISODE, [Neighbour(words(1)[0], None), Neighbour(words(2)[1], axis(0))])
    assert found[0].dense is None
    assert list(found[1].dense) == list(axis(0))  # type: ignore[arg-type]


def test_traits_tell_what_stands_before() -> None:
    asked = a_fact(position=0, text="Where did you go last week?", speaker="Zoë").fact
    told = a_fact(
        position=1,
        text="To Lyon, with three friends.",
        occurred=day(1),
        participants=("Bo", "Zoë"),
        speaker="Bo",
    ).fact
    first, second = (around.traits for around in surroundings(EPISODE, line(asked, told)))
    assert (first.question, first.answers, first.timed, first.people) == (True, False, True, ("zoë",))
    assert (second.question, second.answers, second.counted, second.words) == (False, True, True, 5)
    assert (second.people, second.others) == (("bo",), ("zoë",))
    assert first.start == first.told_start == day(4).start.timestamp()
    assert second.start == day(1).start.timestamp()
    assert second.told_end == day(4).end.timestamp()


def test_traits_survive_being_stored() -> None:
    for traits in (
        fact_traits(a_fact(speaker="Bo", occurred=day(0)).fact, Traits(document="d", talk=True)),
        episode_traits(an_episode(participants=("Ann", "Bo"), occurred=day(0)).episode),
        alone(a_fact(), None, encode_query("x")).traits,
    ):
        packed = traits.packed()
        assert isinstance(packed, str)
        assert Traits.unpacked(packed) == traits


def test_what_goes_on_from_what() -> None:
    def part(position: int, first: int, kind: SegmentKind = SegmentKind.CONVERSATION, **more: Any) -> Episode:
        return an_episode(position=position, first=first, last=first + 4, kind=kind, **more).episode

    assert connected(part(0, 0), part(1, 5))
    assert not connected(part(0, 0), part(1, 6))
    assert not connected(part(0, 0), part(1, 5, SegmentKind.TABLE))
    assert not connected(part(0, 0, occurred=day(0)), part(1, 5, occurred=day(2)))
    here, there = SectionAnchor(heading_path=("A",)), SectionAnchor(heading_path=("B",))
    prose = SegmentKind.PROSE
    assert connected(part(0, 0, prose, anchors=(here,)), part(1, 5, prose, anchors=(here, there)))
    assert not connected(part(0, 0, prose, anchors=(here, there)), part(1, 5, prose, anchors=(here,)))
    assert not connected(part(0, 0, prose), part(1, 5, prose))


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
