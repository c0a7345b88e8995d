from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.neighbours import beside, coded, earlier
from retrieval.traits import Traits

GROUPS = st.lists(st.sampled_from("abcd"), max_size=20)


def test_equal_values_have_equal_numbers() -> None:
    assert coded(["x", "y", "x", None, "y"]).tolist() == [0, 1, 0, 2, 1]
    assert coded([]).tolist() == []


@given(GROUPS, st.randoms())
def test_earlier_counts_rows_of_the_same_group(groups: list[str], random: object) -> None:
    order = list(range(len(groups)))
    random.shuffle(order)  # type: ignore[attr-defined]  hypothesis hands out a random.Random
    found = earlier(np.array(order, dtype=np.intp), coded(groups))
    for at, row in enumerate(order):
        assert found[row] == sum(groups[other] == groups[row] for other in order[:at])


@given(st.lists(st.tuples(st.sampled_from(["e1", "e2", None]), st.integers(0, 6)), max_size=15, unique=True))
def test_neighbours_stand_right_beside_in_the_same_episode(places: list[tuple[str | None, int]]) -> None:
    line = beside([Traits(parent=parent, place=place) for parent, place in places])
    rows = {place: row for row, place in enumerate(places)}
    for row, (parent, place) in enumerate(places):
        assert line.before[row] == rows.get((parent, place - 1), -1)
        assert line.after[row] == rows.get((parent, place + 1), -1)
