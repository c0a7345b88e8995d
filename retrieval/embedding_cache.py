"""Vectors of stored texts, remembered by content, so that indexing again encodes nothing twice.

Encoding is the slow step of indexing. One SQLite file serves all workers of a machine. It is only a cache: a
damaged or full file costs time, never a result.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

from retrieval.protocols import Embedder, Vector

logger = logging.getLogger(__name__)

_KEY_BYTES = 20
_CHUNK = 500  # keys per statement; SQLite's own bound is higher
_WAIT_S = 10.0
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"


class VectorCache:
    """A bounded file of vectors in half precision; the oldest go first. Safe between processes and threads.

    Args:
        path: the file; it and its folder are made when first needed.
        max_bytes: size the file does not outgrow by much.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that are known of these keys."""
        found: dict[bytes, Vector] = {}
        with self._forgiving(), self._opened() as database:
            for start in range(0, len(keys), _CHUNK):
                part = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                found.update((bytes(key), _unpacked(packed)) for key, packed in rows)
        return found

    def put(self, vectors: Mapping[bytes, Vector]) -> None:
        """Remember vectors by key."""
        rows = [(key, _packed(vector)) for key, vector in vectors.items()]
        with self._forgiving(), self._opened() as database, database:
            database.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
            self._make_room(database)

    def _make_room(self, database: sqlite3.Connection) -> None:
        (used,) = database.execute(
            "SELECT (page_count - freelist_count) * page_size"
            " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ).fetchone()
        if used > self._max_bytes:
            # A tenth at a time; the pages are used again, so the file stays as large as it is.
            database.execute(
                "DELETE FROM vectors WHERE number <="
                " (SELECT min(number) + (max(number) - min(number)) / 10 FROM vectors)"
            )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        # A connection per call costs a fraction of a millisecond and survives forks and threads.
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute(_TABLE)
            yield database

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            logger.warning("the vector cache %s is not used for the moment: %s", self._path, error)
        except sqlite3.DatabaseError as error:
            logger.warning("the vector cache %s is damaged (%s) and is started anew", self._path, error)
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


class CachedEmbedder:
    """An encoder that looks stored texts up before it encodes them. Questions are always encoded.

    Args:
        inner: does the encoding.
        cache: remembers, for any number of encoders: their fingerprints are part of the keys.
    """

    def __init__(self, inner: Embedder, cache: VectorCache) -> None:
        self._inner = inner
        self._cache = cache

    @property
    def fingerprint(self) -> str:
        """Model, version and dimension of the encoder inside."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question; raises what the encoder inside raises."""
        return self._inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts; a vector is the same whether it was remembered or new."""
        keys = [self._key(text) for text in texts]
        known = self._cache.get(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = self._inner.embed_passages(list(missing.values()))
            fresh = dict(zip(missing, made, strict=True))
            self._cache.put(fresh)
            known |= {key: _unpacked(_packed(vector)) for key, vector in fresh.items()}
        if not keys:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _key(self, text: str) -> bytes:
        content = f"{self._inner.fingerprint}\x1f{text}".encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=_KEY_BYTES).digest()


def _packed(vector: Vector) -> bytes:
    return vector.astype(np.float16).tobytes()


def _unpacked(packed: bytes) -> Vector:
    """Rounding moves a unit vector by about 0.0002; its length is put right again."""
    vector = np.frombuffer(packed, dtype=np.float16).astype(np.float32)
    unit: Vector = vector / np.float32(np.linalg.norm(vector))
    return unit
