"""What is compared: the baseline everyone else ships, each layer and lane alone, and the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """

    name: str
    about: str
    flat: Flat | None = None
    windows: bool = False
    method: SearchMethod = SearchMethod.HYBRID
    knobs: Mapping[str, JsonValue] = {}
    muted: Muted | None = None
    crossed: bool = False


def _facts(collection: Collection, lane: Lane) -> bool:
    return collection is Collection.FACTS


def _dense(collection: Collection, lane: Lane) -> bool:
    return lane.dense is not None


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
    Configuration("mrag-rrf", "mRAG, fused by ranks", knobs={"fusion": "rrf"}),
    Configuration("mrag-crossed", "mRAG, weights fitted without the conversation asked", crossed=True),
    Configuration("alpha-0", "facts scored by their episode alone", knobs={"alpha": 0.0}),
    Configuration("alpha-0.25", "a quarter of the score from the fact itself", knobs={"alpha": 0.25}),
    Configuration("alpha-0.5", "half of the score from the fact itself", knobs={"alpha": 0.5}),
    Configuration("alpha-0.75", "three quarters of the score from the fact itself", knobs={"alpha": 0.75}),
    Configuration("alpha-1", "facts scored by themselves alone", knobs={"alpha": 1.0}),
    Configuration("no-dense", "without the vector lanes", muted=_dense),
    Configuration("no-words", "without the word lanes", muted=_words),
    Configuration("no-context", "without what stands around a fact", muted=_context),
)
_NAMES = {one.name: one for one in ALL}
# What a server can be asked for; everything else is a matter of its settings.
_REMOTE = tuple(one.name for one in ALL if one.flat or not (one.knobs or one.muted or one.crossed))


def chosen(names: Sequence[str], *, remote: bool, crossed: bool = False) -> list[Configuration]:
    """Return configurations by name, all when none is named.

    Args:
        names: some names.
        remote: the search is a server's, whose knobs cannot be turned.
        crossed: weights are fitted for this run.

    Raises:
        Unavailable: one is not known, or needs a search in this process.
    """
    known = _REMOTE if remote else tuple(_NAMES)
    for name in names:
        if name not in _NAMES:
            raise Unavailable(f"There is no configuration {name!r}.", next_step=_choose(_NAMES))
        if name not in known:
            raise Unavailable(f"{name!r} needs a search in this process.", next_step=_choose(known))
        if _NAMES[name].crossed and not crossed:
            raise Unavailable(f"{name!r} needs weights of its own.", next_step="Ask with --cross-fit.")
    return [_NAMES[name] for name in (names or known) if crossed or not _NAMES[name].crossed]


def _choose(names: Iterable[str]) -> str:
    return f"Choose among {', '.join(names)}."
