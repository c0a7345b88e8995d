"""Models that fastembed runs: by name from its hub, or from a folder without a network. An optional extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from retrieval.errors import EmbedderMissing, EmbedderRefused, EmbedderUnavailable
from retrieval.knobs import EmbedKnobs
from retrieval.protocols import Vector

_MODEL_FILE = "model.onnx"


class FastEmbedder:
    """Runs a model with fastembed; mean pooling for models in a folder of one's own.

    Args:
        knobs: ``model``, or ``model_dir`` with ``dimension``.

    Raises:
        EmbedderMissing: fastembed is not installed.
        EmbedderRefused: the settings name no usable model.
    """

    def __init__(self, knobs: EmbedKnobs) -> None:
        try:
            os.putenv("ORT_DISABLE_TELEMETRY", "1")  # before it loads onnxruntime
            import fastembed
        except ImportError as error:
            raise EmbedderMissing("EMBEDDER=fastembed needs the package fastembed.") from error
        self._knobs = knobs
        self._lock = Lock()
        self._model: Any = None
        self._loaded_in = 0
        if knobs.model_dir is not None:
            self._name, self._dimension = _folder_name(knobs.model_dir), knobs.dimension
            if not self._dimension or not (knobs.model_dir / _MODEL_FILE).is_file():
                raise EmbedderRefused(f"EMBED_MODEL_DIR needs {_MODEL_FILE} in it, and EMBED_DIMENSION.")
        else:
            self._name = knobs.model
            try:
                self._dimension = int(fastembed.TextEmbedding.get_embedding_size(knobs.model))
            except ValueError as error:
                raise EmbedderRefused(f"fastembed does not know the model {knobs.model!r}.") from error

    @property
    def fingerprint(self) -> str:
        """Model, instructions and dimension."""
        told = f"{self._knobs.query_instruction}\x1f{self._knobs.document_instruction}"
        return f"fastembed-{self._name}-{sha256(told.encode()).hexdigest()[:8]}-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question.

        Raises:
            EmbedderUnavailable: the model cannot be loaded now.
        """
        found: Vector = _unit(self._loaded().query_embed([self._knobs.query_instruction + text]))[0]
        return found

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of stored texts, in the order given; raises what ``embed_query`` raises."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        instruction = self._knobs.document_instruction
        return _unit(
            self._loaded().passage_embed(
                [instruction + text for text in texts], batch_size=self._knobs.batch_texts
            )
        )

    def _loaded(self) -> Any:  # noqa: ANN401  the library's types are not installed
        with self._lock:
            # The threads of a session do not live on in a forked child.
            if self._model is None or self._loaded_in != os.getpid():
                self._model, self._loaded_in = self._load(), os.getpid()
        return self._model

    def _load(self) -> Any:  # noqa: ANN401  the library's types are not installed
        from fastembed import TextEmbedding

        folder = self._knobs.model_dir
        if folder is not None:
            _register(self._name, self._dimension)
        try:
            return TextEmbedding(
                self._name,
                threads=self._knobs.threads,
                **({} if folder is None else {"specific_model_path": str(folder)}),
            )
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(f"The model {self._name} cannot be loaded: {error}") from error


def _folder_name(folder: Path) -> str:
    """A name that changes with the model file: vectors of two models must not meet."""
    model = folder / _MODEL_FILE
    size = model.stat().st_size if model.is_file() else 0
    return f"local/{folder.name}-{size}"


def _register(name: str, dimension: int) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    if any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        return
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=name),
        dim=dimension,
        model_file=_MODEL_FILE,
    )


def _unit(vectors: Any) -> Vector:  # noqa: ANN401  the library's types are not installed
    rows = np.asarray(list(vectors), dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vector = rows / np.maximum(lengths, np.float32(1e-12))
    return unit
