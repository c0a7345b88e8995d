"""From results to an answer: the items behind them, and hits put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrieval.model import EpisodeHit, FactHit, IndexedEpisode, IndexedFact, SearchAnswer
from retrieval.passes import Found
from retrieval.trips import Trips


class Items:
    """The facts and episodes behind results, read once each.

    Args:
        trips: the store.
    """

    def __init__(self, trips: Trips) -> None:
        self._trips = trips
        self.facts: dict[str, IndexedFact] = {}
        self.episodes: dict[str, IndexedEpisode] = {}

    def keep(self, facts: Mapping[str, IndexedFact], episodes: Mapping[str, IndexedEpisode]) -> None:
        """Take facts and episodes that came along with a search."""
        self.facts.update(facts)
        self.episodes.update(episodes)

    def load(self, found: Sequence[Found]) -> None:
        """Read what is missing of these results: facts in one trip, episodes and parents in another."""
        lacking = [one.id for one in found if one.parent and one.id not in self.facts]
        self.facts.update(self._trips.facts(lacking))
        unread = [one.episode for one in found if one.episode not in self.episodes]
        self.episodes.update(self._trips.episodes(unread))

    def known(self, one: Found) -> bool:
        """Return whether it is there still: what was deleted since it was found is left out."""
        return one.episode in self.episodes and (one.parent is None or one.id in self.facts)

    def text(self, one: Found) -> str:
        """Return what a result says: a fact, or the text of an episode."""
        episode = self.episodes[one.episode].episode
        return self.facts[one.id].fact.text if one.parent else episode.text

    def title(self, one: Found) -> str:
        """Return the title of the episode a result is or belongs to."""
        return self.episodes[one.episode].episode.title


def compose(found: Sequence[Found], items: Items, *, traced: bool) -> SearchAnswer:
    """Put hits together, best first in each list; a fact's episode comes with it to carry it."""
    hits: list[FactHit] = []
    under: dict[str, list[FactHit]] = {}
    best: dict[str, Found] = {}
    for one in found:
        if not items.known(one):
            continue
        best.setdefault(one.episode, one)
        if one.parent is not None:
            trace = one.trace if traced else None
            hits.append(FactHit(indexed=items.facts[one.id], score=one.score, trace=trace))
            under.setdefault(one.parent, []).append(hits[-1])
    carriers = tuple(
        EpisodeHit(
            indexed=items.episodes[id_],
            score=one.score,
            facts=tuple(under.get(id_, ())),
            answers=one.parent is None,
            trace=one.trace if traced and one.parent is None else None,
        )
        for id_, one in best.items()
    )
    return SearchAnswer(episodes=carriers, facts=tuple(hits))
