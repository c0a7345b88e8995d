"""One collection on disk: an engine shard, its configuration, and when it was last made safe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import orjson
import qdrant_edge as edge

from retrieval.edge.fields import Refusal
from retrieval.edge.remembered import Remembered
from retrieval.edge.schema import read_collection, read_index, write_info

_CONFIG = "config.json"
_SHARD = "shard"
_ENGINE_FAULT = "Service "  # how the engine's own failures begin; everything else is the caller's
Answer = TypeVar("Answer")


class Shard:
    """A collection that is open.

    Every acknowledged change is in the write-ahead log. ``sync`` forces the log to the disk and lets other
    threads work meanwhile; ``flush`` writes the segments and stops all of them (the engine keeps Python's
    lock), so it runs rarely.

    Args:
        folder: the collection's folder, made by ``create``.

    Attributes:
        remembered: what searches read of it before.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._body: dict[str, Any] = orjson.loads((folder / _CONFIG).read_bytes())
        with _refusals():
            self._engine = edge.EdgeShard.load(str(folder / _SHARD))
        self._writing = Lock()
        self._closed = False
        self._changed_at = self._flushed_at = time.monotonic()
        self._unsynced = self._unflushed = False
        self.remembered = Remembered(self.points)

    @classmethod
    def create(cls, folder: Path, body: dict[str, Any]) -> None:
        """Make an empty collection in a new folder; it is complete once the folder has its final name."""
        config = read_collection(body)
        folder.mkdir(parents=True)
        (folder / _CONFIG).write_bytes(orjson.dumps(body))
        with _refusals():
            edge.EdgeShard.create(str(folder / _SHARD), config).close()

    def change(self, read: Callable[[Any], edge.UpdateOperation], body: Any) -> None:  # noqa: ANN401  any JSON
        """Read a change from JSON and carry it out; it survives the end of the process from here on.

        Raises:
            Refusal: the engine does not accept it.
        """
        with self._open():
            operation = read(body)
        self.update(operation)

    def update(self, operation: edge.UpdateOperation) -> None:
        """Carry out a change; it survives the end of the process from here on.

        Raises:
            Refusal: the engine does not accept it.
        """
        with self._writing, self._open():
            self._unsynced = self._unflushed = True
            self._changed_at = time.monotonic()
            self._engine.update(operation)

    def read(self, ask: Callable[[edge.EdgeShard], Answer]) -> Answer:
        """Return the engine's answer to a question.

        Raises:
            Refusal: the engine does not accept it.
        """
        with self._open():
            return ask(self._engine)

    def points(self, ids: list[edge.PointId], fields: edge.PayloadSelector) -> list[edge.Record]:
        """Return those of these points that exist, with some fields of their payload."""
        return self.read(lambda engine: engine.retrieve(ids, fields, False))

    def index(self, body: Any) -> None:  # noqa: ANN401  any JSON
        """Create a payload index; one that is there already stays as it is."""
        field, operation = read_index(body)
        if field not in self.read(lambda engine: engine.info()).payload_schema:
            self.update(operation)

    def info(self) -> dict[str, Any]:
        """Return what ``GET /collections/{name}`` answers."""
        return write_info(self._body, self.read(lambda engine: engine.info()))

    def sync(self) -> None:
        """Force the write-ahead log to the disk, where it survives a power failure."""
        if not self._unsynced or self._closed:
            return
        self._unsynced = False
        # The collection may be deleted meanwhile.
        with suppress(FileNotFoundError):
            for path in (self._folder / _SHARD / "wal").iterdir():
                handle = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)

    def flush(self, quiet_s: float = 0.0, latest_s: float = 0.0) -> bool:
        """Write the segments if there is something to write and it is time to; return whether it was done.

        Args:
            quiet_s: wait until nothing has changed for so long …
            latest_s: … or the last flush is so long ago.
        """
        now = time.monotonic()
        due = now - self._changed_at >= quiet_s or now - self._flushed_at >= latest_s
        if not (self._unflushed and due):
            return False
        with self._writing, self._open():
            self._engine.flush()
            self._unflushed, self._flushed_at = False, time.monotonic()
        return True

    def close(self) -> None:
        """Flush and let go of the files. Later calls are refused."""
        with self._writing:
            if not self._closed:
                self._closed = True
                self._engine.flush()
                self._engine.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        if self._closed:
            raise Refusal(404, "Not found: the collection was deleted")
        with _refusals():
            yield


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Refusal:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal(400, f"Wrong input: {error}") from error
    except Exception as error:
        if type(error) is not Exception:
            raise
        # The engine raises bare exceptions only; their text is all there is to tell them apart.
        status = 500 if str(error).startswith(_ENGINE_FAULT) else 400
        raise Refusal(status, str(error)) from error
