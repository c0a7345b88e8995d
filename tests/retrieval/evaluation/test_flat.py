from __future__ import annotations

import math

import numpy as np
import pytest

from retrieval.embedders.fake import HashEmbedder
from retrieval.evaluation.flat import FlatIndex, single, windows
from retrieval.evaluation.sets import Passage
from retrieval.sparse import encode_query

EMBEDDER = HashEmbedder(256)
TEXTS = ["blue whale", "blue sky blue", "green hill"]


def passages(*texts: str, **meta: str) -> list[Passage]:
    return [Passage(f"p{at}", text, meta) for at, text in enumerate(texts)]


def index(*texts: str) -> FlatIndex:
    return FlatIndex(single(passages(*texts)), EMBEDDER)


def test_bm25_is_the_formula() -> None:
    scores = index(*TEXTS).bm25(encode_query("blue"))
    average = 7 / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def weight(count: int, length: int) -> float:
        return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))

    assert scores.tolist() == pytest.approx([weight(1, 2), weight(2, 3), 0])


def test_cosines_are_exact_and_fusion_counts_ranks() -> None:
    flat = index(*TEXTS)
    question = EMBEDDER.embed_query("blue whale")
    cosines = flat.cosines(question)
    assert cosines[0] == pytest.approx(1, abs=1e-6)
    fused = flat.fused(question, encode_query("blue whale"), k=60)
    assert fused[0] == pytest.approx(1)  # first of both lists
    assert np.argmax(fused) == 0


def test_what_no_word_matches_is_not_listed() -> None:
    flat = index(*TEXTS)
    hits = flat.best(flat.bm25(encode_query("hill")), 10)
    assert [hit.covers for hit in hits] == [{"p2"}]
    assert (hits[0].characters, hits[0].statement) == (len("green hill"), True)
    assert flat.best(flat.bm25(encode_query("ocean")), 10) == []


def test_windows_join_turns_of_one_session_up_to_their_size() -> None:
    turns = [
        *[Passage(f"a{at}", "x" * 40, {"conv": "c", "session": "s1"}) for at in range(3)],
        Passage("b0", "y", {"conv": "c", "session": "s2"}),
        Passage("b1", "z" * 200, {"conv": "c", "session": "s2"}),
    ]
    found = windows(turns, 100)
    assert [sorted(chunk.covers) for chunk in found] == [["a0", "a1"], ["a2"], ["b0"], ["b1"]]
    assert found[0].text == "x" * 40 + "\n" + "x" * 40
