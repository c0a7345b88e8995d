"""From an answer of the API to hits that can be judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.evaluation.ingest import Coverage
from extract.scripts import estimate_tokens
from retrieval.evaluation.judging import Hit


def hits_of(answer: Mapping[str, Any], coverage: Coverage) -> list[Hit]:
    """Return facts and episodes of an answer in one list, best first.

    A fact shows the passages its anchors name and returns its statement; an episode shows all its passages
    and returns its whole text.

    Args:
        answer: the JSON body of a search.
        coverage: which passages things show.
    """
    facts = [_fact(one, coverage) for one in answer["facts"]]
    episodes = [_episode(one, coverage) for one in answer["episodes"]]
    return sorted([*facts, *episodes], key=lambda hit: -hit.score)


def _fact(fact: Mapping[str, Any], coverage: Coverage) -> Hit:
    covers = coverage.of_fact(fact["anchors"], fact["document"]["id"])
    text = fact["atomic_fact"]
    return Hit(covers, fact["score"], len(text), estimate_tokens(text))


def _episode(episode: Mapping[str, Any], coverage: Coverage) -> Hit:
    covers = coverage.of_episode(episode["id"], episode["document"]["id"])
    text = episode["episode"]
    return Hit(covers, episode["score"], len(text), estimate_tokens(text), statement=False)
