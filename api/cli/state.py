"""What every command is handed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.cli.client import Client, ServerUnreachable, find_server
from api.cli.server import ensure_server
from api.launcher.home import Home
from workers.settings import Settings

if TYPE_CHECKING:
    from workers.services import Services


@dataclass(frozen=True)
class Context:
    """The settings and the environment they came from."""

    settings: Settings
    environ: dict[str, str]

    def client(self) -> Client:
        """Return a client of the server named by STRATA_URL, else of the local one, started when needed."""
        found = find_server(self.settings, self.environ) if self.environ.get("STRATA_URL") else None
        return Client(found or ensure_server(self.settings, self.environ))

    def running_client(self) -> Client:
        """Return a client of a server that runs already.

        Raises:
            ServerUnreachable: none does.
        """
        found = find_server(self.settings, self.environ)
        if found is None:
            raise ServerUnreachable("Strata is not running.")
        return Client(found)

    def services(self) -> Services:
        """Return the parts themselves, past the API: those the environment names, else the local server's."""
        from workers.services import build_services

        if self.settings.qdrant_url and self.settings.celery_broker_url:
            return build_services(self.settings)
        ensure_server(self.settings, self.environ)
        running = Home(self.settings).server()
        assert running is not None
        return build_services(Settings.from_env({**self.environ, **running.parts}))
