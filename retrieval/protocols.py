"""What retrieval needs from outside: an encoder and a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.filters import FilterExpr
from retrieval.model import IndexedEpisode, IndexedFact

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


class Collection(StrEnum):
    """The two layers."""

    EPISODES = "episodes"
    FACTS = "facts"


class Lane(NamedTuple):
    """One ranked list to fetch: exactly one of ``dense`` and ``sparse`` is set.

    ``parents`` narrows facts to those of these episodes. ``limit`` is the most to return.
    """

    limit: int
    dense: Vector | None = None
    sparse: SparseVector | None = None
    parents: tuple[str, ...] | None = None


class Scored(NamedTuple):
    """An item of a lane. ``score`` is the cosine (dense) or the BM25 sum (sparse)."""

    id: str
    score: float
    item: IndexedEpisode | IndexedFact


class StoredVectors(NamedTuple):
    """The vectors of one stored item."""

    dense: Vector | None
    sparse: SparseVector | None


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
        self, items: Sequence[IndexedFact], dense: Sequence[Vector | None], sparse: Sequence[SparseVector]
    ) -> None:
        """Insert or overwrite facts by id."""

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

    def count(self, collection: Collection, tenant: str, document_id: str | None = None) -> int:
        """Return the exact number of items of a tenant, or of one of its documents."""

    def delete(self, collection: Collection, tenant: str, ids: Sequence[str]) -> None:
        """Remove items by id; unknown ids are no error."""

    def delete_document(self, tenant: str, document_id: str) -> int:
        """Remove a document's episodes and facts; return how many points that were."""
