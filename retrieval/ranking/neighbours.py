"""Which facts of a pool belong together, and which stand next to each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.traits import Traits

Places = NDArray[np.intp]
# More facts than an episode has.
_STRIDE = 2**40


class Line(NamedTuple):
    """For each fact of a pool the row of the one right before and right after it; -1 where there is none."""

    before: Places
    after: Places


def coded(values: Sequence[Hashable]) -> Places:
    """Return a number for each value, the same for equal ones, from 0 in the order of first appearance."""
    codes = {value: at for at, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(codes.__getitem__, values), dtype=np.intp, count=len(values))


def earlier(order: Places, groups: Places) -> Places:
    """Return for each row how many rows of its group stand before it in an order.

    Args:
        order: the rows, the first one first.
        groups: the group of each row.
    """
    found = np.zeros(len(order), dtype=np.intp)
    if len(order):
        line = order[np.argsort(groups[order], kind="stable")]  # group after group, each in the order
        begins = np.flatnonzero(np.diff(groups[line], prepend=-1))
        lengths = np.diff(begins, append=len(line))
        found[line] = np.arange(len(line)) - np.repeat(begins, lengths)
    return found


def beside(traits: Sequence[Traits]) -> Line:
    """Return the neighbours of each fact, as far as they are in the pool too."""
    places = np.fromiter((one.place for one in traits), dtype=np.int64, count=len(traits))
    keys = coded([one.parent for one in traits]) * _STRIDE + places
    order = np.argsort(keys, kind="stable")
    return Line(_at(keys, order, -1), _at(keys, order, 1))


def _at(keys: NDArray[np.int64], order: Places, step: int) -> Places:
    if not len(keys):
        return np.zeros(0, dtype=np.intp)
    ranked, wanted = keys[order], keys + step
    # The last of equal ones.
    at = np.searchsorted(ranked, wanted, side="right") - 1
    return np.where((at >= 0) & (ranked[at] == wanted), order[at], -1)
