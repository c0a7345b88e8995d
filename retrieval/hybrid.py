"""The candidates of a hybrid search: three trips to the store that leave no signal missing.

1. Facts: the best by their vector, by their words and by the words around them, of the whole memory.
2. Episodes: the best by summary vector and by the words of their whole text, and the parents of those facts;
   every one of them with both signals.
3. Facts again: those found first and all facts of the best episodes, every one with all four signals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrieval.asked import Asked
from retrieval.knobs import MragKnobs
from retrieval.pools import EpisodePool, FactPool, episode_pool, fact_pool
from retrieval.protocols import Carry, Collection, Lane, Lanes, Scored, SparseVector, Vector
from retrieval.scoring import Scorer, Scores


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
    trips: Lanes, asked: Asked, probe: Probe, scorer: Scorer, knobs: MragKnobs, top_k: int
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
    first = _first_facts(trips, probe, scorer, knobs.fact_depth)
    seen = _leading(first, knobs)
    episodes = _episodes(trips, probe, knobs.coarse_depth, _parents(seen))
    led = _Lanes(*([hit for hit in lane if hit.id in seen] for lane in first))
    coarse = scorer.coarse(asked, episodes, fact_pool(led.dense, led.sparse, (), led.around))
    order = sorted(range(len(episodes.ids)), key=lambda at: (-coarse[at], episodes.ids[at]))
    best = order[: max(knobs.expand, 2 * top_k)]
    kinds = {episodes.traits[at].talk for at in best} | {
        hit.traits.talk for hit in seen.values() if hit.traits
    }
    expanded = tuple(episodes.ids[at] for at in best)
    context = scorer.counts_context(kinds)
    lanes, fresh = _facts(trips, probe, tuple(seen), expanded, knobs, context=context)
    if not context:
        lanes[2:] = [], led.around
    facts = fact_pool(*lanes, known=(tuple(seen.values()), *fresh))
    return Candidates(
        episodes=episodes,
        facts=facts,
        scores=scorer.score(asked, episodes, facts),
        bodies={hit.id: hit for lane in (seen.values(), *fresh) for hit in lane},
        ranks=(_ranks(first.dense), _ranks(first.sparse)),
    )


class _Lanes(NamedTuple):
    """The facts that lead by vector, by words, and by the words around them."""

    dense: list[Scored]
    sparse: list[Scored]
    around: list[Scored]


def _leading(lanes: Sequence[Sequence[Scored]], knobs: MragKnobs) -> dict[str, Scored]:
    """The facts that lead by the ranks they were found at: a place far down one single lane wins nothing."""
    votes: Counter[str] = Counter()
    for lane in lanes:
        votes.update({hit.id: 1 / (knobs.rrf_k + at) for at, hit in enumerate(lane, 1)})
    hits = {hit.id: hit for lane in lanes for hit in lane}
    order = sorted(votes, key=lambda id_: (-votes[id_], id_))
    return {id_: hits[id_] for id_ in order[: 3 * knobs.fact_depth // 2]}


def _parents(seen: Mapping[str, Scored]) -> tuple[str, ...]:
    return tuple(sorted({hit.traits.parent for hit in seen.values() if hit.traits and hit.traits.parent}))


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


def _first_facts(trips: Lanes, probe: Probe, scorer: Scorer, depth: int) -> _Lanes:
    """The facts that lead; by the words around them only where those found otherwise say that it counts."""
    own = _both(probe, depth, Carry.BOTH)
    around = Lane(depth, sparse=probe.sparse, context=True, carry=Carry.BOTH)
    found = trips.search(Collection.FACTS, own if trips.near else [*own, around])
    dense, sparse = _padded(probe, found[: len(own)])
    kinds = {hit.traits.talk for lane in (dense, sparse) for hit in lane if hit.traits}
    if not scorer.counts_context(kinds):
        return _Lanes(dense, sparse, [])
    (beside,) = trips.search(Collection.FACTS, [around]) if trips.near else found[-1:]
    return _Lanes(dense, sparse, beside)


def _episodes(trips: Lanes, probe: Probe, depth: int, parents: tuple[str, ...]) -> EpisodePool:
    best = _both(probe, depth, Carry.NOTHING)
    # A lane that scores needs a candidate list that holds the parents too, found by words or by vector alike.
    held = [lane._replace(limit=max(1, len(parents)), ids=parents) for lane in best]
    limit = 2 * depth + len(parents)
    sparse = Lane(limit, sparse=probe.sparse, carry=Carry.TRAITS)
    if probe.dense is None:
        return episode_pool([], trips.search(Collection.EPISODES, [sparse._replace(among=(*best, *held))])[0])
    # Reading traits is what takes time, so the vector's lane does it for all but those without a vector.
    by_vector = Lane(limit, dense=probe.dense, carry=Carry.TRAITS, among=(*best, *held))
    by_words = sparse._replace(carry=Carry.NOTHING, among=(*best, *held))
    bare = sparse._replace(bare=True, among=(best[1], held[1]))
    return episode_pool(*trips.search(Collection.EPISODES, [by_vector, by_words, bare]))


def _facts(
    trips: Lanes,
    probe: Probe,
    ids: tuple[str, ...],
    parents: tuple[str, ...],
    knobs: MragKnobs,
    *,
    context: bool,
) -> tuple[list[list[Scored]], list[list[Scored]]]:
    """Every signal of the facts seen and of those expanded; and the best of the latter with their items.

    A fact that leads by none of its signals among the expanded ones is not worth reading. One that a lane
    leaves out has less of that signal than all it returns. Surroundings are asked about where they count.
    """
    if not (ids or parents):
        return [[], [], [], []], []
    limit, depth = 3 * knobs.fact_depth, knobs.fresh_depth
    every = _both(probe, limit, Carry.NOTHING)
    fresh = _both(probe, depth, Carry.BOTH)
    if context:
        every += _both(probe, limit, Carry.NOTHING, context=True)
        fresh.append(Lane(depth, sparse=probe.sparse, context=True, carry=Carry.BOTH))
    lanes = [
        *(lane._replace(ids=ids, parents=parents) for lane in every),
        *(lane._replace(parents=parents, without=ids) for lane in fresh),
    ]
    found = trips.search(Collection.FACTS, lanes)
    return _padded(probe, found[: len(every)]), found[len(every) :]
