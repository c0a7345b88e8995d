"""What Prometheus is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.wiring import authenticator
from tests.api.conftest import KeyMaker
from tests.api.test_api import ask, is_problem, upload
from tests.workers.parts import drain
from workers.model import Stage
from workers.queue import QueueUnavailable
from workers.services import Services


def scrape(client: FlaskClient, headers: dict[str, str]) -> dict[tuple[str, ...], float]:
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, *sample.labels.values()): sample.value for one in families for sample in one.samples
    }


def test_documents_queues_and_searches_are_counted_over_all_tenants(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    upload(client, key(tenant="acme-secret"), "The rent is 900 euros.", user_id="ana")
    upload(client, key(tenant="other-secret"), "The rent is 900 euros.", user_id="ana")
    headers = key("admin")
    found = scrape(client, headers)
    assert found["strata_documents", "queued"] == 2
    assert found["strata_outbox", "parse"] == 2
    drain(services)
    ask(client, key(tenant="acme-secret"))
    found = scrape(client, headers)
    assert (found["strata_documents", "ready"], found["strata_documents", "queued"]) == (2, 0)
    assert found["strata_outbox", "parse"] == 0
    assert found["strata_request_seconds_count", "/api/v1/memories/search", "200"] == 1
    assert found["strata_request_seconds_count", "/api/v1/documents", "202"] == 2
    assert "secret" not in client.get("/metrics", headers=headers).text


@pytest.mark.parametrize("bound", [{"scope": "write"}, {"scope": "admin", "user_id": "ana"}])
def test_only_an_unbound_administrator_sees_them(
    client: FlaskClient, key: KeyMaker, bound: dict[str, str]
) -> None:
    is_problem(client.get("/metrics", headers=key(**bound)), 403, "forbidden")
    is_problem(client.get("/metrics"), 401, "unauthorized")


def test_queues_are_shown_as_long_as_the_broker_answers(services: Services, key: KeyMaker) -> None:
    def away() -> Any:
        raise QueueUnavailable

    for depths, up, length in ((lambda: dict.fromkeys(Stage, 3), 1, 3), (away, 0, None)):
        parts = replace(services, depths=depths)
        app = create_app(parts, parts.settings, authenticator(parts.ledger))
        found = scrape(app.test_client(), key("admin"))
        assert found["strata_broker_up",] == up
        assert found.get(("strata_queue_messages", "index")) == length
