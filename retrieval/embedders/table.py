"""The encoders that the setting ``EMBEDDER`` may name. A new one: a module, and a row here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from retrieval.embedders.meter import UNMETERED, Meter
from retrieval.embedding_cache import CachedEmbedder, VectorCache
from retrieval.errors import EmbedderMissing
from retrieval.knobs import EmbedKnobs
from retrieval.protocols import Embedder


def _e5(knobs: EmbedKnobs, meter: Meter) -> Embedder:
    from retrieval.embedders.e5 import E5Embedder

    return E5Embedder(knobs.threads)


def _openai(knobs: EmbedKnobs, meter: Meter) -> Embedder:
    from retrieval.embedders.openai import OpenAIEmbedder

    return OpenAIEmbedder(knobs, meter)


def _fastembed(knobs: EmbedKnobs, meter: Meter) -> Embedder:
    from retrieval.embedders.fastembed import FastEmbedder

    return FastEmbedder(knobs)


# Heavy libraries load inside, so only the chosen one does.
EMBEDDERS: dict[str, Callable[[EmbedKnobs, Meter], Embedder]] = {
    "e5": _e5,
    "openai": _openai,
    "fastembed": _fastembed,
}


def make_embedder(
    name: str, knobs: EmbedKnobs, cache_file: Path | None = None, meter: Meter = UNMETERED
) -> Embedder:
    """Return the encoder of this name; nothing is loaded before its first use.

    Args:
        name: a key of ``EMBEDDERS``.
        knobs: its settings.
        cache_file: where vectors of stored texts are remembered; None, or ``cache_mb`` of 0: nowhere.
        meter: asked before every request to a service, and told of it afterwards.

    Raises:
        EmbedderMissing: there is no such encoder, or its package is not installed.
        EmbedderRefused: the settings do not describe a usable model.
    """
    if name not in EMBEDDERS:
        raise EmbedderMissing(
            f"There is no encoder {name!r}.", next_step=f"Set EMBEDDER to one of {', '.join(EMBEDDERS)}."
        )
    made = EMBEDDERS[name](knobs, meter)
    if cache_file is None or not knobs.cache_mb:
        return made
    return CachedEmbedder(made, VectorCache(cache_file, knobs.cache_mb * 2**20))
