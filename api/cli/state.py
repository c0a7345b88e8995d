"""What every command is handed."""

from __future__ import annotations

from dataclasses import dataclass

from api.cli.client import Client, find_server
from api.cli.server import ensure_server
from workers.settings import Settings


@dataclass(frozen=True)
class Context:
    """The settings and the environment they came from."""

    settings: Settings
    environ: dict[str, str]

    def client(self) -> Client:
        """Return a client of the server named by STRATA_URL, else of the local one, started when needed."""
        found = find_server(self.settings, self.environ) if self.environ.get("STRATA_URL") else None
        return Client(found or ensure_server(self.settings, self.environ))
