"""A store and an encoder for comparing configurations: what one question asked before is not asked again.

Configurations are compared question by question, and most of them ask the store the very same things. The
answers are kept for the length of one question; the time they took the first time is added to every
configuration that uses them, so latencies stay honest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from time import perf_counter
from typing import TypeVar

from retrieval.filters import FilterExpr
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import Collection, Embedder, Lane, Scored, Vector
from retrieval.qdrant.store import QdrantStore

Muted = Callable[[Collection, Lane], bool]
_T = TypeVar("_T")


class ReplayStore(QdrantStore):
    """The same store; ``muted`` lanes return nothing, as if they had not been built."""

    muted: Muted | None = None
    saved_s: float = 0.0
    _kept: dict[Hashable, tuple[object, float]] | None = None

    def forget(self) -> None:
        """Forget the answers of the last question."""
        self._kept = {}

    def search(
        self, collection: Collection, tenant: str, where: FilterExpr, lanes: Sequence[Lane]
    ) -> list[list[Scored]]:
        """Return one ranked list per lane; muted ones are empty."""
        muted = self.muted
        heard = [None if muted is not None and muted(collection, lane) else lane for lane in lanes]
        asked = [lane for lane in heard if lane is not None]
        key = (collection, tenant, where, tuple(_lane_key(lane) for lane in asked))
        found = iter(
            self._once(key, lambda: super(ReplayStore, self).search(collection, tenant, where, asked))
        )
        return [[] if lane is None else next(found) for lane in heard]

    def fetch(
        self, collection: Collection, tenant: str, ids: Sequence[str]
    ) -> dict[str, IndexedEpisode | IndexedFact]:
        """Return items by id."""
        key = (collection, tenant, tuple(ids))
        return self._once(key, lambda: super(ReplayStore, self).fetch(collection, tenant, ids))

    def _once(self, key: Hashable, ask: Callable[[], _T]) -> _T:
        if self._kept is None:
            self._kept = {}
        if key in self._kept:
            kept, seconds = self._kept[key]
            self.saved_s += seconds
            return kept  # type: ignore[return-value]  # the key tells what was asked
        started = perf_counter()
        found = ask()
        self._kept[key] = (found, perf_counter() - started)
        return found


def _lane_key(lane: Lane) -> Hashable:
    return lane._replace(dense=None), None if lane.dense is None else lane.dense.tobytes()


class ReplayEmbedder:
    """Counts what is encoded and keeps the vectors of questions.

    Args:
        inner: does the encoding.

    Attributes:
        texts, questions: how many were encoded.
        seconds: how long each question took.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._asked: dict[str, Vector] = {}
        self.texts = 0
        self.seconds: list[float] = []

    @property
    def fingerprint(self) -> str:
        """That of the encoder inside."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """That of the encoder inside."""
        return self._inner.dimension

    @property
    def questions(self) -> int:
        """How many questions were encoded."""
        return len(self.seconds)

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, encoded once."""
        if text not in self._asked:
            started = perf_counter()
            self._asked[text] = self._inner.embed_query(text)
            self.seconds.append(perf_counter() - started)
        return self._asked[text]

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, counted."""
        self.texts += len(texts)
        return self._inner.embed_passages(texts)

    def forget(self) -> None:
        """Forget vectors and counts."""
        self._asked.clear()
        self.seconds = []
        self.texts = 0
