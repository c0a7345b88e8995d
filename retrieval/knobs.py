"""The knobs of search, each a setting ``MRAG_<NAME>``; none can be set per request."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr

from ingest.anchors import Frozen


class Fusion(StrEnum):
    """How several signals become one score.

    ``auto`` is ``lr`` where there are weights for the encoder in use, else ``rrf``.
    """

    AUTO = "auto"
    RRF = "rrf"
    LR = "lr"


class MragKnobs(Frozen):
    """Depths, weights and bounds of the mRAG loop; ranges are checked at start.

    Attributes:
        coarse_depth: episodes fetched per lane, whatever ``top_k`` is.
        coarse_reach: episodes known per lane, where that is deeper.
        fact_depth: facts fetched per lane that lead the way to episodes.
        fact_reach: facts known by their words, half as many by their vector, where that is deeper; facts of
            the best episodes are taken from them.
        rrf_k: constant of reciprocal rank fusion.
        fusion: logistic regression with fitted weights (lr), reciprocal ranks (rrf), or what is there (auto).
        lr_weights: weights file for LR; None means the shipped one for the encoder in use.
        alpha: share of the fact's own score in its final score.
        batch: episodes expanded per round.
        expand: episodes of which all facts are scored, or twice ``top_k`` if that is more.
        facts_per_episode: facts scored per expanded episode.
        fresh_depth: facts read per lane of those that only their episode brought up.
        patience: rounds with facts but without a change before the loop stops.
        relevant_from: score under which even the best hit means that nothing relevant is in memory.
    """

    coarse_depth: int = Field(default=40, ge=1, le=1000)
    coarse_reach: int = Field(default=100, ge=1, le=5000)
    fact_depth: int = Field(default=40, ge=1, le=1000)
    fact_reach: int = Field(default=200, ge=1, le=5000)
    rrf_k: int = Field(default=60, ge=1, le=1000)
    fusion: Fusion = Fusion.AUTO
    lr_weights: Path | None = None
    alpha: float = Field(default=0.5, ge=0, le=1)
    batch: int = Field(default=8, ge=1, le=100)
    expand: int = Field(default=20, ge=1, le=1000)
    facts_per_episode: int = Field(default=50, ge=1, le=1000)
    fresh_depth: int = Field(default=30, ge=1, le=1000)
    patience: int = Field(default=10, ge=1, le=1000)
    relevant_from: float = Field(default=0.1, ge=0, le=1)


class IndexKnobs(Frozen):
    """How documents enter the index, each a setting ``INDEX_<NAME>``.

    Attributes:
        batch: texts embedded at a time; written are whole episodes with their facts.
        rows_per_table: rows of one table that become facts; the rows after them stay readable in the content
            of the document, and a warning says so. A row takes the store about 10 kB of memory.
        dense_rows_per_table: rows of one table that get a dense vector; the rows after them are found by
            their words only. Encoding is the slow step (2,000 rows take a core about 25 s), and rows differ
            by words and numbers, not by sense.
        ungrounded: index facts whose quote was not found in the source.
    """

    batch: int = Field(default=64, ge=1, le=1024)
    rows_per_table: int = Field(default=250_000, ge=1)
    dense_rows_per_table: int = Field(default=2000, ge=0)
    ungrounded: bool = False


class EmbedKnobs(Frozen):
    """How texts become vectors, each a setting ``EMBED_<NAME>``; which encoder is ``EMBEDDER``.

    Attributes:
        threads: processor threads of a local encoder; 1 where several workers share the cores.
        cache_mb: size of the file that remembers vectors of stored texts; 0 turns it off.
        model: model name at the service (openai) or in fastembed's list.
        model_dir: folder with ``model.onnx`` and its tokenizer, for fastembed without a network.
        dimension: length of the model's vectors. openai and ``model_dir`` need it.
        base_url, api_key: the OpenAI-compatible service; an empty URL is OpenAI's own.
        send_dimension: ask the service for this length, where it can shorten vectors.
        query_instruction, document_instruction: put before questions and before stored texts.
        batch_texts, batch_tokens: most texts and most estimated tokens per request.
        text_tokens: longer texts are read in parts and averaged.
        timeout_s, retries: per request; a retry waits as long as the service asks for.
        price_in: what a million tokens cost at the service, in any currency.
    """

    threads: int = Field(default=1, ge=1, le=64)
    cache_mb: int = Field(default=512, ge=0)
    model: str = ""
    model_dir: Path | None = None
    dimension: int = Field(default=0, ge=0, le=65_535)
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    send_dimension: bool = False
    query_instruction: str = ""
    document_instruction: str = ""
    batch_texts: int = Field(default=64, ge=1, le=2048)
    batch_tokens: int = Field(default=8000, ge=1)
    text_tokens: int = Field(default=8000, ge=16)
    timeout_s: float = Field(default=30.0, gt=0)
    retries: int = Field(default=4, ge=0, le=20)
    price_in: float = Field(default=0.0, ge=0)
