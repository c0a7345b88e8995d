from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from retrieval.embedders.table import EMBEDDERS, make_embedder
from retrieval.embedding_cache import CachedEmbedder
from retrieval.errors import EmbedderMissing
from retrieval.knobs import EmbedKnobs

KNOBS = EmbedKnobs(model="m", dimension=384)


@pytest.mark.parametrize("name", sorted(set(EMBEDDERS) - {"fastembed"}))
def test_every_row_makes_an_embedder_without_loading_a_model(name: str) -> None:
    made = make_embedder(name, KNOBS)
    assert made.dimension == 384
    assert made.fingerprint.endswith("-384")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(EmbedderMissing) as caught:
        make_embedder("word2vec", KNOBS)
    assert "fastembed" in caught.value.next_step


@pytest.mark.skipif(importlib.util.find_spec("fastembed") is not None, reason="fastembed is installed")
def test_a_missing_package_is_named() -> None:
    with pytest.raises(EmbedderMissing, match="fastembed") as caught:
        make_embedder("fastembed", KNOBS)
    assert "pip install" in caught.value.next_step


def test_a_cache_file_puts_a_cache_around(tmp_path: Path) -> None:
    assert isinstance(make_embedder("e5", KNOBS, tmp_path / "vectors.db"), CachedEmbedder)
    off = KNOBS.model_copy(update={"cache_mb": 0})
    assert not isinstance(make_embedder("e5", off, tmp_path / "vectors.db"), CachedEmbedder)
