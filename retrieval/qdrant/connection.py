"""Reaching Qdrant, and what its failures mean to us."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from retrieval.errors import StoreRefused, StoreUnavailable

# A wrong key is put right by the operator; what waits for the store must not be lost over it.
_RETRY_STATUS = frozenset({401, 403, 408, 429})


def connect(url: str, api_key: str = "", timeout_s: int = 30) -> QdrantClient:
    """Return a client for a server or the store process.

    The key goes as a header of our own making: the client's ``api_key`` would insist on HTTPS. Connections
    are kept open, which the client does not do by itself on loopback.
    """
    return QdrantClient(
        url=url,
        headers={"api-key": api_key} if api_key else None,
        timeout=timeout_s,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
        check_compatibility=False,
    )


@contextmanager
def store_errors(kept: Collection[int] = ()) -> Iterator[None]:
    """Turn failures of the client inside the block into ours.

    Args:
        kept: statuses of answers that are left to the caller as they are.

    Raises:
        StoreUnavailable: no answer, or one that may be another one later.
        StoreRefused: the request itself is refused.
    """
    try:
        yield
    except ResponseHandlingException as error:
        raise StoreUnavailable("The vector store does not answer.") from error
    except ResourceExhaustedResponse as error:
        raise StoreUnavailable(
            "The vector store asks to slow down.", retry_after_s=error.retry_after_s
        ) from error
    except UnexpectedResponse as error:
        status = error.status_code or 500
        if status in kept:
            raise
        said = error.content.decode("utf-8", "replace")[:300]
        if status >= 500 or status in _RETRY_STATUS:
            raise StoreUnavailable(f"The vector store answers {status}: {said}") from error
        raise StoreRefused(f"The vector store answers {status}: {said}") from error
