from __future__ import annotations

import numpy as np

from retrieval.embedders.fake import HashEmbedder


def test_similar_texts_are_near_and_vectors_are_unit() -> None:
    embedder = HashEmbedder()
    apples, pie, taxes, empty = embedder.embed_passages(["red apples", "a red apple pie", "tax law", ""])
    assert apples @ pie > 0.4 > abs(apples @ taxes)
    np.testing.assert_allclose([np.linalg.norm(v) for v in (apples, pie, taxes, empty)], 1.0, rtol=1e-6)


def test_the_same_text_gives_the_same_vector() -> None:
    assert (HashEmbedder().embed_query("预算 x-1") == HashEmbedder().embed_passages(["预算 x-1"])[0]).all()


def test_dimension_and_fingerprint_agree() -> None:
    embedder = HashEmbedder(32)
    assert embedder.embed_passages([]).shape == (0, 32)
    assert embedder.fingerprint.endswith("-32")
