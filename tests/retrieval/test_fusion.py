from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.fusion import rrf, sigmoid
from retrieval.sparse import encode_query


def test_rrf_counts_ranks_and_gives_zero_scores_no_vote() -> None:
    dense = np.array([0.9, 0.8, 0.7, np.nan])
    sparse = np.array([0.0, 3.0, 0.0, 5.0])
    fused = rrf([dense, sparse], 60)
    scale = 61 / 2
    assert fused == pytest.approx([scale / 61, scale * (1 / 62 + 1 / 62), scale / 63, scale / 61])


def test_rrf_is_one_for_the_leader_of_every_lane_and_ties_share_a_rank() -> None:
    assert rrf([np.array([2.0, 1.0]), np.array([5.0, 5.0])], 60)[0] == pytest.approx(1)
    assert rrf([np.array([5.0, 5.0])], 60) == pytest.approx([1, 1])


def test_rrf_weights_votes_per_lane_and_per_item() -> None:
    lanes = [np.array([2.0, 1.0]), np.array([1.0, 2.0])]
    assert rrf(lanes, 60, [1.0, 0.2]).argmax() == 0
    assert rrf(lanes, 60, [1.0, np.array([0.0, 1.0])]).argmax() == 1


def test_rrf_of_nothing_is_nothing() -> None:
    assert len(rrf([], 60)) == 0
    assert len(rrf([np.array([])], 60)) == 0


@given(st.lists(st.floats(0, 10), min_size=1, max_size=20), st.integers(1, 100))
def test_rrf_stays_in_range_and_keeps_the_order_of_one_lane(values: list[float], k: int) -> None:
    lane = np.array(values)
    fused = rrf([lane], k)
    assert ((fused >= 0) & (fused <= 1)).all()
    assert (fused[lane.argmax()] >= fused).all()


def test_sigmoid_is_safe() -> None:
    assert list(sigmoid(np.array([-1e6, 0.0, 1e6]))) == [0.0, 0.5, 1.0]


def test_a_question_is_its_telling_words_unless_it_has_none() -> None:
    assert encode_query("What did the cat do?") == encode_query("cat")
    assert encode_query("Who is it?").indices
    assert encode_query("Was war die Katze?", "de") == encode_query("Katze", "de")
