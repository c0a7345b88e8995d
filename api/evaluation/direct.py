"""Talks into memory in this process: their sessions as documents, extracted and indexed as the stages do."""

from __future__ import annotations

from collections.abc import Callable

from api.evaluation.ground import TENANT, Ground
from api.evaluation.ingest import Coverage
from retrieval.evaluation.corpus import documents, extractions
from retrieval.evaluation.sets import QuestionSet
from retrieval.index import index_document


def put_talks(ground: Ground, the_set: QuestionSet, tell: Callable[[int], None]) -> tuple[Coverage, int, int]:
    """Index the sessions of talks; return what they show, and the numbers of documents and facts."""
    order = [one.id for one in the_set.passages]
    episodes: dict[str, frozenset[str]] = {}
    count = facts = start = 0
    for document, elements in documents(the_set.passages, TENANT):
        made = list(extractions(document, elements))
        report = index_document(ground.store, ground.embedder, document, made)
        for one in made:
            within = slice(start + one.episode.first, start + one.episode.last + 1)
            episodes[one.episode.id] = frozenset(order[within])
        start += len(elements)
        facts += report.facts
        count += 1
        tell(start)
    units = {id_: episode for episode, ids in episodes.items() for id_ in ids}
    return Coverage({}, episodes, units), count, facts
