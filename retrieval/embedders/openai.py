"""Any service that speaks OpenAI's ``/v1/embeddings``."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from extract.chat.body import BodyTooLong, BodyTooSlow, read_body
from extract.chat.errand import current
from extract.chat.faults import of_refusal, retry_after, telling_words
from extract.chat.model import CallRecord, Usage
from extract.errors import QuotaExhausted
from extract.scripts import estimate_tokens
from ingest.errors import StrataError
from retrieval.embedders.meter import UNMETERED, Meter
from retrieval.errors import EmbedderQuota, EmbedderRefused, EmbedderUnavailable, FingerprintMismatch
from retrieval.knobs import EmbedKnobs
from retrieval.protocols import Vector

if TYPE_CHECKING:
    from openai import APIError, OpenAI

# Bytes of UTF-8 per token, on the safe side: English has about four, Chinese three.
_BYTES_PER_TOKEN = 3
# The most a number of a vector takes in JSON, and what may stand around them.
_BYTES_PER_NUMBER = 40
_BYTES_AROUND = 2**20
# A wrong key or an exceeded quota is put right by the operator; nothing has to be sent again.
_RETRY_STATUS = frozenset({401, 402, 403, 408, 409, 425, 429})


class OpenAIEmbedder:
    """Asks a service for vectors, in batches bounded by texts and tokens.

    Texts longer than ``text_tokens`` are read in parts and averaged by their lengths: nothing is cut.

    Args:
        knobs: model, dimension and address; ``model`` and ``dimension`` have to be set.
        meter: asked before every request, and told of it afterwards.

    Raises:
        EmbedderRefused: model or dimension is missing.
    """

    def __init__(self, knobs: EmbedKnobs, meter: Meter = UNMETERED) -> None:
        if not knobs.model or not knobs.dimension:
            raise EmbedderRefused("EMBED_MODEL and EMBED_DIMENSION have to be set for EMBEDDER=openai.")
        self._knobs = knobs
        self._meter = meter
        self._lock = Lock()
        self._client: OpenAI | None = None

    @property
    def fingerprint(self) -> str:
        """Model, instructions and dimension."""
        knobs = self._knobs
        told = sha256(f"{knobs.query_instruction}\x1f{knobs.document_instruction}".encode()).hexdigest()[:8]
        return f"openai-{knobs.model}-{told}-{knobs.dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._knobs.dimension

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question.

        Raises:
            EmbedderUnavailable: the service does not answer.
            EmbedderRefused: it refuses the request.
            FingerprintMismatch: its vectors have another length than ``EMBED_DIMENSION``.
        """
        found: Vector = self._embed([text], self._knobs.query_instruction)[0]
        return found

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, in the order given; raises what ``embed_query`` raises."""
        return self._embed(texts, self._knobs.document_instruction)

    def _embed(self, texts: Sequence[str], instruction: str) -> Vector:
        total = np.zeros((len(texts), self.dimension), dtype=np.float32)
        room = max(64, self._knobs.text_tokens * _BYTES_PER_TOKEN - len(instruction.encode()))
        parts = [(at, part) for at, text in enumerate(texts) for part in _parts(text, room)]
        for batch in self._batches(parts):
            vectors = self._recorded([instruction + part for _, part in batch])
            for (at, part), vector in zip(batch, vectors, strict=True):
                total[at] += len(part) * vector
        return _unit(total)

    def _batches(self, parts: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
        batch: list[tuple[int, str]] = []
        tokens = 0
        for at, part in parts:
            cost = len(part.encode()) // _BYTES_PER_TOKEN + 1
            full = len(batch) >= self._knobs.batch_texts or tokens + cost > self._knobs.batch_tokens
            if batch and full:
                yield batch
                batch, tokens = [], 0
            batch.append((at, part))
            tokens += cost
        if batch:
            yield batch

    def _recorded(self, texts: list[str]) -> Vector:
        self._meter.before()
        started = time.monotonic()
        usage, outcome = Usage(), "failed"
        try:
            vectors, usage = self._ask(texts)
            outcome = "ok"
            return vectors
        except StrataError as error:
            outcome = error.code
            raise
        finally:
            seconds = time.monotonic() - started
            self._meter.after(CallRecord(self._knobs.model, usage, seconds, outcome, 1, current()))

    def _ask(self, texts: list[str]) -> tuple[Vector, Usage]:
        rows, told = _read(self._post(texts))
        if len(rows) != len(texts):
            raise EmbedderRefused(f"The service gave {len(rows)} vectors for {len(texts)} texts.")
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise FingerprintMismatch(
                f"{self._knobs.model} gives vectors of {wrong.pop()} numbers, not of {self.dimension}.",
                next_step="Set EMBED_DIMENSION to the model's length, or choose another EMBED_MODEL.",
            )
        return _unit(_numbers(rows)), _used(told, texts)

    def _post(self, texts: list[str]) -> bytes:
        """Return the raw answer, read under a deadline and a size limit."""
        import httpx2
        from openai import APIConnectionError, APIError, omit

        most = len(texts) * self.dimension * _BYTES_PER_NUMBER + _BYTES_AROUND
        try:
            with self._connected().embeddings.with_streaming_response.create(
                model=self._knobs.model,
                input=texts,
                encoding_format="float",
                dimensions=self.dimension if self._knobs.send_dimension else omit,
            ) as response:
                return read_body(response.iter_bytes(), time.monotonic() + self._knobs.timeout_s, most)
        except (APIConnectionError, httpx2.HTTPError) as error:
            raise EmbedderUnavailable(f"The embedding service does not answer ({error}).") from error
        except APIError as error:
            raise _failure(error) from error
        except BodyTooSlow as error:
            message = f"The vectors were not there after {self._knobs.timeout_s:g} s."
            raise EmbedderUnavailable(message) from error
        except BodyTooLong as error:
            raise EmbedderRefused("The service sent far more than the vectors it was asked for.") from error

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _connected(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI(
                    # Local services want no key, the client insists on one.
                    api_key=self._knobs.api_key.get_secret_value() or "none",
                    base_url=self._knobs.base_url or "https://api.openai.com/v1",
                    timeout=self._knobs.timeout_s,
                    max_retries=self._knobs.retries,
                )
        return self._client


def _read(raw: bytes) -> tuple[list[Any], object]:
    """Return the vectors of an answer in the order of the texts, and what it says of their cost."""
    try:
        answer = json.loads(raw)
        if answer.get("error") and not answer.get("data"):
            status = answer["error"].get("code")
            said = telling_words(answer["error"])
            raise _refusal(status if isinstance(status, int) else 500, said, None)
        items = sorted(answer["data"], key=lambda item: item.get("index", 0))
        return [list(item["embedding"]) for item in items], answer.get("usage")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbedderUnavailable("The embedding service sent no readable answer.") from error


def _numbers(rows: list[Any]) -> Vector:
    try:
        return np.asarray(rows, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise EmbedderRefused("The service gave a vector that is no list of numbers.") from error


def _used(told: object, texts: Sequence[str]) -> Usage:
    """Return the tokens of a request, counted here when the service does not tell them."""
    tokens = told.get("prompt_tokens") if isinstance(told, dict) else None
    if isinstance(tokens, int) and tokens > 0:
        return Usage(prompt_tokens=tokens)
    return Usage(prompt_tokens=sum(map(estimate_tokens, texts)), estimated=True)


def _parts(text: str, room: int) -> Iterator[str]:
    """Cut a text into parts of at most so many bytes, at blanks where there are any."""
    rest = text.replace("\x00", " ").encode("utf-8", "replace").strip() or b"."
    while len(rest) > room:
        head = rest[:room]
        blank = head.rfind(b" ")
        cut = blank if blank > room // 2 else len(head.decode("utf-8", "ignore").encode())
        yield rest[:cut].decode("utf-8")
        rest = rest[cut:].lstrip()
    if rest:
        yield rest.decode("utf-8")


def _unit(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EmbedderRefused("The service gave a vector that is zero or no number.")
    unit: Vector = vectors / lengths
    return unit


def _failure(error: APIError) -> EmbedderUnavailable | EmbedderRefused:
    status = getattr(error, "status_code", None)
    headers = getattr(getattr(error, "response", None), "headers", {})
    said = f"{telling_words(error.body)} {error.message}"
    return _refusal(status, said, retry_after(headers))


def _refusal(status: int | None, said: str, wait_s: float | None) -> EmbedderUnavailable | EmbedderRefused:
    detail = f"The embedding service answers {status}: {said.strip()[:300]}"
    if isinstance(of_refusal(status or 500, said, wait_s), QuotaExhausted):
        return EmbedderQuota(detail, retry_after_s=wait_s)
    if status is None or status >= 500 or status in _RETRY_STATUS:
        return EmbedderUnavailable(detail, retry_after_s=wait_s)
    return EmbedderRefused(detail)
