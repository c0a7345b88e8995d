"""A ledger on each database, with a clock that stands still until it is moved."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.workers.parts import ANNA, make_services
from workers.holder import Fate
from workers.ledger.leases import LeaseRules, Leases
from workers.ledger.ledger import Ledger
from workers.model import OutboxEntry, Upload
from workers.services import Services


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class Fates:
    """What became of the holders; they live until told otherwise."""

    def __init__(self) -> None:
        self.me = "me"
        self.known: dict[str, Fate] = {}

    def holder(self) -> str:
        return self.me

    def of(self, holder: str) -> Fate:
        return self.known.get(holder, Fate.ALIVE)


def upload(content: str = "a", **changes: object) -> Upload:
    values = {
        "owner": ANNA,
        "name": f"{content}.txt",
        "media_type": "text/plain",
        "sha256": (content * 64)[:64] if set(content) <= set("0123456789abcdef") else "0" * 64,
        "size_bytes": 3,
        "stored_at": datetime(2026, 3, 1, 11, 59, tzinfo=UTC),
    }
    return Upload.model_validate(values | changes)


def due(ledger: Ledger) -> list[OutboxEntry]:
    """The messages that wait to be sent now."""
    return [one for one in ledger.outbox.waiting() if one.available_at <= ledger.database.now()]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fates() -> Fates:
    return Fates()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.integration)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
        return
    url = request.getfixturevalue("postgres_url")
    schema = f"ledger_{uuid.uuid4().hex}"
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{url}?options=-csearch_path%3D{schema}"
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture
def ledger(database_url: str, clock: Clock, fates: Fates) -> Iterator[Ledger]:
    rules = LeaseRules(lease_s=60, max_attempts=3, max_deaths=2, busy_s=1)
    made = Ledger(database_url, clock=clock, leases=Leases(rules, fates.holder, fates.of))
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    made.migrate()
    yield make_services(made, tmp_path)
    made.close()
