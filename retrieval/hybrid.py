"""The candidates of a hybrid search: three trips to the store that leave no signal missing.

1. Facts: the best by their vector, by their words and by the words around them, of the whole memory.
2. Episodes: the best by summary vector and by the words of their whole text, and the parents of those facts;
   every one of them with both signals.
3. Facts again: those found first and all facts of the best episodes, every one with all four signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from retrieval.asked import Asked
from retrieval.knobs import MragKnobs
from retrieval.pools import EpisodePool, FactPool, episode_pool, fact_pool
from retrieval.protocols import Carry, Collection, Lane, Scored, SparseVector, Vector
from retrieval.scoring import Scorer, Scores
from retrieval.trips import Trips


class Probe(NamedTuple):
    """A question as the store takes it; ``dense`` is None when the encoder failed."""

    dense: Vector | None
    sparse: SparseVector


class Candidates(NamedTuple):
    """What a hybrid search ranks.

    Attributes:
        episodes, facts: the pools.
        scores: of both.
        bodies: the facts as JSON, as far as they came along.
        ranks: place of a fact in the first dense and sparse lane, from 1.
    """

    episodes: EpisodePool
    facts: FactPool
    scores: Scores
    bodies: dict[str, Scored]
    ranks: tuple[dict[str, int], dict[str, int]]


def gather(
    trips: Trips, asked: Asked, probe: Probe, scorer: Scorer, knobs: MragKnobs, top_k: int
) -> Candidates:
    """Return the candidates of a search with all their signals and scores.

    Args:
        trips: the store.
        asked: the question, understood.
        probe: the question as the store takes it.
        scorer: decides which episodes are expanded.
        knobs: depths.
        top_k: results wanted; more episodes are expanded for more.
    """
    first = _first_facts(trips, probe, knobs.fact_depth)
    dense, sparse, around = first
    seen = {hit.id: hit for lane in first for hit in lane}
    parents = {hit.traits.parent for hit in seen.values() if hit.traits and hit.traits.parent}
    episodes = _episodes(trips, probe, knobs.coarse_depth, tuple(sorted(parents)))
    partial = fact_pool(dense, sparse, (), around)
    coarse = scorer.score(asked, episodes, partial).episodes
    order = sorted(range(len(episodes.ids)), key=lambda at: (-coarse[at], episodes.ids[at]))
    expanded = tuple(episodes.ids[at] for at in order[: max(knobs.expand, 2 * top_k)])
    limit = len(seen) + len(expanded) * knobs.facts_per_episode
    lanes, fresh = _facts(trips, probe, tuple(seen), expanded, limit, knobs.fresh_depth)
    facts = fact_pool(lanes[0], lanes[1], lanes[2], lanes[3], known=(*first, *fresh))
    return Candidates(
        episodes=episodes,
        facts=facts,
        scores=scorer.score(asked, episodes, facts),
        bodies={hit.id: hit for lane in (*first, *fresh) for hit in lane},
        ranks=(_ranks(dense), _ranks(sparse)),
    )


def _ranks(lane: Sequence[Scored]) -> dict[str, int]:
    return {hit.id: at for at, hit in enumerate(lane, 1)}


def _both(probe: Probe, limit: int, carry: Carry, *, context: bool = False) -> list[Lane]:
    """The dense and the sparse lane; only the latter without a vector."""
    sparse = Lane(limit, sparse=probe.sparse, context=context, carry=carry)
    if probe.dense is None:
        return [sparse]
    return [Lane(limit, dense=probe.dense, context=context, carry=carry), sparse]


def _padded(probe: Probe, lanes: list[list[Scored]]) -> list[list[Scored]]:
    """Give the lanes that were not asked for, for want of a vector, back as empty ones."""
    if probe.dense is not None:
        return lanes
    return [part for lane in lanes for part in ([], lane)]


def _first_facts(trips: Trips, probe: Probe, depth: int) -> list[list[Scored]]:
    own = _both(probe, depth, Carry.BOTH)
    around = Lane(depth, sparse=probe.sparse, context=True, carry=Carry.BOTH)
    found = trips.search(Collection.FACTS, [*own, around])
    return [*_padded(probe, found[:-1]), found[-1]]


def _episodes(trips: Trips, probe: Probe, depth: int, parents: tuple[str, ...]) -> EpisodePool:
    best = _both(probe, depth, Carry.NOTHING)
    lanes = _both(probe, 2 * depth + len(parents), Carry.TRAITS)
    # A lane that scores needs a candidate list that holds the parents too, found by words or by vector alike.
    held = [lane._replace(limit=max(1, len(parents)), ids=parents) for lane in best]
    found = trips.search(Collection.EPISODES, [lane._replace(among=(*best, *held)) for lane in lanes])
    return episode_pool(*_padded(probe, found))


def _facts(
    trips: Trips, probe: Probe, ids: tuple[str, ...], parents: tuple[str, ...], limit: int, depth: int
) -> tuple[list[list[Scored]], list[list[Scored]]]:
    """Every signal of the facts seen and of those expanded; and the best of the latter with their items.

    A fact that leads by none of its signals among the expanded ones is not worth reading.
    """
    if not limit:
        return [[], [], [], []], []
    every = [*_both(probe, limit, Carry.NOTHING), *_both(probe, limit, Carry.NOTHING, context=True)]
    fresh = [
        *_both(probe, depth, Carry.BOTH),
        Lane(depth, sparse=probe.sparse, context=True, carry=Carry.BOTH),
    ]
    lanes = [
        *(lane._replace(ids=ids, parents=parents) for lane in every),
        *(lane._replace(parents=parents, without=ids) for lane in fresh),
    ]
    found = trips.search(Collection.FACTS, lanes)
    return _padded(probe, found[: len(every)]), found[len(every) :]
