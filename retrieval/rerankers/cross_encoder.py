"""A cross-encoder run by fastembed: by name from its hub, or from a folder without a network. An extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

from retrieval.errors import RerankerMissing, RerankerRefused, RerankerUnavailable
from retrieval.extra_knobs import RerankKnobs

_MODEL_FILE = "model.onnx"
_BATCH = 16


class CrossEncoder:
    """Reads question and text together, which tells more than two vectors and takes longer.

    Args:
        knobs: ``model``, or ``model_dir``.

    Raises:
        RerankerMissing: fastembed is not installed.
        RerankerRefused: the settings name no usable model.
    """

    def __init__(self, knobs: RerankKnobs) -> None:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError as error:
            raise RerankerMissing("RERANK_BY=fastembed needs the package fastembed.") from error
        folder = knobs.model_dir
        if folder is not None and not (folder / _MODEL_FILE).is_file():
            raise RerankerRefused(f"RERANK_MODEL_DIR needs {_MODEL_FILE} in it.")
        if folder is None and not knobs.model:
            raise RerankerRefused("RERANK_BY=fastembed needs RERANK_MODEL or RERANK_MODEL_DIR.")
        self._library = TextCrossEncoder
        self._knobs = knobs
        self._name = knobs.model if folder is None else f"local/{folder.name}"
        self._lock = Lock()
        self._model: Any = None
        self._loaded_in = 0

    @property
    def name(self) -> str:
        """The model, as it stands in traces."""
        return self._name

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, as logits; see ``Reranker``."""
        found = self._loaded().rerank(question, list(texts), batch_size=_BATCH)
        return [float(score) for score in found]

    def _loaded(self) -> Any:  # noqa: ANN401  the library's types are not installed
        with self._lock:
            # The threads of a session do not live on in a forked child.
            if self._model is None or self._loaded_in != os.getpid():
                self._model, self._loaded_in = self._load(), os.getpid()
        return self._model

    def _load(self) -> Any:  # noqa: ANN401  the library's types are not installed
        folder = self._knobs.model_dir
        if folder is not None:
            self._register()
        try:
            return self._library(
                self._name,
                threads=self._knobs.threads,
                **({} if folder is None else {"specific_model_path": str(folder)}),
            )
        except (OSError, ValueError) as error:
            raise RerankerUnavailable(f"The model {self._name} cannot be loaded: {error}") from error

    def _register(self) -> None:
        from fastembed.common.model_description import ModelSource

        if all(known["model"] != self._name for known in self._library.list_supported_models()):
            self._library.add_custom_model(
                model=self._name, sources=ModelSource(hf=self._name), model_file=_MODEL_FILE
            )
