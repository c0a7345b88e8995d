"""Vectors kept while a document is indexed, so that an interrupted run does not encode again.

Encoding is by far the slowest step. Each run appends to a file of its own, records of equal length: the
SHA-256 of the text and its vector. A record cut by a crash is the last of its file and is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from retrieval.protocols import Embedder, Vector

_KEY_BYTES = 32


class CachingEmbedder:
    """An embedder that remembers the stored texts of one document.

    Args:
        inner: does the encoding.
        folder: the document's folder.
        run: a name no other run of the stage has.

    Attributes:
        encoded: texts this run has encoded.
    """

    def __init__(self, inner: Embedder, folder: Path, run: str) -> None:
        self.encoded = 0
        self._inner = inner
        mark = hashlib.sha256(inner.fingerprint.encode()).hexdigest()[:16]
        self._earlier = sorted(folder.glob(f"vectors.{mark}.*.part"))
        self._own = folder / f"vectors.{mark}.{run}.part"
        self._stream: BinaryIO | None = None
        self._rows: dict[bytes, tuple[int, int]] = {}
        self._files: list[np.ndarray[tuple[int, int], np.dtype[np.uint8]]] = []

    def __enter__(self) -> Self:
        for file in self._earlier:
            self._read(file)
        self._stream = self._own.open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._stream is not None
        self._stream.close()

    @property
    def fingerprint(self) -> str:
        """Model, version and dimension."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        return self._inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, encoding only those no earlier run has encoded."""
        assert self._stream is not None
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        missing = [at for at, key in enumerate(keys) if key not in self._rows]
        if missing:
            vectors[missing] = self._inner.embed_passages([texts[at] for at in missing])
            self._stream.write(b"".join(keys[at] + vectors[at].tobytes() for at in missing))
            self._stream.flush()
            self.encoded += len(missing)
        for at, key in enumerate(keys):
            if key in self._rows:
                file, row = self._rows[key]
                vectors[at] = self._files[file][row, _KEY_BYTES:].view(np.float32)
        return vectors

    def _read(self, file: Path) -> None:
        record = _KEY_BYTES + 4 * self.dimension
        rows = file.stat().st_size // record
        if not rows:
            return
        table = np.memmap(file, dtype=np.uint8, mode="r", shape=(rows, record))
        for row in range(rows):
            self._rows[table[row, :_KEY_BYTES].tobytes()] = (len(self._files), row)
        self._files.append(table)


def discard_vectors(folder: Path) -> None:
    """Remove the vectors kept of a document."""
    for file in folder.glob("vectors.*.part"):
        file.unlink(missing_ok=True)
