"""The way to Qdrant that every search takes: points as plain JSON over kept connections.

The client builds and checks a model for every hit and every condition, which costs more than the search
itself once a few hundred candidates come back. Everything else goes through the client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import urllib3
from httpx import Headers
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

Payload = Mapping[str, Any]
_CONNECTIONS = 16


class Wire:
    """Asks a server or the store process for points. Safe to share between threads.

    Args:
        url: where Qdrant is.
        headers: sent with every request; hold the key.
        timeout_s: for a whole request.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self._url = url.rstrip("/")
        self._headers = {**headers, "Content-Type": "application/json"}
        self._pool = urllib3.PoolManager(
            maxsize=_CONNECTIONS, timeout=urllib3.Timeout(total=timeout_s), retries=False
        )

    def query(self, collection: str, searches: Sequence[Payload]) -> list[list[Payload]]:
        """Return one ranked list of points per search, in one round trip.

        Raises:
            ResponseHandlingException: no answer, or none that can be read.
            UnexpectedResponse: the answer is a refusal.
        """
        lists = self._ask(f"collections/{collection}/points/query/batch", {"searches": searches})
        try:
            return [one["points"] for one in lists]
        except (KeyError, TypeError) as error:
            raise ResponseHandlingException(error) from error

    def fetch(self, collection: str, which: Payload, limit: int, fields: Sequence[str]) -> list[Payload]:
        """Return points that pass a filter, with some fields of their payload; raises what ``query`` does."""
        asked = {"filter": which, "limit": limit, "with_payload": fields, "with_vector": False}
        found = self._ask(f"collections/{collection}/points/scroll", asked)
        try:
            points: list[Payload] = found["points"]
        except (KeyError, TypeError) as error:
            raise ResponseHandlingException(error) from error
        return points

    def carry_out(self, body: Payload) -> Payload:
        """Return the results of a pass that the store process carries out; raises what ``query`` does."""
        answer: Payload = self._ask("passes", body)
        return answer

    def _ask(self, path: str, body: Payload) -> Any:  # noqa: ANN401  any JSON
        try:
            answer = self._sent(path, orjson.dumps(body))
        except urllib3.exceptions.HTTPError as error:
            raise ResponseHandlingException(error) from error
        if answer.status != 200:
            raise UnexpectedResponse(
                answer.status, answer.reason or "", answer.data, Headers(dict(answer.headers))
            )
        try:
            return orjson.loads(answer.data)["result"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise ResponseHandlingException(error) from error

    def _sent(self, path: str, body: bytes) -> urllib3.BaseHTTPResponse:
        place = f"{self._url}/{path}"
        try:
            return self._pool.request("POST", place, body=body, headers=self._headers)
        except urllib3.exceptions.ProtocolError:
            # A kept connection turned out to be closed, as after a restart. Asking twice is safe.
            return self._pool.request("POST", place, body=body, headers=self._headers)


class ClientWire:
    """The same through the client, for points kept in this process."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client

    def query(self, collection: str, searches: Sequence[Payload]) -> list[list[Payload]]:
        """Return one ranked list of points per search."""
        requests = [models.QueryRequest.model_validate(search) for search in searches]
        answers = self._client.query_batch_points(collection, requests)
        return [
            [{"id": str(point.id), "score": point.score, "payload": point.payload} for point in one.points]
            for one in answers
        ]

    def fetch(self, collection: str, which: Payload, limit: int, fields: Sequence[str]) -> list[Payload]:
        """Return points that pass a filter, with some fields of their payload."""
        records, _ = self._client.scroll(
            collection,
            scroll_filter=models.Filter.model_validate(which),
            limit=limit,
            with_payload=list(fields),
        )
        return [{"id": str(record.id), "payload": record.payload} for record in records]


def wire_of(client: QdrantClient) -> Wire | ClientWire:
    """Return the way that leads where a client leads."""
    options = client.init_options
    url = options.get("url")
    if not url:
        return ClientWire(client)
    return Wire(url, options.get("headers") or {}, options.get("timeout") or 5)
