"""What is compared: the baseline everyone else ships, each layer and lane alone, and the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import JsonValue

from api.evaluation.errors import Unavailable
from retrieval.evaluation.replay import Muted
from retrieval.model import SearchMethod
from retrieval.protocols import Collection, Lane


class Flat(StrEnum):
    """How the baseline ranks its chunks."""

    DENSE = "dense"
    BM25 = "bm25"
    RRF = "rrf"


class Configuration(NamedTuple):
    """One way to search.

    Attributes:
        name: as it stands in the report.
        about: what it is, in a line.
        flat: how the baseline ranks; None for Strata.
        windows: the baseline's chunks are runs of turns instead of single ones.
        method: of Strata.
        knobs: what differs from the settings.
        muted: lanes that are left out.
        crossed: ranked by weights fitted without the conversation that is asked about.
        blind: the encoder of questions is away.
        plain: without the reranker of the settings.
    """

    name: str
    about: str
    flat: Flat | None = None
    windows: bool = False
    method: SearchMethod = SearchMethod.HYBRID
    knobs: Mapping[str, JsonValue] = {}
    muted: Muted | None = None
    crossed: bool = False
    blind: bool = False
    plain: bool = False

    @property
    def remote(self) -> bool:
        """Whether a server can be asked for it as it is."""
        return not (self.knobs or self.muted or self.crossed or self.blind or self.plain)


def _facts(collection: Collection, lane: Lane) -> bool:
    return collection is Collection.FACTS


def _words(collection: Collection, lane: Lane) -> bool:
    return lane.sparse is not None


def _context(collection: Collection, lane: Lane) -> bool:
    return lane.context


BASELINE = "flat-rrf"
DEFAULT = "hybrid"
ALL = (
    Configuration("flat-dense", "single chunks by vector", flat=Flat.DENSE),
    Configuration("flat-bm25", "single chunks by words", flat=Flat.BM25),
    Configuration(BASELINE, "single chunks, both fused: the usual hybrid", flat=Flat.RRF),
    Configuration(
        "windows-rrf", "runs of turns up to 1,000 characters, both fused", flat=Flat.RRF, windows=True
    ),
    Configuration("keyword", "episodes by words", method=SearchMethod.KEYWORD),
    Configuration("vector", "episodes by vector", method=SearchMethod.VECTOR),
    Configuration("episodes-only", "coarse stage alone: both lanes fused, no facts", muted=_facts),
    Configuration(DEFAULT, "mRAG with the settings in force"),
    Configuration("agentic", "rounds of mRAG with further questions", method=SearchMethod.AGENTIC),
    Configuration("no-rerank", "mRAG without the reranker of the settings", plain=True),
    Configuration("mrag-rrf", "mRAG, fused by ranks", knobs={"fusion": "rrf"}),
    Configuration("mrag-crossed", "mRAG, weights fitted without the conversation asked", crossed=True),
    Configuration("alpha-0", "facts scored by their episode alone", knobs={"alpha": 0.0}),
    Configuration("alpha-0.25", "a quarter of the score from the fact itself", knobs={"alpha": 0.25}),
    Configuration("alpha-0.5", "half of the score from the fact itself", knobs={"alpha": 0.5}),
    Configuration("alpha-0.75", "three quarters of the score from the fact itself", knobs={"alpha": 0.75}),
    Configuration("alpha-1", "facts scored by themselves alone", knobs={"alpha": 1.0}),
    Configuration("no-dense", "by words alone, as when the encoder is away", blind=True),
    Configuration("no-words", "without the word lanes", muted=_words),
    Configuration("no-context", "without what stands around a fact", muted=_context),
)
_NAMES = {one.name: one for one in ALL}


class Means(NamedTuple):
    """What a run can do.

    Attributes:
        remote: the search is a server's, whose knobs cannot be turned.
        crossed: weights are fitted for this run.
        reranks: the settings name a reranker.
    """

    remote: bool = False
    crossed: bool = False
    reranks: bool = False

    def lack(self, one: Configuration) -> str | None:
        """Return what a configuration needs that is not there, None when it can be run."""
        if self.remote and not one.remote:
            return "a search in this process, without --url"
        if one.crossed and not self.crossed:
            return "weights of its own: ask with --cross-fit"
        if one.plain and not self.reranks:
            return "a reranker to leave out: RERANK_BY"
        return None


def chosen(names: Sequence[str], means: Means) -> list[Configuration]:
    """Return configurations by name; all that can be run when none is named.

    Args:
        names: some names.
        means: what this run can do.

    Raises:
        Unavailable: one is not known or cannot be run.
    """
    for name in names:
        if name not in _NAMES:
            raise Unavailable(
                f"There is no configuration {name!r}.", next_step=f"Choose among {', '.join(_NAMES)}."
            )
        if lack := means.lack(_NAMES[name]):
            raise Unavailable(f"The configuration {name!r} needs {lack}.")
    return [_NAMES[name] for name in names] or [one for one in ALL if means.lack(one) is None]
