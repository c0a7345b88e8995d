"""The thread that makes changes safe: log to disk every second, segments when it is quiet."""

from __future__ import annotations

import logging
import time
from threading import Event, Thread

from retrieval.edge.catalog import Catalog

logger = logging.getLogger(__name__)

_EVERY_S = 1.0
_QUIET_S = 5.0
_LATEST_S = 60.0


class Keeper:
    """Runs beside the requests until ``stop``.

    Args:
        catalog: what is kept safe.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._stopping = Event()
        self._failed = False
        self._thread = Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def healthy(self) -> bool:
        """Return whether the last round succeeded."""
        return not self._failed

    def stop(self) -> None:
        """End the thread; waits for a round under way."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY_S):
            try:
                self._round()
                self._failed = False
            except Exception:
                # A full disk, say: the readiness probe tells, and the next round tries again.
                self._failed = True
                logger.exception("changes could not be written to disk")

    def _round(self) -> None:
        for name, shard in self._catalog.shards():
            shard.sync()
            began = time.monotonic()
            if shard.flush(_QUIET_S, _LATEST_S):
                logger.debug("flushed %s in %.2f s", name, time.monotonic() - began)
