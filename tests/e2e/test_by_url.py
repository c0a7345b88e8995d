"""The same instance led by URL: PostgreSQL for the ledger, Redis or RabbitMQ for the queue."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.e2e.instance import Instance, ask

pytestmark = [pytest.mark.e2e, pytest.mark.integration, pytest.mark.timeout(240)]
SAMPLES = Path(__file__).parent.parent.parent / "api" / "samples"


@pytest.fixture
def own_database(postgres_url: str) -> Iterator[str]:
    """A database of its own on the PostgreSQL server, removed afterwards."""
    name = f"strata_{uuid.uuid4().hex[:12]}"
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.mark.parametrize("broker", ["redis_url", "rabbitmq_url"])
def test_outside_servers_do_the_same_work(
    broker: str, request: pytest.FixtureRequest, own_database: str, tmp_path: Path
) -> None:
    url = request.getfixturevalue(broker)
    instance = Instance(tmp_path / "home", DATABASE_URL=own_database, CELERY_BROKER_URL=url)
    client = instance.start()
    try:
        assert [child.name for child in instance.home.server().children] == ["store", "worker", "api"]  # type: ignore[union-attr]
        folder = tmp_path / "files"
        folder.mkdir()
        for name in ("2026-03-12 Atlas planning.vtt", "customers.csv", "发票更正.eml"):
            (folder / name).write_bytes((SAMPLES / name).read_bytes())
        done = instance.run("ingest", str(folder), "--user", "ana", "--wait", "--json")
        assert done.returncode == 0, done.stderr + instance.logs()
        assert json.loads(done.stdout)["counts"] == {"ready": 3}
        first = ask(client, "what did we decide about the Q2 deadline?", "ana")["facts"][0]
        assert first["anchors"][0]["label"] == "00:00:41 Alice Meyer"
        assert not (tmp_path / "home" / "ledger.db").exists()
    finally:
        instance.stop()
