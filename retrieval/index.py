"""Episodes and facts of one document into the store: streaming, each text encoded once, nothing left over."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple
from uuid import UUID

import numpy as np

from extract.model import AtomicFact, Episode, Extraction
from ingest.anchors import Frozen
from ingest.model import Document
from retrieval.index_texts import RowQuota, episode_dense_text, episode_terms, fact_dense_text, fact_terms
from retrieval.model import DocumentRef, EpisodeContext, IndexedEpisode, IndexedFact
from retrieval.protocols import Collection, Embedder, Surroundings, Vector, VectorStore
from retrieval.surroundings import VECTOR_REACH, Neighbour, connected, surroundings


class IndexReport(Frozen):
    """What indexing a document did.

    Attributes:
        episodes, facts: items written.
        embedded: texts handed to the encoder; equal texts of one batch count once.
        removed: items of an earlier run that this run did not yield.
        ungrounded: facts left out because their quote was not found in the source.
    """

    episodes: int = 0
    facts: int = 0
    embedded: int = 0
    removed: int = 0
    ungrounded: int = 0


def index_document(
    store: VectorStore,
    embedder: Embedder,
    document: Document,
    extractions: Iterable[Extraction],
    batch: int = 64,
    on_progress: Callable[[int], None] | None = None,
    *,
    dense_rows_per_table: int = 2000,
    ungrounded: bool = False,
) -> IndexReport:
    """Write a document's episodes and facts, then remove what an earlier run left and this one did not yield.

    Running it again writes the same points, so it may be stopped at any time and started over.

    Args:
        store: where to.
        embedder: the encoder the store was made for.
        document: where the extractions come from.
        extractions: read once, in order, never held as a whole.
        batch: texts encoded at a time; written are whole episodes with their facts.
        on_progress: told the number of items written so far; may raise to stop the run.
        dense_rows_per_table: see ``IndexKnobs``.
        ungrounded: see ``IndexKnobs``.

    Raises:
        StoreUnavailable: the store does not answer.
        EmbedderUnavailable: a remote encoder does not answer.
    """
    run = _Run(store, embedder, document, RowQuota(dense_rows_per_table), ungrounded)
    for extraction in extractions:
        run.add(extraction)
        if run.waiting >= batch:
            run.write(batch)
            if on_progress is not None:
                on_progress(run.written)
    if run.waiting:
        run.write(batch, last=True)
        if on_progress is not None:
            on_progress(run.written)
    return run.finish()


class _Unit(NamedTuple):
    """An extraction in line, with the texts to encode; None where an item goes without a dense vector."""

    episode: IndexedEpisode
    episode_text: str | None
    facts: tuple[AtomicFact, ...]
    fact_texts: tuple[str | None, ...]

    @property
    def size(self) -> int:
        return 1 + len(self.facts)

    @property
    def texts(self) -> list[str]:
        return [text for text in (self.episode_text, *self.fact_texts) if text is not None]


class _Run:
    """One pass over a document: extractions wait in line until a batch is full; none is torn apart."""

    def __init__(
        self, store: VectorStore, embedder: Embedder, document: Document, quota: RowQuota, ungrounded: bool
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._tenant = document.owner.tenant
        self._reference = DocumentRef(
            id=document.id,
            name=document.source.name,
            media_type=document.source.media_type,
            title=document.metadata.title,
        )
        self._quota = quota
        self._ungrounded = ungrounded
        self._line: list[_Unit] = []
        # Of what was written last: the end it may be gone on from. Of what still waits: its vectors.
        self._before: tuple[Episode, list[Neighbour]] | None = None
        self._known: dict[str, Vector] = {}
        self._keys = {kind: array("Q") for kind in Collection}
        self._embedded = 0
        self._left_out = 0

    @property
    def waiting(self) -> int:
        return sum(unit.size for unit in self._line)

    @property
    def written(self) -> int:
        return sum(len(keys) for keys in self._keys.values())

    def add(self, extraction: Extraction) -> None:
        episode = extraction.episode
        facts = tuple(fact for fact in extraction.facts if fact.grounded or self._ungrounded)
        self._left_out += len(extraction.facts) - len(facts)
        self._line.append(
            _Unit(
                IndexedEpisode(episode=episode, document=self._reference),
                episode_dense_text(episode) if self._quota.admits_episode(episode) else None,
                facts,
                tuple(
                    fact_dense_text(fact) if self._quota.admits_fact(episode, fact) else None
                    for fact in facts
                ),
            )
        )

    def write(self, batch: int, *, last: bool = False) -> None:
        """Encode what stands in line and store all of it but the tail, whose neighbours are yet to come."""
        line = self._line
        texts = {text for unit in line for text in unit.texts}
        vectors = self._encoded(texts, batch)
        facts = [_neighbours(unit, vectors) for unit in line]
        for_now = len(line) if last else len(line) - 1
        self._write_episodes(line[:for_now], vectors)
        self._write_facts(line, facts, for_now)
        self._line = line[for_now:]
        self._known = {} if last else {text: vectors[text] for text in line[-1].texts if text in vectors}
        if for_now:
            self._before = (line[for_now - 1].episode.episode, facts[for_now - 1][-VECTOR_REACH:])

    def _write_episodes(self, units: list[_Unit], vectors: dict[str, Vector]) -> None:
        if units:
            self._store.put_episodes(
                [unit.episode for unit in units],
                [_vector_of(unit.episode_text, vectors) for unit in units],
                [episode_terms(unit.episode.episode) for unit in units],
            )
            self._keys[Collection.EPISODES].extend(_key(unit.episode.episode.id) for unit in units)

    def _write_facts(self, units: list[_Unit], facts: list[list[Neighbour]], count: int) -> None:
        items: list[IndexedFact] = []
        around: list[Surroundings] = []
        previous = self._before
        for at, unit in enumerate(units[:count]):
            episode = unit.episode.episode
            context = EpisodeContext(
                recorded_at=episode.recorded_at, occurred=episode.occurred, participants=episode.participants
            )
            items += (
                IndexedFact(fact=fact, document=self._reference, context=context) for fact in unit.facts
            )
            before = previous[1] if previous and connected(previous[0], episode) else []
            follows = at + 1 < len(units) and connected(episode, units[at + 1].episode.episode)
            after = facts[at + 1][:VECTOR_REACH] if follows else []
            around += surroundings(episode, facts[at], before, after)
            previous = (episode, facts[at][-VECTOR_REACH:])
        if items:
            dense = [one.dense for own in facts[:count] for one in own]
            self._store.put_facts(items, dense, [fact_terms(item.fact) for item in items], around)
            self._keys[Collection.FACTS].extend(_key(item.fact.id) for item in items)

    def finish(self) -> IndexReport:
        """Remove what this run did not yield and return the counts."""
        removed = 0
        for kind, keys in self._keys.items():
            known = np.unique(np.frombuffer(keys, dtype=np.uint64))
            if self._store.count(kind, self._tenant, self._reference.id) == len(known):
                continue
            stale = [
                id_
                for id_ in self._store.ids(kind, self._tenant, self._reference.id)
                if not _holds(known, _key(id_))
            ]
            self._store.delete(kind, self._tenant, stale)
            removed += len(stale)
        return IndexReport(
            episodes=len(self._keys[Collection.EPISODES]),
            facts=len(self._keys[Collection.FACTS]),
            embedded=self._embedded,
            removed=removed,
            ungrounded=self._left_out,
        )

    def _encoded(self, texts: set[str], batch: int) -> dict[str, Vector]:
        # Texts of like length side by side waste least where an encoder pads.
        ordered = sorted(texts - self._known.keys(), key=lambda text: (len(text), text))
        self._embedded += len(ordered)
        found = dict(self._known)
        for start in range(0, len(ordered), batch):
            part = ordered[start : start + batch]
            found.update(zip(part, self._embedder.embed_passages(part), strict=True))
        return found


def _neighbours(unit: _Unit, vectors: dict[str, Vector]) -> list[Neighbour]:
    return [
        Neighbour(fact, _vector_of(text, vectors))
        for fact, text in zip(unit.facts, unit.fact_texts, strict=True)
    ]


def _vector_of(text: str | None, vectors: dict[str, Vector]) -> Vector | None:
    return None if text is None else vectors[text]


def _key(id_: str) -> int:
    """Half of a UUID: a million rows are remembered in 8 MB, and a clash is next to impossible."""
    return UUID(id_).int >> 64


def _holds(known: np.ndarray[tuple[int], np.dtype[np.uint64]], key: int) -> bool:
    at = int(np.searchsorted(known, np.uint64(key)))
    return at < len(known) and int(known[at]) == key
