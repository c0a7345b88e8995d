"""Finding and mending what was lost: messages, workers, half-done removals. ``python -m workers.reconcile``.

One runs beside every worker, because only on its own host can a dead process be told from a slow one. What
is the same from everywhere is done by one of them at a time, who has the duty by a lease in the ledger.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from ingest.errors import TransientError
from workers.budget import BudgetGuard
from workers.ledger.ledger import Ledger
from workers.model import Stage
from workers.purging import purge
from workers.queue import Publisher, QueueUnavailable, make_celery, queue_depths, sender
from workers.services import open_blobs, open_ledger
from workers.settings import Settings

log = logging.getLogger(__name__)

_DUTY = "reconcile"
_PURGE_AFTER_S = 60.0
_FORGET_AFTER_S = 86_400.0
_FORGET_EVERY_S = 3_600.0
_RELEASE_EVERY_S = 5.0


class Reconciler:
    """Looks again and again for what was lost.

    Args:
        ledger: the truth.
        publish: sends what the outbox holds.
        depths: tells how many messages wait in each queue.
        purge: removes bytes that were marked as leaving.
        release: lets documents go on whose budget has something left again.
        every_s: pause between two looks.
        resend_after_s: age from which a message that is in no queue counts as lost.
    """

    def __init__(
        self,
        ledger: Ledger,
        publish: Callable[[], int],
        depths: Callable[[], dict[Stage, int]],
        purge: Callable[[str], None],
        release: Callable[[], int],
        *,
        every_s: float,
        resend_after_s: float,
    ) -> None:
        self._ledger = ledger
        self._publish = publish
        self._depths = depths
        self._purge = purge
        self._release = release
        self._duty_s = max(10.0, 5 * every_s)
        self._resend_after_s = resend_after_s
        self._name = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4()}"
        self._forget_at = self._release_at = ledger.database.now()

    def tick(self) -> None:
        """Look once. A part that is away is looked for again at the next tick."""
        try:
            self._ledger.recovery.lost_leases()
            if self._ledger.duties.take(_DUTY, self._name, self._duty_s):
                self._do_duty()
        except (SQLAlchemyError, TransientError, OSError) as error:
            log.warning("reconciling is put off: %s", error)

    def drop_duty(self) -> None:
        """Let another one have the duty at once."""
        try:
            self._ledger.duties.drop(_DUTY, self._name)
        except SQLAlchemyError as error:
            log.warning("the duty is left to lapse: %s", error)

    def _do_duty(self) -> None:
        self._ledger.recovery.lost_messages()
        self._resend_lost()
        if self._ledger.database.now() >= self._release_at:
            self._release()
            self._release_at = self._ledger.database.now() + timedelta(seconds=_RELEASE_EVERY_S)
        self._publish()
        for sha256 in self._ledger.purges.unfinished(_PURGE_AFTER_S):
            self._purge(sha256)
        if self._ledger.database.now() >= self._forget_at:
            self._ledger.purges.forget(_FORGET_AFTER_S)
            self._ledger.idempotency.forget(_FORGET_AFTER_S)
            self._forget_at = self._ledger.database.now() + timedelta(seconds=_FORGET_EVERY_S)

    def _resend_lost(self) -> None:
        sent = self._ledger.outbox.sent_counts()
        if not sent:
            return
        try:
            held = self._depths()
        except QueueUnavailable as error:
            log.warning("the queues cannot be counted: %s", error)
            return
        for stage, count in sent.items():
            missing = count - held.get(stage, 0)
            if missing > 0 and (again := self._ledger.outbox.resend(stage, missing, self._resend_after_s)):
                log.warning("%s messages are in no queue %s and are sent again", again, stage)


def serve(reconciler: Reconciler, every_s: float, ended: Callable[[float], bool]) -> None:
    """Look every ``every_s`` seconds until ``ended``, which waits that long, says so."""
    while True:
        began = time.monotonic()
        reconciler.tick()
        if ended(max(0.05, every_s - (time.monotonic() - began))):
            return


def _stop(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


def main(arguments: Sequence[str]) -> None:
    """Reconcile with the settings of the environment until a signal.

    Args:
        arguments: the id of the process beside which this one runs and with which it ends; none when it
            stands alone.
    """
    settings = Settings.from_env(os.environ)  # noqa: TID251  an entry point
    logging.basicConfig(
        level=settings.strata_log_level.upper(), format="%(levelname)s reconciler: %(message)s"
    )
    ledger, blobs, app = open_ledger(settings), open_blobs(settings), make_celery(settings)
    parent = int(arguments[0]) if arguments else os.getppid()

    def ended(wait_s: float) -> bool:
        time.sleep(wait_s)
        return os.getppid() != parent

    reconciler = Reconciler(
        ledger,
        Publisher(ledger.outbox, sender(app, settings), settings.worker_queue_window),
        lambda: queue_depths(app, settings),
        lambda sha256: purge(ledger, blobs, sha256),
        BudgetGuard(ledger, settings.budget).release,
        every_s=settings.reconcile_every_s,
        resend_after_s=settings.resend_after_s,
    )
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    try:
        serve(reconciler, settings.reconcile_every_s, ended)
    finally:
        reconciler.drop_duty()


if __name__ == "__main__":
    main(sys.argv[1:])
