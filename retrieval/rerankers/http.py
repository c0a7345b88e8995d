"""A reranking service with the interface that Cohere and Jina share; local servers speak it too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import orjson
import urllib3

from retrieval.errors import RerankerRefused, RerankerUnavailable
from retrieval.extra_knobs import RerankKnobs

_MAX_ANSWER_BYTES = 4 * 2**20
_CHUNK = 65_536
_RETRY_STATUS = frozenset({401, 403, 408, 429})


class HttpReranker:
    """Sends question and texts, reads back an index and a relevance for each. Safe to share between threads.

    Args:
        knobs: address, model, key and patience.

    Raises:
        RerankerRefused: there is no address.
    """

    def __init__(self, knobs: RerankKnobs) -> None:
        if not knobs.url:
            raise RerankerRefused("RERANK_BY=http needs RERANK_URL.")
        self._knobs = knobs
        key = knobs.api_key.get_secret_value()
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        # A redirect could carry the key to somebody else.
        self._pool = urllib3.PoolManager(maxsize=8, retries=False)

    @property
    def name(self) -> str:
        """The model, as it stands in traces."""
        return self._knobs.model or "http"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text; see ``Reranker``."""
        body = {
            "query": question,
            "documents": list(texts),
            "top_n": len(texts),
            "return_documents": False,
            **({"model": self._knobs.model} if self._knobs.model else {}),
        }
        return _aligned(self._post(orjson.dumps(body)), len(texts))

    def _post(self, body: bytes) -> bytes:
        """Return the answer, read under a deadline that a server which drips bytes cannot stretch."""
        deadline = time.monotonic() + self._knobs.timeout_s
        try:
            answer = self._pool.request(
                "POST",
                self._knobs.url,
                body=body,
                headers=self._headers,
                timeout=urllib3.Timeout(total=self._knobs.timeout_s),
                preload_content=False,
            )
            data = _read(answer, deadline)
        except urllib3.exceptions.HTTPError as error:
            raise RerankerUnavailable(f"The reranking service does not answer ({error}).") from error
        if answer.status != 200:
            said = data[:200].decode("utf-8", "replace")
            kind = RerankerUnavailable if _passing(answer.status) else RerankerRefused
            raise kind(f"The reranking service answers {answer.status}: {said}")
        return data


def _read(answer: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := answer.read1(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline:
                raise RerankerUnavailable("The reranking service's answer was not there in time.")
            if size > _MAX_ANSWER_BYTES:
                raise RerankerRefused("The reranking service's answer is too long.")
    except BaseException:
        answer.close()
        raise
    answer.release_conn()
    return b"".join(pieces)


def _passing(status: int) -> bool:
    return status >= 500 or status in _RETRY_STATUS


def _aligned(data: bytes, count: int) -> list[float]:
    """Return a score for every text; a partial answer cannot be told from a wrong one and is none."""
    scores: dict[int, float] = {}
    try:
        results: list[dict[str, Any]] = orjson.loads(data)["results"]
        for one in results:
            scores[int(one["index"])] = float(one["relevance_score"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise RerankerRefused("The reranking service's answer has another form than Cohere's.") from error
    if sorted(scores) != list(range(count)) or len(results) != count:
        raise RerankerRefused(f"The reranking service scored {len(results)} texts of {count}.")
    return [scores[at] for at in range(count)]
