"""What the commands say to people, against the application itself."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient

from api.cli.client import Address, Client
from api.cli.main import COMMANDS, main
from api.cli.server import start_detached
from api.cli.state import Context
from api.cli.wording import said, table_said
from api.launcher.serve import StartFailed
from tests.api.conftest import KeyMaker
from tests.workers.parts import drain
from workers.services import Services
from workers.settings import Settings

Run = Callable[..., Result]


@pytest.fixture
def run(client: FlaskClient, key: KeyMaker, services: Services, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command against the application, with the key of an unbound caller."""
    bearer = key()["Authorization"].removeprefix("Bearer ")
    transport = httpx.WSGITransport(app=client.application)
    for name in ("client", "running_client"):
        monkeypatch.setattr(
            Context, name, lambda _: Client(Address("http://strata", bearer), transport=transport)
        )
    monkeypatch.delenv("STRATA_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "60")

    def run(*args: str) -> Result:
        found = CliRunner().invoke(main, list(args))
        drain(services)
        return found

    return run


@pytest.fixture
def letter(tmp_path: Path) -> str:
    path = tmp_path / "letter.txt"
    path.write_text("The rent is 900 euros.")
    return str(path)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_named_is_there(name: str) -> None:
    found = CliRunner().invoke(main, [name, "--help"])
    assert (found.exit_code, found.output.startswith("Usage: main " + name)) == (0, True)


def test_help_lists_all_and_an_unknown_one_is_wrong_usage() -> None:
    listed = CliRunner().invoke(main, ["--help"]).output
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", listed, re.MULTILINE)] == []
    assert CliRunner().invoke(main, ["destroy"]).exit_code == 2


def test_a_command_that_only_asks_loads_no_server_parts() -> None:
    heavy = ("flask", "sqlalchemy", "celery", "numpy", "qdrant_client", "api.app", "workers.services")
    told = (
        "import sys; from api.cli.main import main; import api.cli.files, api.cli.search, api.cli.documents; "
        f"print([one for one in {heavy!r} if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_documents_are_listed_and_deleted(run: Run, letter: str) -> None:
    assert "no documents" in run("documents").output
    run("ingest", letter, "--user", "ana")
    (found,) = json.loads(run("documents", "--user", "ana", "--json").output)["documents"]
    shown = run("documents", "--status", "ready").output
    assert all(word in shown for word in (found["id"], "ready", "ana", "letter.txt"))
    assert "no documents" in run("documents", "--user", "ben").output
    # Nothing in an id leads to another document.
    assert run("delete", f"x/../{found['id']}").exit_code == 1
    assert found["id"] in run("documents").output
    assert "Deleted: 1" in run("delete", found["id"]).output
    assert "no documents" in run("documents").output
    gone = run("delete", found["id"])
    assert (gone.exit_code, "not_found" in gone.stderr) == (1, True)


def test_a_superseded_document_shows_it(run: Run, letter: str) -> None:
    run("ingest", letter, "--user", "ana")
    (old,) = json.loads(run("documents", "--json").output)["documents"]
    Path(letter).write_text("The rent is 990 euros.")
    run("ingest", letter, "--user", "ana", "--replace")
    (line,) = [one for one in run("documents").output.splitlines() if old["id"] in one.split("  ")[0]]
    assert "superseded by" in line


def test_a_long_list_says_that_there_is_more(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(3):
        (folder / f"[{number}].txt").write_text(f"The rent is {number} euros.")
    run("ingest", str(folder), "--user", "ana")
    shown = run("documents", "--limit", "2").output
    assert (shown.count(".txt"), "raise --limit" in shown) == (2, True)
    assert "[2].txt" in run("documents").output


def test_status_is_told_in_words(run: Run, letter: str) -> None:
    run("ingest", letter, "--user", "ana")
    shown = run("status").output
    assert "documents: 1 ready" in shown
    assert "memory: 1 episodes, 1 facts" in shown
    assert not re.search(r"[{}]|None|True|False", shown)
    identity = json.loads(run("documents", "--json").output)["documents"][0]["id"]
    document = run("status", identity).output
    assert "running: no" in document
    assert not re.search(r"[{}]|None|True|False", document)


def test_a_search_without_an_owner_names_the_option(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("", "a-key-that-may-be-bound"):
        monkeypatch.setenv("STRATA_API_KEY", key)
        found = run("search", "rent")
        assert (found.exit_code, "--user or --group" in found.stderr) == (2, True)
        assert "filters" not in found.stderr


def test_a_trace_is_shown_to_people(run: Run, letter: str) -> None:
    run("ingest", letter, "--user", "ana")
    shown = run("search", "rent", "--user", "ana", "--trace").output
    assert re.search(r"why: .*rank 1", shown)
    assert re.search(r"search: .*round trips \d", shown)
    assert "why:" not in run("search", "rent", "--user", "ana").output


def test_a_taken_port_is_told_where_the_command_was_given(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StartFailed, match=f"Cannot listen on 127.0.0.1:{port}") as caught:
            start_detached(
                Settings(strata_home=tmp_path / "home", strata_port=port),
                {"STRATA_PORT": str(port), "PYTHONPATH": str(Path(__file__).parents[2])},
            )
    assert "STRATA_PORT" in caught.value.next_step


def test_values_in_words() -> None:
    assert said({"ready": 1200, "failed": 0}) == "1,200 ready, 0 failed"
    assert said([{"code": "ocr", "detail": "slow"}, {}]) == "code ocr, detail slow; -"
    assert (said(None), said(True), said(0.123456), said([])) == ("-", "yes", "0.1235", "-")
    assert table_said({"dense_rank": 1, "cosine": 0.5, "round": None}) == "dense rank 1, cosine 0.5"
