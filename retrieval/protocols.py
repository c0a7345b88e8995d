"""What retrieval needs from outside: an encoder and a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from operator import eq
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.filters import FilterExpr
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.traits import Traits

Vector = NDArray[np.float32]


class SparseVector(NamedTuple):
    """Term indices (unsigned 31 bit, ascending, unique) and their weights."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Model, version and dimension; part of the collection's name."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (dimension,).

        Raises:
            EmbedderUnavailable: a remote model does not answer.
        """

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, shape (len(texts), dimension).

        Raises:
            EmbedderUnavailable: a remote model does not answer.
        """


class Reranker(Protocol):
    """Scores texts once more, reading each together with the question."""

    @property
    def name(self) -> str:
        """The model, as it stands in traces."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers, the higher the better: chances from 0 to 1, or logits.

        Raises:
            RerankerUnavailable: no answer, or not in time.
            RerankerRefused: the request is refused, or the answer cannot be used.
        """


class Collection(StrEnum):
    """The two layers."""

    EPISODES = "episodes"
    FACTS = "facts"


class Carry(StrEnum):
    """What comes back with each id and score: as little as the caller can do with."""

    ITEM = "item"
    TRAITS = "traits"
    BOTH = "both"
    NOTHING = "nothing"


class Lane(NamedTuple):
    """One ranked list to fetch: exactly one of ``dense`` and ``sparse`` is set.

    Attributes:
        limit: the most to return.
        dense, sparse: what items are compared with.
        parents: only facts of these episodes.
        ids: only these items. Where ``parents`` is given too, an item passes by either.
        context: compare with a fact's surroundings instead of the fact itself.
        carry: what is returned besides id and score.
    """

    limit: int
    dense: Vector | None = None
    sparse: SparseVector | None = None
    parents: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    context: bool = False
    carry: Carry = Carry.ITEM


class Scored(NamedTuple):
    """An item of a lane. ``score`` is the cosine (dense) or the BM25 sum (sparse).

    ``traits`` and ``body``, the item as JSON, are None where the lane did not carry them.
    """

    id: str
    score: float
    collection: Collection
    traits: Traits | None = None
    body: str | None = None

    @property
    def item(self) -> IndexedEpisode | IndexedFact:
        """The item, read anew at each call.

        Raises:
            ValueError: the lane did not carry it.
        """
        if self.body is None:
            raise ValueError("the lane did not carry the item")
        model = IndexedEpisode if self.collection is Collection.EPISODES else IndexedFact
        return model.model_validate_json(self.body)


def in_order(hits: list[Scored]) -> list[Scored]:
    """Return hits that come by score, best first, with equal scores in the order of ids."""
    scores = [hit.score for hit in hits]
    # Putting them in order again would cost more than looking whether any are equal.
    return sorted(hits, key=lambda hit: (-hit.score, hit.id)) if any(map(eq, scores, scores[1:])) else hits


class Lanes(Protocol):
    """The store as one search sees it: bound to its tenant and its conditions.

    Attributes:
        near: asking twice takes no longer than asking once.
    """

    near: bool

    def search(self, collection: Collection, lanes: Sequence[Lane]) -> list[list[Scored]]:
        """Return one ranked list per lane, in one round trip."""


class ItemPage(NamedTuple):
    """Some items, and the id the next page starts with; None on the last."""

    items: tuple[IndexedEpisode | IndexedFact, ...]
    following: str | None


class StoredVectors(NamedTuple):
    """The vectors of one stored item."""

    dense: Vector | None
    sparse: SparseVector | None


class Surroundings(NamedTuple):
    """What stands around a fact in its episode, stored beside the fact.

    Attributes:
        dense: unit vector of the fact among its neighbours; None where the fact has none.
        sparse: terms of the fact joined with its neighbours.
        traits: what ranking knows of the fact.
    """

    dense: Vector | None
    sparse: SparseVector
    traits: Traits


class VectorStore(Protocol):
    """Keeps episodes and facts with their vectors. Every call is bound to one tenant.

    All methods raise StoreUnavailable when the store does not answer.
    """

    def prepare(self) -> None:
        """Create the collections, their payload indexes and aliases where they are missing."""

    def put_episodes(
        self, items: Sequence[IndexedEpisode], dense: Sequence[Vector | None], sparse: Sequence[SparseVector]
    ) -> None:
        """Insert or overwrite episodes by id; a None vector stores the item without a dense one."""

    def put_facts(
        self,
        items: Sequence[IndexedFact],
        dense: Sequence[Vector | None],
        sparse: Sequence[SparseVector],
        around: Sequence[Surroundings] = (),
    ) -> None:
        """Insert or overwrite facts by id; without ``around`` they are stored as if they stood alone."""

    def search(
        self, collection: Collection, tenant: str, where: FilterExpr, lanes: Sequence[Lane]
    ) -> list[list[Scored]]:
        """Return one ranked list per lane, in one round trip."""

    def vectors(self, collection: Collection, tenant: str, ids: Sequence[str]) -> dict[str, StoredVectors]:
        """Return the stored vectors of these items, in one round trip."""

    def fetch(
        self, collection: Collection, tenant: str, ids: Sequence[str]
    ) -> dict[str, IndexedEpisode | IndexedFact]:
        """Return these items by id; unknown ids are left out."""

    def ids(self, collection: Collection, tenant: str, document_id: str) -> Iterator[str]:
        """Yield the ids of a document's items."""

    def page(
        self, collection: Collection, tenant: str, where: FilterExpr, limit: int, start: str | None = None
    ) -> ItemPage:
        """Return up to ``limit`` items in the order of ids, from the id ``start`` on."""

    def count(self, collection: Collection, tenant: str, document_id: str | None = None) -> int:
        """Return the exact number of items of a tenant, or of one of its documents."""

    def delete(self, collection: Collection, tenant: str, ids: Sequence[str]) -> None:
        """Remove items by id; unknown ids are no error."""

    def supersede(self, tenant: str, document_id: str, successor: str, at: datetime) -> None:
        """Let a document's items hold until a moment only; ``successor`` is the id of their replacement."""

    def hold_from(self, tenant: str, document_id: str, at: datetime) -> None:
        """Let a document's items hold from a moment on only: before it, another stood in their place."""

    def delete_document(self, tenant: str, document_id: str) -> int:
        """Remove a document's episodes and facts; return how many points that were."""

    def census(self, collection: Collection) -> dict[tuple[str, str], int]:
        """Return the number of items of each (tenant, document id). For the operator: it sees all tenants."""
