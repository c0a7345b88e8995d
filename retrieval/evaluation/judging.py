"""What the hits of one question are worth against its gold, at three levels.

A hit is judged by the passages it shows, so facts, turns, chunks and whole episodes are compared fairly; an
episode of twenty turns covers them all, which is why the size of what was returned stands beside.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from retrieval.evaluation.metrics import all_at, hit_at, ndcg_at, recall_at, reciprocal_rank


class Level(StrEnum):
    """What a ranking is of.

    ``evidence``: every hit, by the passages it shows. ``fact``: statements only, as if no episode had been
    returned. ``episode``: the episodes hits belong to (the documents, for texts), each at its first hit.
    """

    EVIDENCE = "evidence"
    FACT = "fact"
    EPISODE = "episode"


class Hit(NamedTuple):
    """One result.

    Attributes:
        covers: ids of the passages it shows.
        score: in [0, 1] where the system scores so.
        characters, tokens: of the text that is returned for it; tokens are estimated.
        statement: it is a fact or a chunk, not an episode.
    """

    covers: frozenset[str]
    score: float
    characters: int
    tokens: int
    statement: bool = True


class Budget(NamedTuple):
    """How far a list is read when it may return as much text as another one."""

    characters: int
    recall: float
    hit: float


def ranking(hits: Sequence[Hit], level: Level, units: Mapping[str, str]) -> list[Collection[str]]:
    """Return the ranked list of one level.

    Args:
        hits: best first.
        level: which level.
        units: the episode (or document) of each passage.
    """
    if level is Level.EPISODE:
        found = dict.fromkeys(units[id_] for hit in hits for id_ in sorted(hit.covers) if id_ in units)
        return [{unit} for unit in found]
    return [hit.covers for hit in hits if hit.statement or level is Level.EVIDENCE]


def gold_of(gold: Mapping[str, int], level: Level, units: Mapping[str, str]) -> dict[str, int]:
    """Return the gold of one level: passages with their grades, or the episodes that hold them."""
    if level is not Level.EPISODE:
        return dict(gold)
    found: dict[str, int] = {}
    for id_, grade in gold.items():
        if id_ in units:
            found[units[id_]] = max(grade, found.get(units[id_], 0))
    return found


def measure(
    ranked: Sequence[Collection[str]], gold: Mapping[str, int], ks: Sequence[int]
) -> dict[str, float]:
    """Return all measures of one list: recall, hit, all and nDCG at each k, MRR at the largest.

    Args:
        ranked: what each hit covers, best first.
        gold: grades by id; not empty.
        ks: cut-offs, ascending.
    """
    values: dict[str, float] = {}
    for k in ks:
        values[f"recall@{k}"] = recall_at(ranked, gold, k)
        values[f"hit@{k}"] = hit_at(ranked, gold, k)
        values[f"all@{k}"] = all_at(ranked, gold, k)
        values[f"ndcg@{k}"] = ndcg_at(ranked, gold, k)
        values[f"mrr@{k}"] = reciprocal_rank(ranked, gold, k)
    return values


def within(hits: Sequence[Hit], gold: Mapping[str, int], characters: int) -> Budget:
    """Read a list as far as a number of characters lasts, the first hit in any case, and judge that part."""
    used = taken = 0
    for hit in hits:
        if taken and used + hit.characters > characters:
            break
        used += hit.characters
        taken += 1
    covered = [hit.covers for hit in hits[:taken]]
    if not covered:
        return Budget(0, 0.0, 0.0)
    return Budget(used, recall_at(covered, gold, taken), hit_at(covered, gold, taken))


def characters_at(hits: Sequence[Hit], k: int) -> int:
    """Return how much text the first ``k`` hits return."""
    return sum(hit.characters for hit in hits[:k])
