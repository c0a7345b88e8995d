"""The folder an embedded instance lives in: its data, its secrets, its lock and who is running.

STRATA_HOME/
  ledger.db  blobs/  artifacts/  store/  broker/     the data
  secrets.json  api.key                              made at first start, readable by the owner only
  run/lock  run/server.json  run/logs/               one running instance
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from ingest.anchors import Frozen
from ingest.errors import StrataError
from workers.settings import Settings


class AlreadyRunning(StrataError):
    """Another instance is already running on this folder."""

    code = "already_running"
    advice = "Use it, stop it with `strata stop`, or choose another STRATA_HOME."


class Secrets(Frozen):
    """The passwords between the parts."""

    store_key: str
    broker_password: str


class Running(Frozen):
    """A process that was started. ``created`` (seconds since 1970) tells it from a later one of its pid."""

    name: str
    pid: int
    created: float


class ServerFile(Frozen):
    """What is running: written by the launcher, read by `stop` and the other commands.

    ``parts`` leads to the embedded parts, as settings; it holds their passwords, so the file is private.
    """

    url: str
    launcher: Running
    children: tuple[Running, ...] = ()
    parts: dict[str, str] = Field(default_factory=dict)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; only its owner may read it."""
    temporary = path.with_name(path.name + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


class Home:
    """Paths and small files of one instance."""

    def __init__(self, settings: Settings) -> None:
        self.root = settings.strata_home.expanduser().absolute()
        self.run = self.root / "run"
        self.logs = self.run / "logs"

    def prepare(self) -> None:
        """Make the folders, closed to others."""
        for folder in (self.root, self.run, self.logs, self.root / "broker", self.root / "store"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def secrets(self) -> Secrets:
        """Return the secrets, made at first use."""
        path = self.root / "secrets.json"
        if not path.exists():
            made = Secrets(
                store_key=secrets.token_urlsafe(32),
                broker_password=secrets.token_urlsafe(32),
            )
            write_private(path, made.model_dump_json(indent=1))
        return Secrets.model_validate_json(path.read_text(encoding="utf-8"))

    @property
    def key_file(self) -> Path:
        """Where the local administrator's API key is kept."""
        return self.root / "api.key"

    def api_key(self) -> str | None:
        """Return the local administrator's API key, or None before the first start."""
        return self.key_file.read_text(encoding="utf-8").strip() if self.key_file.exists() else None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for one launcher; the lock falls with the process, however it ends.

        Raises:
            AlreadyRunning: another launcher holds it.
        """
        with (self.run / "lock").open("w", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                running = self.server()
                where = f" at {running.url}" if running else ""
                raise AlreadyRunning(f"Strata is already running on {self.root}{where}.") from error
            yield

    def server(self) -> ServerFile | None:
        """Return what was last started here, or None; it may have died since."""
        try:
            return ServerFile.model_validate_json((self.run / "server.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def write_server(self, server: ServerFile) -> None:
        """Record what is running."""
        write_private(self.run / "server.json", server.model_dump_json(indent=1))

    def forget_server(self) -> None:
        """Record that nothing is running."""
        (self.run / "server.json").unlink(missing_ok=True)
