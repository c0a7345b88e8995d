"""A process that a worker keeps beside itself: started with it, started again when it ends, stopped with it.

A thread would not do: the worker's main process forks its pool again and again, and a fork that happens while
a thread is inside the database library leaves the child with a lock that nobody will ever open.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from typing import Any

from celery import Celery, bootsteps

from workers.stopping import asked_to_stop

log = logging.getLogger(__name__)

_STOP_S = 5.0


class Companion:
    """The process beside a worker."""

    def __init__(self, module: str) -> None:
        self._command = [sys.executable, "-m", module]
        self._process: subprocess.Popen[bytes] | None = None

    def tend(self) -> None:
        """Start the process unless it runs, or the worker is about to end."""
        if asked_to_stop() or (self._process is not None and self._process.poll() is None):
            return
        if self._process is not None:
            log.warning("%s ended with %s; starting it again", self._command[-1], self._process.returncode)
        command = [*self._command, str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def stop(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def start_companion(app: Celery, module: str, look_every_s: float) -> None:
    """Let every worker of an app keep ``python -m module`` beside itself.

    Args:
        app: the app.
        module: what to run. Its argument is the worker's process id; it has to end when that is no longer
            its parent's, however the worker ends.
        look_every_s: pause between two looks whether it still runs.
    """

    class Keep(bootsteps.StartStopStep):
        """Celery's hook for what starts and stops with a worker."""

        requires = ("celery.worker.components:Timer", "celery.worker.components:Pool")

        def __init__(self, parent: Any, **kwargs: Any) -> None:  # noqa: ANN401  celery's own
            super().__init__(parent, **kwargs)
            self.companion = Companion(module)

        def start(self, parent: Any) -> None:  # noqa: ANN401
            self.companion.tend()
            parent.timer.call_repeatedly(max(1.0, look_every_s), self.companion.tend)

        def stop(self, parent: Any) -> None:  # noqa: ANN401
            self.companion.stop()

        def terminate(self, parent: Any) -> None:  # noqa: ANN401
            self.companion.stop()

    app.steps["worker"].add(Keep)
