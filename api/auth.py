"""Who is calling: bearer keys, hashed in the ledger and bound to a tenant and perhaps a user.

Without keys ("open") every caller is the default tenant's administrator; the launcher allows that only on
a loopback address and only when told so.
"""

from __future__ import annotations

from enum import StrEnum

from flask import current_app, g, request

from api.errors import BadRequest, Forbidden, Unauthorized
from ingest.anchors import Frozen
from ingest.model import Owner
from workers.texts import is_storable


class Scope(StrEnum):
    """What a key may do. Admin includes write, write includes read."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


_INCLUDES = {
    Scope.READ: {Scope.READ},
    Scope.WRITE: {Scope.READ, Scope.WRITE},
    Scope.ADMIN: set(Scope),
}


class Principal(Frozen):
    """The caller. A bound ``user_id`` or ``group_id`` limits every call to that owner."""

    tenant: str
    scope: Scope
    user_id: str | None = None
    group_id: str | None = None


def presented_key() -> str | None:
    """Return the key of the current request, from ``Authorization: Bearer`` or ``X-API-Key``."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    return request.headers.get("X-API-Key") or None


def principal() -> Principal:
    """Return who is calling; the answer is kept for the rest of the request.

    Raises:
        Unauthorized: no key, or one that is unknown or revoked.
    """
    found = g.get("principal")
    if found is None:
        found = g.principal = current_app.extensions["strata_authenticate"](presented_key())
    if not isinstance(found, Principal):
        raise Unauthorized("This API key is not known, or was revoked." if presented_key() else None)
    return found


def require(scope: Scope) -> Principal:
    """Return the caller if it may do this.

    Raises:
        Unauthorized: no valid key.
        Forbidden: a valid key without the scope.
    """
    caller = principal()
    if scope not in _INCLUDES[caller.scope]:
        raise Forbidden(f"This call needs a key with the scope '{scope}'; this key has '{caller.scope}'.")
    return caller


def owner_for(caller: Principal, user_id: str | None, group_id: str | None, session_id: str | None) -> Owner:
    """Return the owner of what the caller hands in.

    A key bound to a user or group fills that in and refuses any other.

    Raises:
        Forbidden: the key is bound to somebody else.
        ValueError: neither a user nor a group is named (as pydantic's ValidationError).
    """
    for bound, asked, name in ((caller.user_id, user_id, "user_id"), (caller.group_id, group_id, "group_id")):
        if bound is not None and asked is not None and asked != bound:
            raise Forbidden(f"This key is bound to the {name} '{bound}'.")
    for given in (user_id, group_id, session_id):
        if given is not None and (not given.strip() or not is_storable(given)):
            raise BadRequest("The name of an owner or a session is blank, or no text that can be kept.")
    return Owner(
        tenant=caller.tenant,
        user_id=user_id or caller.user_id,
        group_id=group_id or caller.group_id,
        session_id=session_id,
    )


def adding_for(caller: Principal, owner: Owner) -> Owner:
    """Return the owner of what the caller adds, which for a bound key is exactly what it is bound to.

    Within its own memory a bound key may ask narrower; what it adds must not turn up in another's memory.

    Raises:
        Forbidden: the owner is also a user or group that the key is not bound to.
    """
    bound = {"user_id": caller.user_id, "group_id": caller.group_id}
    if any(bound.values()):
        for name, value in bound.items():
            if (named := getattr(owner, name)) != value:
                raise Forbidden(
                    f"This key is not bound to the {name} '{named}', so it adds nothing there.",
                    next_step=f"Leave {name} out, or use a key that is bound to both or to nobody.",
                )
    return owner
