"""``Idempotency-Key``: a request that is sent twice has its effect once and is answered the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import IO, Any

from flask import request

from api.auth import principal
from api.errors import BadRequest
from workers.ledger.idempotency import Idempotency

_MAX_KEY = 255
_CHUNK = 2**20

Answer = tuple[dict[str, Any], int]


def fingerprint(fields: dict[str, Any], files: Iterable[tuple[str, IO[bytes]]]) -> str:
    """Return a hash of what makes an upload what it is: its fields, and the names and bytes of its files."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode())
    for name, stream in files:
        digest.update(b"\x00" + name.encode("utf-8", "replace") + b"\x00")
        while chunk := stream.read(_CHUNK):
            digest.update(hashlib.sha256(chunk).digest())
        stream.seek(0)
    return digest.hexdigest()


def _of_caller(key: str) -> str:
    """Return a key as it is kept: what one bound caller sent says nothing about what another one sends."""
    caller = principal()
    whose = json.dumps([caller.user_id, caller.group_id, key])
    return hashlib.sha256(whose.encode("utf-8", "replace")).hexdigest()


def once(
    kept: Idempotency,
    tenant: str,
    hash_request: Callable[[], str],
    answer: Callable[[], tuple[dict[str, Any], int]],
) -> Answer:
    """Answer a request, or repeat the answer its ``Idempotency-Key`` already has.

    Args:
        kept: the ledger's memory of keys.
        tenant: whose keys.
        hash_request: tells one request from another; called only when a key was sent.
        answer: has the effect and returns body and status.

    Raises:
        BadRequest: the key is too long.
        KeyReused: the key was sent before with another request.
        KeyInFlight: the first request with the key is still being answered.
    """
    key = request.headers.get("Idempotency-Key")
    if not key:
        return answer()
    if len(key) > _MAX_KEY:
        raise BadRequest(f"Idempotency-Key is longer than {_MAX_KEY} characters.")
    key = _of_caller(key)
    stored = kept.begin(tenant, key, hash_request())
    if stored is not None:
        assert isinstance(stored.body, dict)
        return stored.body, stored.status
    try:
        body, status = answer()
    except BaseException:
        kept.abandon(tenant, key)
        raise
    kept.finish(tenant, key, status, body)
    return body, status
