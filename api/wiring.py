"""From settings to a running application, and the first steps of a new instance."""

from __future__ import annotations

from apiflask import APIFlask

from api.app import Authenticate, create_app
from api.auth import Principal, Scope
from api.launcher.home import Home, write_private
from workers.ledger.ledger import Ledger
from workers.services import build_services, database_url
from workers.settings import Settings

_DEFAULT_TENANT = "default"


def open_ledger(settings: Settings) -> Ledger:
    """Return the ledger of these settings."""
    return Ledger(database_url(settings))


def prepare_ledger(settings: Settings, home: Home) -> None:
    """Bring the ledger's tables up to date and make the local administrator's key where there is none."""
    ledger = open_ledger(settings)
    ledger.migrate()
    present = home.api_key()
    if present is None or ledger.keys.find(present) is None:
        secret, _ = ledger.keys.create("local administrator", _DEFAULT_TENANT, (Scope.ADMIN,))
        write_private(home.key_file, secret + "\n")
    ledger.close()


def authenticator(ledger: Ledger) -> Authenticate:
    """Return the look-up of presented keys in a ledger."""

    def by_key(secret: str | None) -> Principal | None:
        key = ledger.keys.find(secret) if secret else None
        if key is None:
            return None
        scope = next(scope for scope in (Scope.ADMIN, Scope.WRITE, Scope.READ) if scope in key.scopes)
        return Principal(tenant=key.tenant, scope=scope, user_id=key.user_id, group_id=key.group_id)

    return by_key


def _anyone(secret: str | None) -> Principal | None:
    return Principal(tenant=_DEFAULT_TENANT, scope=Scope.ADMIN)


def build_app(settings: Settings) -> APIFlask:
    """Build the application with the real parts."""
    services = build_services(settings)
    known = authenticator(services.ledger) if settings.strata_auth == "keys" else _anyone
    return create_app(services, settings, known)
