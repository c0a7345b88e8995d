"""The knobs of search, each a setting ``MRAG_<NAME>``; none can be set per request."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from ingest.anchors import Frozen


class Fusion(StrEnum):
    """How two ranked lists become one score."""

    RRF = "rrf"
    LR = "lr"


class MragKnobs(Frozen):
    """Depths, weights and bounds of the mRAG loop; ranges are checked at start.

    Attributes:
        coarse_depth: episodes fetched per lane, whatever ``top_k`` is.
        fact_depth: facts fetched per lane.
        rrf_k: constant of reciprocal rank fusion.
        fusion: RRF, or logistic regression with fitted weights.
        lr_weights: weights file for LR; None means the shipped one.
        alpha: share of the fact's own score in its final score.
        batch: episodes expanded per round.
        expand: episodes of which all facts are scored, or twice ``top_k`` if that is more.
        facts_per_episode: facts scored per expanded episode.
        patience: rounds with facts but without a change before the loop stops.
    """

    coarse_depth: int = Field(default=100, ge=1, le=1000)
    fact_depth: int = Field(default=100, ge=1, le=1000)
    rrf_k: int = Field(default=60, ge=1, le=1000)
    fusion: Fusion = Fusion.RRF
    lr_weights: Path | None = None
    alpha: float = Field(default=0.5, ge=0, le=1)
    batch: int = Field(default=8, ge=1, le=100)
    expand: int = Field(default=24, ge=1, le=1000)
    facts_per_episode: int = Field(default=50, ge=1, le=1000)
    patience: int = Field(default=10, ge=1, le=1000)


class IndexKnobs(Frozen):
    """How documents enter the index, each a setting ``INDEX_<NAME>``.

    Attributes:
        batch: texts embedded at a time; written are whole episodes with their facts.
        dense_rows_per_table: rows of one table that get a dense vector; the rows after them are found by
            their words only. Encoding is the slow step, and rows differ by words and numbers, not by sense.
        ungrounded: index facts whose quote was not found in the source.
    """

    batch: int = Field(default=64, ge=1, le=1024)
    dense_rows_per_table: int = Field(default=500, ge=0)
    ungrounded: bool = False
