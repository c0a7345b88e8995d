"""Idempotency keys: a request that is sent twice has its effect once and is answered the same."""

from __future__ import annotations

import json
from datetime import timedelta

from pydantic import JsonValue
from sqlalchemy import delete
from sqlalchemy.orm import Session

from workers.errors import KeyInFlight, KeyReused
from workers.ledger.database import Database
from workers.ledger.tables import IdempotencyRow
from workers.model import StoredResponse


class Idempotency:
    """Remembers the answers to requests that carried a key.

    The errors mean what draft-ietf-httpapi-idempotency-key-header says.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self, tenant: str, key: str, request_hash: str, in_flight_s: float = 600
    ) -> StoredResponse | None:
        """Reserve a key, or return the answer it already has.

        Args:
            tenant: the tenant.
            key: the caller's key, up to 255 characters.
            request_hash: SHA-256 of what makes the request what it is.
            in_flight_s: a reservation older than this, in seconds, is of a process that died.

        Raises:
            KeyReused: the key belongs to another request.
            KeyInFlight: the first request is still being answered.
        """
        now = self._database.now()
        values = {"tenant": tenant, "key": key, "request_hash": request_hash, "created_at": now}
        with self._database.write() as session:
            if self._database.insert_new(session, IdempotencyRow, values):
                return None
            row = self._row(session, tenant, key)
            if row.request_hash != request_hash:
                raise KeyReused
            if row.status is not None:
                return StoredResponse(status=row.status, body=json.loads(row.body or "null"))
            if row.created_at > now - timedelta(seconds=in_flight_s):
                raise KeyInFlight
            row.created_at = now
            return None

    def finish(self, tenant: str, key: str, status: int, body: JsonValue) -> None:
        """Keep the answer of a reserved key."""
        with self._database.write() as session:
            row = self._row(session, tenant, key)
            row.status, row.body = status, json.dumps(body)

    def abandon(self, tenant: str, key: str) -> None:
        """Free a reserved key whose request had no effect."""
        with self._database.write() as session:
            session.execute(
                delete(IdempotencyRow).where(
                    IdempotencyRow.tenant == tenant,
                    IdempotencyRow.key == key,
                    IdempotencyRow.status.is_(None),
                )
            )

    def forget(self, older_than_s: float) -> None:
        """Drop answers kept for longer than this."""
        before = self._database.now() - timedelta(seconds=older_than_s)
        with self._database.write() as session:
            session.execute(delete(IdempotencyRow).where(IdempotencyRow.created_at < before))

    def _row(self, session: Session, tenant: str, key: str) -> IdempotencyRow:
        return session.get_one(IdempotencyRow, (tenant, key), with_for_update=True)
