"""Which words of an episode or a fact are searched, by meaning and by term."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

from extract.model import AtomicFact, Episode, SegmentKind
from ingest.anchors import SectionAnchor, SheetAnchor
from retrieval.protocols import SparseVector
from retrieval.sparse import encode_document

# Mean number of terms of a text. They shape the stored weights, so a change needs a new index.
EPISODE_TERMS = 300.0
FACT_TERMS = 30.0

# A summary shorter than this says too little to be found by; the start of the text goes with it.
_SHORT_SUMMARY = 200
_LEAD = 1000

_TOLD_ON = re.compile(r"^\s*[(（][^()（）]*\d[^()（）]*[)）](?=\s*[:：])")


def episode_dense_text(episode: Episode) -> str:
    """Return what the encoder reads of an episode: title and summary, and the lead where these are short.

    Encoders dilute long texts, so this stays well under 400 tokens for most.
    """
    parts = [episode.title, episode.summary]
    if len(episode.summary) < _SHORT_SUMMARY:
        parts.append(episode.text[:_LEAD])
    return "\n".join(part for part in parts if part)


def episode_terms(episode: Episode) -> SparseVector:
    """Return the weighted terms of an episode: title, summary and the whole text."""
    text = "\n".join((episode.title, episode.summary, episode.text))
    return encode_document(text, EPISODE_TERMS)


def fact_dense_text(fact: AtomicFact) -> str:
    """Return what the encoder reads of a fact: its text without the date it was told on.

    A statement of a talk begins with who said it and when ("Ann (8 May 2023): …"). The same date on every
    statement of a day makes them alike, so it is left to the terms and the stored times.
    """
    for person in (fact.speaker, *fact.participants):
        if person and fact.text.startswith(person):
            return person + _TOLD_ON.sub("", fact.text[len(person) :], count=1)
    return fact.text


def fact_terms(fact: AtomicFact) -> SparseVector:
    """Return the weighted terms of a fact: its text, its topic and the headings above it."""
    headings = chain.from_iterable(
        anchor.heading_path for anchor in fact.anchors if isinstance(anchor, SectionAnchor)
    )
    text = "\n".join((fact.text, fact.topic_name, *dict.fromkeys(headings)))
    return encode_document(text, FACT_TERMS)


class RowQuota:
    """Counts the rows of each table of one document and says which still get a dense vector.

    Args:
        rows_per_table: how many rows of one table do.
    """

    def __init__(self, rows_per_table: int) -> None:
        self._left: Counter[str] = Counter()
        self._rows_per_table = rows_per_table

    def admits_episode(self, episode: Episode) -> bool:
        """Return whether an episode gets a dense vector: not when its table's rows are used up."""
        return episode.kind is not SegmentKind.TABLE or self._used(_table_of(episode)) < self._rows_per_table

    def admits_fact(self, episode: Episode, fact: AtomicFact) -> bool:
        """Return whether the next fact of an episode gets a dense vector, and count it."""
        if episode.kind is not SegmentKind.TABLE:
            return True
        table = _table_of(fact)
        self._left[table] += 1
        return self._used(table) <= self._rows_per_table

    def _used(self, table: str) -> int:
        return self._left[table]


def _table_of(item: Episode | AtomicFact) -> str:
    """A workbook's sheets are tables of their own; elsewhere a document's rows are one table."""
    return next((anchor.sheet for anchor in item.anchors if isinstance(anchor, SheetAnchor)), "")
