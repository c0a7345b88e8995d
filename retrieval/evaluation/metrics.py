"""Measures of a ranked list against its gold, and how sure they are.

A hit may cover several gold passages (an exchange of two turns, an episode of twenty), so a list is given as
the set of passages each hit covers. Recall counts gold passages covered so far; MRR the first hit that covers
any; nDCG gives a hit the grades of the gold it is the first to cover.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from retrieval.ranking.fusion import Floats

Covered = Sequence[Collection[str]]


class Interval(NamedTuple):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def recall_at(hits: Covered, gold: Collection[str], k: int) -> float:
    """Return the share of the gold that the first ``k`` hits cover."""
    wanted = set(gold)
    return len(wanted & set().union(*hits[:k])) / len(wanted)


def hit_at(hits: Covered, gold: Collection[str], k: int) -> float:
    """Return 1 when the first ``k`` hits cover any gold, else 0."""
    return float(recall_at(hits, gold, k) > 0)


def all_at(hits: Covered, gold: Collection[str], k: int) -> float:
    """Return 1 when the first ``k`` hits cover all gold, else 0."""
    return float(recall_at(hits, gold, k) == 1)


def reciprocal_rank(hits: Covered, gold: Collection[str], k: int) -> float:
    """Return 1 / the rank of the first of ``k`` hits that covers any gold, 0 when none does."""
    wanted = set(gold)
    ranks = (rank for rank, covered in enumerate(hits[:k], 1) if not wanted.isdisjoint(covered))
    return next((1 / rank for rank in ranks), 0.0)


def ndcg_at(hits: Covered, gold: Mapping[str, int], k: int) -> float:
    """Return the discounted gain of ``k`` hits over that of gold first (Järvelin & Kekäläinen 2002)."""
    left = dict(gold)
    gain = 0.0
    for rank, covered in enumerate(hits[:k], 1):
        gain += sum(left.pop(id_) for id_ in set(covered) & left.keys()) / log2(rank + 1)
    best = sorted(gold.values(), reverse=True)[:k]
    ideal = sum(grade / log2(rank + 1) for rank, grade in enumerate(best, 1))
    return min(1.0, gain / ideal)


def interval(values: Sequence[float], rounds: int = 1000, seed: int = 0) -> Interval:
    """Return the mean of some questions' values and its percentile bootstrap interval (Efron 1979)."""
    return intervals(np.asarray(values, dtype=np.float64)[:, None], rounds, seed)[0]


def intervals(rows: Floats, rounds: int = 1000, seed: int = 0) -> list[Interval]:
    """Return mean and percentile bootstrap interval of each column; all columns see the same draws.

    Args:
        rows: shape (questions, measures).
        rounds: how often questions are drawn with replacement.
        seed: of the draws; equal seeds give equal intervals.
    """
    count = len(rows)
    if not count:
        return [Interval(float("nan"), float("nan"), float("nan"))] * rows.shape[1]
    # Drawing n of n questions is drawing how often each comes up.
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), rounds)
    low, high = np.percentile(drawn @ rows / count, [2.5, 97.5], axis=0)
    return [Interval(*map(float, one)) for one in zip(rows.mean(axis=0), low, high, strict=True)]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often a positive scores above a negative; ties count half (Mann & Whitney 1947)."""
    scores: Floats = np.asarray(negative, dtype=np.float64)
    above = sum(float(np.sum(scores < one) + 0.5 * np.sum(scores == one)) for one in positive)
    return above / (len(positive) * len(scores))
