from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedders.fake import HashEmbedder
from retrieval.embedding_cache import CachedEmbedder, VectorCache
from retrieval.protocols import Vector


class Counting(HashEmbedder):
    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.encoded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.encoded += texts
        return super().embed_passages(texts)


def cached(path: Path, inner: Counting, max_bytes: int = 2**20) -> CachedEmbedder:
    return CachedEmbedder(inner, VectorCache(path / "cache" / "vectors.db", max_bytes))


def test_nothing_is_encoded_twice_and_vectors_do_not_change(tmp_path: Path) -> None:
    inner = Counting()
    first = cached(tmp_path, inner).embed_passages(["a", "b", "a", "语\ud800"])
    again = cached(tmp_path, inner).embed_passages(["b", "a", "c"])
    assert inner.encoded == ["a", "b", "语\ud800", "c"]
    np.testing.assert_array_equal(first[[1, 0]], again[:2])
    np.testing.assert_array_equal(first[0], first[2])


def test_rounding_is_slight_and_vectors_stay_unit(tmp_path: Path) -> None:
    inner = Counting(384)
    texts = [f"text number {at}" for at in range(600)]
    found = cached(tmp_path, inner).embed_passages(texts)
    assert (np.sum(found * inner.embed_passages(texts), axis=1) > 0.999999).all()
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)


def test_questions_and_properties_pass_through(tmp_path: Path) -> None:
    inner = Counting()
    made = cached(tmp_path, inner)
    assert (made.embed_query("x") == inner.embed_query("x")).all()
    assert (made.fingerprint, made.dimension) == (inner.fingerprint, 64)
    assert made.embed_passages([]).shape == (0, 64)


def test_encoders_do_not_share_vectors(tmp_path: Path) -> None:
    small, large = Counting(32), Counting(64)
    cached(tmp_path, small).embed_passages(["a"])
    assert cached(tmp_path, large).embed_passages(["a"]).shape == (1, 64)
    assert large.encoded == ["a"]


def test_the_file_is_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    inner = Counting()
    made = cached(tmp_path, inner, max_bytes=200_000)
    for start in range(0, 4000, 100):
        made.embed_passages([f"t{at}" for at in range(start, start + 100)])
    assert (tmp_path / "cache" / "vectors.db").stat().st_size < 400_000
    inner.encoded.clear()
    made.embed_passages(["t3999", "t0"])
    assert inner.encoded == ["t0"]


@pytest.mark.parametrize("damage", [b"no database at all" * 1000, b""])
def test_a_damaged_file_costs_time_only(tmp_path: Path, damage: bytes) -> None:
    inner = Counting()
    made = cached(tmp_path, inner)
    made.embed_passages(["a"])
    (tmp_path / "cache" / "vectors.db").write_bytes(damage)
    assert made.embed_passages(["a"]).shape == (1, 64)
    made.embed_passages(["a"])
    inner.encoded.clear()
    made.embed_passages(["a"])
    assert inner.encoded == []


def test_an_unwritable_place_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "vectors.db").mkdir()
    assert cached(tmp_path, Counting()).embed_passages(["a"]).shape == (1, 64)


def _fill(path: Path, first: int) -> None:
    made = cached(path, Counting())
    for at in range(first, first + 50):
        made.embed_passages([f"t{at}", f"t{at + 1}"])


def test_processes_share_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_fill, args=(tmp_path, first)) for first in (0, 25, 50)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    inner = Counting()
    cached(tmp_path, inner).embed_passages([f"t{at}" for at in range(100)])
    assert inner.encoded == []
