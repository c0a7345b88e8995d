"""An application on the real ledger, blobs and store, in one process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api.app import create_app
from api.auth import Principal
from api.wiring import authenticator
from tests.workers.parts import make_services
from workers.ledger.ledger import Ledger
from workers.services import Services

KeyMaker = Callable[..., dict[str, str]]


@pytest.fixture
def services(tmp_path: Path) -> Services:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger.migrate()
    made = make_services(ledger, tmp_path)
    made.store.prepare()
    yield made
    ledger.close()


@pytest.fixture
def client(services: Services) -> FlaskClient:
    authenticate: Callable[[str | None], Principal | None] = authenticator(services.ledger)
    app = create_app(services, services.settings, authenticate)
    app.testing = False  # errors become answers, as in production
    return app.test_client()


@pytest.fixture
def key(services: Services) -> KeyMaker:
    """Make a key and return the header that presents it."""

    def make(scope: str = "write", tenant: str = "acme", **bound: str) -> dict[str, str]:
        secret, _ = services.ledger.keys.create("test", tenant, (scope,), **bound)
        return {"Authorization": f"Bearer {secret}"}

    return make
