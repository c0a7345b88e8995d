"""The baseline everyone else ships: one flat list of chunks, by vector, by words, or by both fused.

Same texts, same encoder, same words as Strata. The search is exact, so nothing is lost to an index, and BM25
counts its documents inside the scope of the question: the strongest form of the baseline.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from extract.scripts import estimate_tokens
from retrieval.evaluation.judging import Hit
from retrieval.evaluation.sets import Passage
from retrieval.protocols import Embedder, SparseVector, Vector
from retrieval.ranking.fusion import Floats, rrf
from retrieval.sparse import encode_document
from retrieval.tokenizer import tokenize

_WINDOW = 1000
_BATCH = 64


class Chunk(NamedTuple):
    """A text of the flat list and the passages it holds."""

    text: str
    covers: frozenset[str]
    tokens: int


def single(passages: Sequence[Passage]) -> list[Chunk]:
    """Return each passage as a chunk of its own."""
    return [Chunk(one.text, frozenset({one.id}), estimate_tokens(one.text)) for one in passages]


def windows(passages: Sequence[Passage], characters: int = _WINDOW) -> list[Chunk]:
    """Return runs of neighbouring turns of a session, each as long as ``characters`` allow."""
    found: list[Chunk] = []
    for _, session in groupby(passages, key=lambda one: (one.scope, one.meta.get("session"))):
        run: list[Passage] = []
        for turn in session:
            if run and sum(len(one.text) + 1 for one in run) + len(turn.text) > characters:
                found.append(_joined(run))
                run = []
            run.append(turn)
        found.append(_joined(run))
    return found


def _joined(run: Sequence[Passage]) -> Chunk:
    text = "\n".join(one.text for one in run)
    return Chunk(text, frozenset(one.id for one in run), estimate_tokens(text))


class FlatIndex:
    """Chunks of one scope.

    Args:
        chunks: what is searched; not empty.
        embedder: gives their vectors.
    """

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        self._chunks = tuple(chunks)
        parts = range(0, len(self._chunks), _BATCH)
        texts = [chunk.text for chunk in self._chunks]
        self._dense = np.concatenate([embedder.embed_passages(texts[at : at + _BATCH]) for at in parts])
        self._postings = _postings(texts)

    def cosines(self, question: Vector) -> Floats:
        """Return the cosine of every chunk."""
        return np.asarray(self._dense @ question, dtype=np.float64)

    def bm25(self, question: SparseVector) -> Floats:
        """Return the BM25 sum of every chunk; 0 where no word matches."""
        scores = np.zeros(len(self._chunks))
        for term in question.indices:
            if term in self._postings:
                rows, weights = self._postings[term]
                idf = np.log1p((len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += idf * weights
        return scores

    def fused(self, dense: Vector, sparse: SparseVector, k: int = 60) -> Floats:
        """Return the reciprocal rank fusion of both."""
        return rrf([self.cosines(dense), self.bm25(sparse)], k)

    def best(self, scores: Floats, limit: int) -> list[Hit]:
        """Return the chunks with the highest scores, without those scored 0 or less."""
        order = np.argsort(-scores, kind="stable")[:limit]
        return [self._hit(self._chunks[at], float(scores[at])) for at in order if scores[at] > 0]

    @staticmethod
    def _hit(chunk: Chunk, score: float) -> Hit:
        return Hit(chunk.covers, score, len(chunk.text), chunk.tokens)


def _postings(texts: Sequence[str]) -> Mapping[int, tuple[np.ndarray, Floats]]:
    average = max(1.0, sum(sum(1 for _ in tokenize(text)) for text in texts) / len(texts))
    rows: dict[int, list[int]] = defaultdict(list)
    weights: dict[int, list[float]] = defaultdict(list)
    for row, text in enumerate(texts):
        for index, weight in zip(*encode_document(text, average), strict=True):
            rows[index].append(row)
            weights[index].append(weight)
    return {
        term: (np.array(rows[term], dtype=np.int32), np.array(weights[term], dtype=np.float64))
        for term in rows
    }
