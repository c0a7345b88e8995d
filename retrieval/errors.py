"""Errors of storing and searching.

StrataError
├── TransientError
│   ├── StoreUnavailable        store_unavailable
│   ├── EmbedderUnavailable     embedder_unavailable
│   └── RerankerUnavailable     reranker_unavailable
│       └── EmbedderQuota       embedder_quota           the account is used up
└── RetrievalError
    ├── InvalidQuery            invalid_query
    ├── StoreRefused            store_refused
    ├── EmbedderRefused         embedder_refused
    ├── EmbedderMissing         embedder_missing
    ├── RerankerRefused         reranker_refused
    ├── RerankerMissing         reranker_missing
    ├── JudgeFailed             judge_failed
    ├── WeightsDamaged          weights_damaged
    ├── FitImpossible           fit_impossible
    └── FingerprintMismatch     fingerprint_mismatch
"""

from __future__ import annotations

from ingest.errors import StrataError, TransientError


class StoreUnavailable(TransientError):
    """The vector store does not answer."""

    code = "store_unavailable"


class EmbedderUnavailable(TransientError):
    """The embedding service does not answer."""

    code = "embedder_unavailable"


class EmbedderQuota(EmbedderUnavailable):
    """The account at the embedding service is used up."""

    code = "embedder_quota"
    advice = "Top up the account or raise its limit; what waits goes on by itself."


class RerankerUnavailable(TransientError):
    """What scores results once more does not answer."""

    code = "reranker_unavailable"


class RetrievalError(StrataError):
    """The search could not be carried out."""

    code = "retrieval"


class InvalidQuery(RetrievalError):
    """The search request asks for something that does not exist."""

    code = "invalid_query"
    advice = "Compare the request with the schema at /docs."


class FingerprintMismatch(RetrievalError):
    """Two parts were made for different encoders and must not be mixed."""

    code = "fingerprint_mismatch"
    advice = "Re-index with the current encoder, or fit and load weights made for it."


class WeightsDamaged(RetrievalError):
    """The file of ranking weights is missing or broken."""

    code = "weights_damaged"
    advice = "Make a new one with: strata fit-fusion; or set MRAG_FUSION=rrf."


class FitImpossible(RetrievalError):
    """There is nothing to learn from, or what it takes is not installed."""

    code = "fit_impossible"
    advice = "Give sets whose questions have gold passages; docs/retrieval.md describes the layout."


class StoreRefused(RetrievalError):
    """The vector store refused the request."""

    code = "store_refused"
    advice = "Compare the store's version and the collections with what docs/store.md asks for."


class EmbedderRefused(RetrievalError):
    """The embedding service refused the request or gave an answer that cannot be used."""

    code = "embedder_refused"
    advice = "Check EMBED_MODEL, EMBED_BASE_URL and EMBED_DIMENSION against the service's documentation."


class EmbedderMissing(RetrievalError):
    """The chosen encoder is not installed."""

    code = "embedder_missing"
    advice = "Install it with: pip install 'strata-memory[fastembed]'; or choose another EMBEDDER."


class RerankerRefused(RetrievalError):
    """The reranker refused the request or gave an answer that cannot be used."""

    code = "reranker_refused"
    advice = "Check RERANK_URL, RERANK_MODEL and RERANK_API_KEY against the service's documentation."


class RerankerMissing(RetrievalError):
    """The chosen reranker is not installed."""

    code = "reranker_missing"
    advice = "Install it with: pip install 'strata-memory[fastembed]'; or choose another RERANK_BY."


class JudgeFailed(RetrievalError):
    """Whoever says what to ask next gave no verdict that can be used."""

    code = "judge_failed"
    advice = "Check LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, or set AGENTIC_JUDGE=text."
