from __future__ import annotations

import re
from itertools import pairwise

from retrieval.evaluation.off_topic import evenly, nonsense


def test_nonsense_is_the_same_for_the_same_seed_and_half_of_it_chinese() -> None:
    found = nonsense(40, seed=1)
    assert found == nonsense(40, seed=1)
    assert found != nonsense(40, seed=2)
    assert len(set(found)) == 40
    assert sum(bool(re.match(r"[\u4e00-\u9fff]", text)) for text in found) == 20


def test_a_sample_is_spread_evenly() -> None:
    items = list(range(100))
    sample = evenly(items, 10, seed=3)
    assert len(sample) == 10
    assert sample == sorted(set(sample))
    assert {two - one for one, two in pairwise(sample)} <= {9, 10, 11}
    assert evenly(items, 10, seed=3) == sample
    assert evenly(items, 200) == items
    assert evenly([1, 2, 3], 3) == [1, 2, 3]
