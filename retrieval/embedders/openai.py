"""Any service that speaks OpenAI's ``/v1/embeddings``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from extract.chat.errand import current
from extract.chat.model import CallRecord, Usage
from extract.scripts import estimate_tokens
from ingest.errors import StrataError
from retrieval.embedders.meter import UNMETERED, Meter
from retrieval.errors import EmbedderRefused, EmbedderUnavailable, FingerprintMismatch
from retrieval.knobs import EmbedKnobs
from retrieval.protocols import Vector

if TYPE_CHECKING:
    from openai import APIError, OpenAI

# Bytes of UTF-8 per token, on the safe side: English has about four, Chinese three.
_BYTES_PER_TOKEN = 3
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
        from openai import APIConnectionError, APIError, omit

        try:
            answer = self._connected().embeddings.create(
                model=self._knobs.model,
                input=texts,
                encoding_format="float",
                dimensions=self.dimension if self._knobs.send_dimension else omit,
            )
        except APIConnectionError as error:
            raise EmbedderUnavailable(f"The embedding service does not answer ({error}).") from error
        except APIError as error:
            raise _failure(error) from error
        rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        if len(rows) != len(texts):
            raise EmbedderRefused(f"The service gave {len(rows)} vectors for {len(texts)} texts.")
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise FingerprintMismatch(
                f"{self._knobs.model} gives vectors of {wrong.pop()} numbers, not of {self.dimension}.",
                next_step="Set EMBED_DIMENSION to the model's length, or choose another EMBED_MODEL.",
            )
        return _unit(np.asarray(rows, dtype=np.float32)), _used(answer.usage, texts)

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


def _used(told: object, texts: Sequence[str]) -> Usage:
    """Return the tokens of a request, counted here when the service does not tell them."""
    tokens = getattr(told, "prompt_tokens", None)
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
    said = f"The embedding service answers {status}: {error.message[:300]}"
    if status is None or status >= 500 or status in _RETRY_STATUS:
        headers = getattr(getattr(error, "response", None), "headers", {})
        wait = str(headers.get("retry-after", ""))
        return EmbedderUnavailable(said, retry_after_s=float(wait) if wait.isdigit() else None)
    return EmbedderRefused(said)
