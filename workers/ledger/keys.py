"""API keys. Only a hash is kept; the secret is shown once."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterable

from sqlalchemy import bindparam, select

from workers.errors import NotFound
from workers.ledger.database import Database
from workers.ledger.tables import ApiKeyRow
from workers.model import ApiKey

_PREFIX = "strata_"
# Every request asks this; putting the question together took longer than the answer.
_BY_SECRET = select(ApiKeyRow).where(
    ApiKeyRow.secret_sha256 == bindparam("hashed"), ApiKeyRow.revoked_at.is_(None)
)


class ApiKeys:
    """Makes, finds and revokes API keys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, name: str, tenant: str, scopes: Iterable[str], *, user_id: str | None = None,
        group_id: str | None = None,
    ) -> tuple[str, ApiKey]:  # fmt: skip
        """Make a key of 256 random bits; return its secret, which cannot be shown again, and the key."""
        secret = _PREFIX + secrets.token_urlsafe(32)
        row = ApiKeyRow(
            id=str(uuid.uuid4()),
            secret_sha256=_hash(secret),
            name=name,
            tenant=tenant,
            user_id=user_id,
            group_id=group_id,
            scopes=sorted(set(scopes)),
            created_at=self._database.now(),
        )
        with self._database.write() as session:
            session.add(row)
            session.flush()
            return secret, _key(row)

    def find(self, secret: str) -> ApiKey | None:
        """Return the key of a secret unless it is unknown or revoked.

        The secret is random and long, so a plain SHA-256 is enough and a look-up by it leaks nothing.
        """
        with self._database.read() as session:
            row = session.scalar(_BY_SECRET, {"hashed": _hash(secret)})
            return None if row is None else _key(row)

    def list(self, tenant: str) -> list[ApiKey]:
        """Return a tenant's keys, revoked ones included, oldest first."""
        query = select(ApiKeyRow).where(ApiKeyRow.tenant == tenant).order_by(ApiKeyRow.created_at)
        with self._database.read() as session:
            return [_key(row) for row in session.scalars(query)]

    def revoke(self, tenant: str, key_id: str) -> None:
        """Make a key useless from now on.

        Raises:
            NotFound: the tenant has no such key.
        """
        with self._database.write() as session:
            row = session.get(ApiKeyRow, key_id, with_for_update=True)
            if row is None or row.tenant != tenant:
                raise NotFound("There is no such key.")
            row.revoked_at = row.revoked_at or self._database.now()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _key(row: ApiKeyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        user_id=row.user_id,
        group_id=row.group_id,
        scopes=tuple(row.scopes),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )
