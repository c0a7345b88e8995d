"""The mRAG loop: from coarse episodes and the facts under them to one answer. Pure, no I/O.

What the answer is. Every coarse episode and every expanded fact is a candidate; a fact's final score is
``alpha * fact + (1 - alpha) * episode``. Walk the candidates from the best down: a fact takes a place, an
episode takes one unless a fact of it already has, and the first fact of an episode that holds a place takes
over that very place. Stop at ``top_k`` places. So a fact evicts its parent exactly as long as a fact of it
stands in the answer, a parent never stands beside its own fact, and ``top_k`` results come back when that
many exist.

How it is reached without knowing all facts. A max-heap hands out episodes batch by batch, a min-heap holds
what is above the bar. New facts can only raise the bar, so whatever falls below it is gone for good, and a
parent whose last fact falls takes its place back if its own score is still above the bar.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class CoarseEpisode(NamedTuple):
    """An episode of the coarse stage; ``score`` is a real number, the higher the better."""

    id: str
    score: float


class ScoredFact(NamedTuple):
    """A fact of an expanded episode; ``score`` is its own, on the scale of the episodes'."""

    id: str
    score: float


FactSource = Callable[[Sequence[str]], Mapping[str, Sequence[ScoredFact]]]


class Survivor(NamedTuple):
    """A result of the loop.

    Attributes:
        id: of the fact or the episode.
        score: the final score it is sorted by.
        parent: id of the episode a fact stands for; None for an episode.
        fact_score: a fact's own score; None for an episode.
        episode_score: the coarse score of the episode itself, or of the fact's parent.
    """

    id: str
    score: float
    parent: str | None
    fact_score: float | None
    episode_score: float


class MragOutcome(NamedTuple):
    """The answer, best first, and how the loop went."""

    survivors: tuple[Survivor, ...]
    rounds: int
    expanded: int
    facts_seen: int
    converged: bool


class _Reversed(str):
    """An id that sorts backwards, so that of two equal scores the larger id is the worse one."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)


class _Answer:
    """The bounded min-heap: everything above the bar, with the count of places taken."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[tuple[float, _Reversed, Survivor]] = []
        self._above: set[str] = set()
        self._facts_of: dict[str, int] = {}
        self._places = 0

    def add(self, item: Survivor) -> None:
        if self._places >= self._size and (item.score, _Reversed(item.id)) < self._heap[0][:2]:
            return  # below the bar: it would fall at once
        heapq.heappush(self._heap, (item.score, _Reversed(item.id), item))
        self._above.add(item.id)
        if item.parent is None:
            self._places += not self._facts_of.get(item.id)
        else:
            siblings = self._facts_of.get(item.parent, 0)
            self._facts_of[item.parent] = siblings + 1
            takes_over = siblings == 0 and item.parent in self._above
            self._places += not takes_over
        while self._places - self._weight_of_last() >= self._size:
            self._drop_last()

    def _weight_of_last(self) -> int:
        """How many places the answer loses when its last item falls: 0 or 1."""
        last = self._heap[0][2]
        if last.parent is None:
            return 0 if self._facts_of.get(last.id) else 1
        returns = self._facts_of[last.parent] == 1 and last.parent in self._above
        return 0 if returns else 1

    def _drop_last(self) -> None:
        self._places -= self._weight_of_last()
        _, _, last = heapq.heappop(self._heap)
        self._above.discard(last.id)
        if last.parent is not None:
            self._facts_of[last.parent] -= 1

    def survivors(self) -> list[Survivor]:
        """Return what holds a place, best first."""
        return sorted(self._standing(), key=lambda item: (-item.score, item.id))

    def ids(self) -> frozenset[str]:
        return frozenset(item.id for item in self._standing())

    def _standing(self) -> Iterator[Survivor]:
        for _, _, item in self._heap:
            if item.parent is not None or not self._facts_of.get(item.id):
                yield item


def run(
    episodes: Iterable[CoarseEpisode],
    facts_of: FactSource,
    *,
    top_k: int,
    alpha: float = 0.5,
    batch: int = 8,
    patience: int = 10,
) -> MragOutcome:
    """Expand the best episodes batch by batch and return the best mix of episodes and facts.

    Args:
        episodes: the coarse stage's result, any order, ids unique.
        facts_of: returns the scored facts of a batch of episodes; an episode without facts may be missing.
        top_k: results wanted, at least 1.
        alpha: share of the fact's own score in its final score, 0 to 1.
        batch: episodes expanded per round.
        patience: rounds that brought facts but left the answer as it was before the loop stops.
    """
    scores = {episode.id: episode.score for episode in episodes}
    answer = _Answer(top_k)
    # The best first: then nearly all others fall at the bar.
    for identity, score in sorted(scores.items(), key=lambda one: -one[1]):
        answer.add(Survivor(identity, score, None, None, score))
    queue = [(-score, identity) for identity, score in scores.items()]
    heapq.heapify(queue)
    rounds = expanded = seen = stale = 0
    standing = answer.ids()
    while queue and stale < patience:
        popped = [heapq.heappop(queue)[1] for _ in range(min(batch, len(queue)))]
        rounds, expanded = rounds + 1, expanded + len(popped)
        found = facts_of(popped)
        fresh = 0
        for parent in popped:
            for fact in found.get(parent, ()):
                final = alpha * fact.score + (1 - alpha) * scores[parent]
                answer.add(Survivor(fact.id, final, parent, fact.score, scores[parent]))
                fresh += 1
        seen += fresh
        if fresh:
            before, standing = standing, answer.ids()
            stale = 0 if standing != before else stale + 1
    return MragOutcome(tuple(answer.survivors()), rounds, expanded, seen, bool(queue))
