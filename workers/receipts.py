"""A worker that could not confirm its messages connects anew, instead of waiting for ever.

When the broker dies while every message that a worker may hold is being worked on, the worker reads nothing
from its connection, so it does not see that the connection is gone. The confirmations that follow fail; the
broker's library logs that and forgets it, but goes on counting those messages as held. Being full, the worker
then never reads again, and never finds out. Here the two counts are compared: a message that is held and
belongs to no task is a confirmation that was lost, and the connection is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from celery import Celery, bootsteps
from celery.worker import state


class ReceiptsLost(ConnectionError):
    """The broker was not told of tasks that ended: to the worker's loop this is a lost connection."""


class Receipts:
    """Finds confirmations that were lost.

    Args:
        held: tells the delivery tags of the messages the connection counts as held, those being confirmed
            left out.
        owned: tells the delivery tags of the tasks that have not ended.
    """

    def __init__(self, held: Callable[[], Iterable[str]], owned: Callable[[], Iterable[str]]) -> None:
        self._held = held
        self._owned = owned
        self._suspects: frozenset[str] = frozenset()

    def check(self) -> None:
        """Look once. Only what is without a task at two looks counts: one may fall between two steps.

        Raises:
            ReceiptsLost: confirmations were lost.
        """
        orphans = frozenset(self._held()) - frozenset(self._owned())
        if lost := orphans & self._suspects:
            raise ReceiptsLost(f"{len(lost)} messages could not be confirmed; connecting anew.")
        self._suspects = orphans


def watch_receipts(app: Celery, look_every_s: float = 2.0) -> None:
    """Let every worker of an app look for lost confirmations.

    Transports that talk AMQP keep a heartbeat and always listen; only those that ask for each message, as
    Redis does, can fall asleep.
    """

    class Watch(bootsteps.StartStopStep):
        """Celery's hook for what lives as long as a connection."""

        requires = ("celery.worker.consumer.tasks:Tasks",)

        def __init__(self, parent: Any, **kwargs: Any) -> None:  # noqa: ANN401  celery's own
            super().__init__(parent, **kwargs)
            self.entry: Any = None

        def start(self, parent: Any) -> None:  # noqa: ANN401
            if parent.connection.transport.driver_type != "redis":
                return
            qos = parent.task_consumer.channel.qos
            receipts = Receipts(
                lambda: set(qos._delivered) - set(qos._dirty),
                lambda: _tags(state.reserved_requests),
            )
            self.entry = parent.timer.call_repeatedly(look_every_s, receipts.check)

        def stop(self, parent: Any) -> None:  # noqa: ANN401
            if self.entry is not None:
                self.entry.cancel()
                self.entry = None

        terminate = stop

    app.steps["consumer"].add(Watch)


def _tags(requests: Iterable[Any]) -> set[str]:
    return {request.message.delivery_tag for request in requests}
