"""The queue: how Celery is set up, and how messages get from the outbox into it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import ChannelError, OperationalError

from ingest.errors import TransientError
from workers.ledger.outbox import Outbox
from workers.model import Stage
from workers.settings import Settings, SettingsError

log = logging.getLogger(__name__)

MAINTENANCE = "maintenance"
# A sender that finds the broker away gives up at once: the outbox keeps the message, and nobody should wait.
_PUBLISH_ONCE = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.1}


class QueueUnavailable(TransientError):
    """The message broker does not answer."""

    code = "queue_unavailable"


def task_name(stage: Stage) -> str:
    """Return the name of a stage's task."""
    return f"strata.{stage.value}"


def queue_name(settings: Settings, name: str) -> str:
    """Return the name at the broker of the queue of a stage, or of another queue of ours."""
    return f"{settings.queue_prefix}{name}"


def make_celery(settings: Settings) -> Celery:
    """Set Celery up; nothing is connected yet.

    Raises:
        SettingsError: there is no broker.
    """
    url = settings.celery_broker_url
    if not url:
        raise SettingsError("CELERY_BROKER_URL: not set; `strata serve` starts a broker of its own.")
    app = Celery("strata", broker=url, set_as_current=False)
    app.conf.update(
        task_queues=[
            Queue(name, Exchange("strata", type="direct"), routing_key=name)
            for name in (queue_name(settings, own) for own in (*Stage, MAINTENANCE))
        ],
        task_default_queue=queue_name(settings, MAINTENANCE),
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # A message is taken off only when its stage has ended; one whose process died comes back.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_acks_on_failure_or_timeout=True,
        task_soft_time_limit=settings.worker_soft_limit_s,
        task_time_limit=settings.worker_hard_limit_s,
        worker_prefetch_multiplier=1,
        worker_max_tasks_per_child=settings.worker_tasks_per_child,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        event_queue_expires=60,
        timezone="UTC",
        **_transport(url, settings),
    )
    return app


def _transport(url: str, settings: Settings) -> dict[str, object]:
    if url.startswith(("amqp", "pyamqp")):
        return {
            "task_default_queue_type": "quorum",
            "worker_detect_quorum_queues": True,
            "broker_transport_options": {**_PUBLISH_ONCE},
        }
    return {
        "broker_transport_options": {
            "visibility_timeout": settings.worker_visibility_s,
            # Look every 5 s, not every 100: the messages of a lost worker come back soon.
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "queue_order_strategy": "round_robin",
            **_PUBLISH_ONCE,
        }
    }


class Publisher:
    """Sends what the outbox holds.

    Args:
        outbox: the outbox.
        send: puts a document's id into the queue of a stage.
        window: messages each queue may hold.
    """

    def __init__(self, outbox: Outbox, send: Callable[[Stage, str], None], window: int) -> None:
        self._outbox = outbox
        self._send = send
        self._window = window

    def __call__(self) -> int:
        """Send what is due and return how many messages that were.

        A broker that is away loses nothing: the messages stay in the outbox and are sent later.
        """
        entries = self._outbox.take(self._window)
        for sent, entry in enumerate(entries):
            try:
                self._send(entry.stage, entry.document_id)
            except QueueUnavailable as error:
                log.warning("messages stay in the outbox: %s", error)
                self._outbox.put_back(entries[sent:])
                return sent
        return len(entries)


def sender(app: Celery, settings: Settings) -> Callable[[Stage, str], None]:
    """Return a function that puts a document's id into the queue of a stage, or raises QueueUnavailable."""

    def send(stage: Stage, document_id: str) -> None:
        try:
            app.send_task(
                task_name(stage), args=[document_id], queue=queue_name(settings, stage), retry=False
            )
        except (OperationalError, ConnectionError) as error:
            raise QueueUnavailable(f"The message broker does not answer ({error}).") from error

    return send


def queue_depths(app: Celery, settings: Settings) -> dict[Stage, int]:
    """Return how many messages wait in each queue.

    Raises:
        QueueUnavailable: the broker does not answer.
    """
    try:
        with app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
            return {stage: _depth(connection, queue_name(settings, stage)) for stage in Stage}
    except (OperationalError, ConnectionError) as error:
        raise QueueUnavailable(f"The message broker does not answer ({error}).") from error


def _depth(connection: object, name: str) -> int:
    # A channel of its own: RabbitMQ closes the channel on which an unknown queue is asked for.
    with connection.channel() as channel:  # type: ignore[attr-defined]
        try:
            return int(channel.queue_declare(name, passive=True).message_count)
        except ChannelError:
            return 0
