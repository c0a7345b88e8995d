"""How each configuration is asked a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from api.cli.client import Client
from api.evaluation.answers import hits_of
from api.evaluation.configurations import Configuration, Flat
from api.evaluation.ground import TENANT, Ground
from api.evaluation.ingest import Coverage
from api.schemas.search import QueryOut, SearchResponse
from extract.language import detect_language
from retrieval.errors import EmbedderUnavailable
from retrieval.evaluation.flat import Chunk, FlatIndex
from retrieval.evaluation.judging import Hit
from retrieval.evaluation.sets import Question
from retrieval.knobs import MragKnobs
from retrieval.model import SearchQuery
from retrieval.protocols import Embedder, Vector
from retrieval.query_parse import parse_filters
from retrieval.ranking.scoring import LrScorer
from retrieval.ranking.weights import FusionWeights
from retrieval.search import Searcher
from retrieval.sparse import encode_query
from workers.asking import make_extras

# How deep the baseline's lists are read; they are cut to the size of other answers.
_FLAT_DEPTH = 100


class Found(NamedTuple):
    """An answer: its hits, how long it took in milliseconds, and the parts that did not work."""

    hits: list[Hit]
    took_ms: float
    degraded: tuple[str, ...] = ()


Ask = Callable[[Question], Found]
Unseen = Callable[[Question], FusionWeights]


class Away:
    """An encoder that is away when a question comes.

    Args:
        inner: the one that is meant.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def fingerprint(self) -> str:
        """That of the encoder inside."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """That of the encoder inside."""
        return self._inner.dimension

    def embed_query(self, text: str) -> Vector:
        """Raise EmbedderUnavailable."""
        raise EmbedderUnavailable("The encoder is left out.")

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return what the encoder inside returns."""
        return self._inner.embed_passages(texts)


def flat_search(
    one: Configuration,
    chunks: Mapping[str, Sequence[Chunk]],
    embedder: Embedder,
    indexes: dict[str, FlatIndex],
) -> Ask:
    """Return the search of a baseline.

    Args:
        one: the configuration.
        chunks: by memory.
        embedder: gives vectors.
        indexes: filled as memories are asked, shared by baselines over the same chunks.
    """

    def ask(question: Question) -> Found:
        text, memory = question.text, question.memory
        if memory not in indexes:
            indexes[memory] = FlatIndex(chunks[memory], embedder)
        index = indexes[memory]
        dense = embedder.embed_query(text)
        started = perf_counter()
        sparse = encode_query(text, detect_language(text))
        if one.flat is Flat.DENSE:
            scores = index.cosines(dense)
        elif one.flat is Flat.BM25:
            scores = index.bm25(sparse)
        else:
            scores = index.fused(dense, sparse)
        return Found(index.best(scores, _FLAT_DEPTH), (perf_counter() - started) * 1000)

    return ask


def local_search(
    one: Configuration, ground: Ground, coverage: Coverage, top_k: int, unseen: Unseen | None = None
) -> Ask:
    """Return the search of a configuration in this process; times leave out encoding the question.

    Args:
        one: the configuration.
        ground: where it is searched.
        coverage: which passages things show.
        top_k: hits wanted.
        unseen: gives the weights for a configuration that is ranked by weights of its own.
    """
    knobs = MragKnobs.model_validate({**ground.services.settings.mrag.model_dump(), **one.knobs})
    services = ground.services
    extras = make_extras(services.settings, services.chat)
    if one.plain:
        extras = extras._replace(rerank=None)
    embedder = Away(ground.embedder) if one.blind else ground.embedder
    usual = Searcher(ground.store, embedder, knobs, extras=extras)
    fitted: dict[int, Searcher] = {}

    def searcher_for(question: Question) -> Searcher:
        if not one.crossed or unseen is None:
            return usual
        weights = unseen(question)
        if id(weights) not in fitted:
            fitted[id(weights)] = Searcher(ground.store, embedder, knobs, LrScorer(weights), extras)
        return fitted[id(weights)]

    def ask(question: Question) -> Found:
        ground.embedder.embed_query(question.text)
        searcher, filters = searcher_for(question), {"user_id": question.memory}
        query = SearchQuery(
            text=question.text, tenant=TENANT, where=parse_filters(filters, user_id=None, group_id=None),
            method=one.method, top_k=top_k,
        )  # fmt: skip
        ground.store.muted, ground.store.saved_s = one.muted, 0.0
        started = perf_counter()
        answer = searcher.search(query)
        took = perf_counter() - started + ground.store.saved_s
        shown = QueryOut(text=question.text, method=one.method, filters_applied=filters)
        hits = hits_of(SearchResponse.of(answer, shown).public(), coverage)
        return Found(hits, took * 1000, tuple(part.part for part in answer.degraded))

    return ask


def remote_search(one: Configuration, client: Client, coverage: Coverage, top_k: int, prefix: str) -> Ask:
    """Return the search of a configuration over the API; times are those of the whole request.

    Args:
        one: the configuration.
        client: the API.
        coverage: which passages things show.
        top_k: hits wanted.
        prefix: put before the names of memories.
    """

    def ask(question: Question) -> Found:
        body: dict[str, Any] = {
            "query": question.text, "method": one.method, "top_k": top_k,
            "filters": {"user_id": prefix + question.memory},
        }  # fmt: skip
        started = perf_counter()
        answer = client.call("POST", "/api/v1/memories/search", json=body)
        took = (perf_counter() - started) * 1000
        return Found(
            hits_of(answer, coverage), took, tuple(one["part"] for one in answer.get("degraded", ()))
        )

    return ask
