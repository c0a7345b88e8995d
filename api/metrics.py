"""Numbers for Prometheus: documents by state, queues, and how long requests take. No tenant is named.

Times are those of this process: with several web server workers each scrape shows one of them. All else comes
from the ledger and the broker, so it is the same whichever process answers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest

from workers.model import Stage, State
from workers.queue import QueueUnavailable
from workers.services import Services

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class RequestTimes:
    """How long requests took, by route and status; a search is the route /api/v1/memories/search."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "strata_request_seconds", "Time until a request was answered, in seconds.", ("route", "status"),
            registry=self.registry, buckets=_SECONDS,
        )  # fmt: skip

    def watch(self, app: Flask) -> None:
        """Measure every request of an application from now on."""
        app.before_request(self._begin)
        app.after_request(self._end)

    def _begin(self) -> None:
        g.began = time.perf_counter()

    def _end(self, response: Response) -> Response:
        # The rule, not the path: ids would make a series each. What matches no route is one series.
        route = request.url_rule.rule if request.url_rule else "unknown"
        if "began" in g:
            self._seconds.labels(route, str(response.status_code)).observe(time.perf_counter() - g.began)
        return response


def exposition(services: Services, times: RequestTimes) -> bytes:
    """Return all numbers in Prometheus' text form."""
    now = CollectorRegistry()
    summary = services.ledger.listing.summary()
    documents = Gauge("strata_documents", "Documents by state.", ("state",), registry=now)
    for state in State:
        documents.labels(state.value).set(summary.states.get(state, 0))
    Gauge("strata_stages_running", "Stages that run now.", registry=now).set(summary.running)
    waits = Gauge("strata_oldest_waiting_seconds", "Age of the longest waiting document.", registry=now)
    since = summary.oldest_waiting_at
    waits.set(max(0.0, (services.ledger.database.now() - since).total_seconds()) if since else 0)
    empty = Gauge("strata_documents_without_facts", "Ready documents that gave no fact.", registry=now)
    empty.set(summary.without_facts)
    outbox = Gauge(
        "strata_outbox", "Messages that wait to be sent or taken, by stage.", ("stage",), registry=now
    )
    for stage, number in services.ledger.outbox.counts().items():
        outbox.labels(stage.value).set(number)
    depths = _depths(services)
    Gauge("strata_broker_up", "1 where the broker answers.", registry=now).set(depths is not None)
    queues = Gauge("strata_queue_messages", "Messages in the broker, by stage.", ("stage",), registry=now)
    for stage, number in (depths or {}).items():
        queues.labels(stage.value).set(number)
    return generate_latest(now) + generate_latest(times.registry)


def _depths(services: Services) -> Mapping[Stage, int] | None:
    try:
        return services.depths()
    except QueueUnavailable:
        return None
