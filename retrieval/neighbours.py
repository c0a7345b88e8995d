"""Which facts of a pool stand next to each other in their episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.traits import Traits

Places = NDArray[np.intp]


class Line(NamedTuple):
    """For each fact of a pool the row of the one right before and right after it; -1 where there is none."""

    before: Places
    after: Places


def beside(traits: Sequence[Traits]) -> Line:
    """Return the neighbours of each fact, as far as they are in the pool too."""
    rows = {(one.parent, one.place): row for row, one in enumerate(traits)}
    return Line(_at(rows, traits, -1), _at(rows, traits, 1))


def _at(rows: dict[tuple[str | None, int], int], traits: Sequence[Traits], step: int) -> Places:
    return np.array([rows.get((one.parent, one.place + step), -1) for one in traits], dtype=np.intp)
