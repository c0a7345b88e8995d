"""The candidates of a hybrid search: two or three trips to the store.

1. Facts: the best by their vector, by their words and by the words around them, of the whole memory.
2. Episodes: the best by summary vector and by the words of their whole text, and the parents of the leading
   facts.
3. Facts again, where what stands around them counts: those that lead and all facts of the best episodes,
   every one with all four signals. Elsewhere the first lists reach deep enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from retrieval.knobs import MragKnobs
from retrieval.protocols import Carry, Collection, Lane, Lanes, Scored, SparseVector, Vector
from retrieval.ranking.asked import Asked
from retrieval.ranking.pools import EpisodePool, FactPool, episode_pool, fact_pool
from retrieval.ranking.scoring import Scorer, Scores


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
    first = _first_facts(trips, probe, scorer, knobs)
    led = _Lanes(*(lane[: knobs.fact_depth] for lane in first))
    seen = _leading(led, knobs)
    episodes = _episodes(trips, probe, knobs, _parents(seen))
    known = _Lanes(*([hit for hit in lane if hit.id in seen] for lane in led))
    coarse = scorer.coarse(asked, episodes, fact_pool(known.dense, known.sparse, (), known.around))
    order = sorted(range(len(episodes.ids)), key=lambda at: (-coarse[at], episodes.ids[at]))
    best = order[: max(knobs.expand, 2 * top_k)]
    expanded = tuple(episodes.ids[at] for at in best)
    kinds = {episodes.traits[at].talk for at in best} | _kinds(seen.values())
    if scorer.counts_context(kinds):
        facts, carried = _asked_again(trips, probe, seen, expanded, knobs)
    else:
        facts, carried = _at_hand(first, seen, expanded, knobs), ()
    return Candidates(
        episodes=episodes,
        facts=facts,
        scores=scorer.score(asked, episodes, facts),
        bodies={hit.id: hit for lane in carried for hit in lane},
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


def _kinds(hits: Iterable[Scored]) -> set[bool]:
    return {hit.traits.talk for hit in hits if hit.traits}


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


def _first_facts(trips: Lanes, probe: Probe, scorer: Scorer, knobs: MragKnobs) -> _Lanes:
    """The facts that lead; by the words around them only where those found otherwise say that it counts."""
    # Tried on question sets: beyond a hundred more facts by vector change nothing, more by words do.
    own = _both(probe, max(knobs.fact_reach, knobs.fact_depth), Carry.TRAITS)
    if probe.dense is not None:
        own[0] = own[0]._replace(limit=max(knobs.fact_reach // 2, knobs.fact_depth))
    around = Lane(knobs.fact_depth, sparse=probe.sparse, context=True, carry=Carry.TRAITS)
    found = trips.search(Collection.FACTS, own if trips.near else [*own, around])
    dense, sparse = _padded(probe, found[: len(own)])
    if not scorer.counts_context(_kinds([*dense[: knobs.fact_depth], *sparse[: knobs.fact_depth]])):
        return _Lanes(dense, sparse, [])
    (beside,) = trips.search(Collection.FACTS, [around]) if trips.near else found[-1:]
    return _Lanes(dense, sparse, beside)


def _episodes(trips: Lanes, probe: Probe, knobs: MragKnobs, parents: tuple[str, ...]) -> EpisodePool:
    """The best of each lane and the parents; a signal counts as the least where a lane does not reach.

    Parents that neither lane reaches are asked about by name.
    """
    best = _both(probe, max(knobs.coarse_reach, knobs.coarse_depth), Carry.TRAITS)
    named = [] if trips.near else [lane._replace(limit=len(parents), ids=parents) for lane in best if parents]
    found = trips.search(Collection.EPISODES, [*best, *named])
    lanes = found[: len(best)]
    reached = {hit.id for lane in lanes for hit in lane}
    beyond = tuple(id_ for id_ in parents if id_ not in reached)
    if trips.near and beyond:
        asked = [lane._replace(limit=len(beyond), ids=beyond) for lane in best]
        found += trips.search(Collection.EPISODES, asked)
    wanted = {hit.id for lane in lanes for hit in lane[: knobs.coarse_depth]}.union(parents)
    by_name = [[hit for hit in lane if hit.id not in reached] for lane in found[len(best) :]]
    both = zip(lanes, by_name or [[] for _ in lanes], strict=True)
    known = [[hit for hit in (*lane, *more) if hit.id in wanted] for lane, more in both]
    dense, sparse = _padded(probe, known)
    return episode_pool(dense, sparse)


def _fresh(lanes: Iterable[Sequence[Scored]], seen: Mapping[str, Scored], depth: int) -> list[list[Scored]]:
    """The best of each lane that are new: a fact that leads by none of its signals is not worth reading."""
    return [[hit for hit in lane if hit.id not in seen][:depth] for lane in lanes]


def _asked_again(
    trips: Lanes, probe: Probe, seen: Mapping[str, Scored], parents: tuple[str, ...], knobs: MragKnobs
) -> tuple[FactPool, Sequence[Sequence[Scored]]]:
    """Every signal of the facts seen and of the best of those expanded, and what of them came whole.

    A fact that a lane leaves out has less of that signal than all it returns.
    """
    if not (seen or parents):
        return fact_pool([], [], [], []), []
    limit, deep = 3 * knobs.fact_depth, knobs.fresh_depth + len(seen)
    every = _both(probe, limit, Carry.NOTHING) + _both(probe, limit, Carry.NOTHING, context=True)
    told = [*_both(probe, deep, Carry.BOTH), Lane(deep, sparse=probe.sparse, context=True, carry=Carry.BOTH)]
    lanes = [lane._replace(ids=tuple(seen), parents=parents) for lane in (*every, *told)]
    found = trips.search(Collection.FACTS, lanes)
    carried = found[len(every) :]
    known = (tuple(seen.values()), *_fresh(carried, seen, knobs.fresh_depth))
    return fact_pool(*_padded(probe, found[: len(every)]), known=known), carried


def _at_hand(
    first: _Lanes, seen: Mapping[str, Scored], parents: tuple[str, ...], knobs: MragKnobs
) -> FactPool:
    """The same from the first lists alone, without what stands around."""
    of_parents = set(parents)
    under = [
        [hit for hit in lane if hit.traits and hit.traits.parent in of_parents]
        for lane in (first.dense, first.sparse)
    ]
    wanted = {*seen, *(hit.id for lane in _fresh(under, seen, knobs.fresh_depth) for hit in lane)}
    dense, sparse = ([hit for hit in lane if hit.id in wanted] for lane in (first.dense, first.sparse))
    return fact_pool(dense, sparse, (), ())
