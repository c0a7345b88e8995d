"""A small deterministic encoder: texts that share words are near each other. For tests and demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from retrieval.protocols import Vector
from retrieval.tokenizer import TOKENIZER_VERSION, tokenize

_PLACES = 4


class HashEmbedder:
    """Adds up a few signed places per word (feature hashing, Weinberger et al. 2009) and normalises the sum.

    It knows words, not meanings. Empty texts share one fixed vector.
    """

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def fingerprint(self) -> str:
        """Model, version and dimension."""
        return f"hash-1-{TOKENIZER_VERSION}-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question; the same as for a stored text."""
        vector = np.zeros(self._dimension, dtype=np.float32)
        for token in set(tokenize(text)):
            digest = blake2b(token.encode(), digest_size=4 * _PLACES).digest()
            for place in np.frombuffer(digest, dtype="<u4"):
                vector[int(place >> 1) % self._dimension] += 1.0 if place & 1 else -1.0
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            vector[0] = norm = 1.0
        return vector / np.float32(norm)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return np.stack([self.embed_query(text) for text in texts])
