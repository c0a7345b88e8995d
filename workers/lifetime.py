"""What happens when a worker starts and stops."""

from __future__ import annotations

import gc
from collections.abc import Callable

from celery.signals import worker_init, worker_shutting_down

from workers.stopping import ask_to_stop


def follow_lifetime(preload: Callable[[], None]) -> None:
    """Hook into the lifetime of the worker this process may become.

    Args:
        preload: run once before the pool forks.
    """

    def started(**_: object) -> None:
        preload()
        # What is shared with the pool is left out of collections, which would copy its pages.
        gc.collect()
        gc.freeze()

    def stopping(**_: object) -> None:
        ask_to_stop()

    worker_init.connect(started, weak=False)
    worker_shutting_down.connect(stopping, weak=False)
