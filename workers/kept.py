"""Extractions of a conversation's episodes, kept for as long as their messages stay as they are.

A stretch is read again when a message arrives late or is edited. Its other episodes are the same as before
then, perhaps at other positions, and are not extracted, or paid for, twice. Each stands in a file named by a
hash of the extractor and of everything in the segment but its positions.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from extract.chat.cache import AnswerCache
from extract.model import Extraction, Segment
from extract.protocols import Extractor
from ingest.artifacts import read_json, write_json
from ingest.ids import episode_id, fact_id
from ingest.model import Document
from workers.model import DocumentRecord, Kind

KEPT = "kept"


class KeepingExtractor:
    """Extracts what it has not extracted before.

    Args:
        extractor: does the work.
        fingerprint: of everything that shapes the result.
        folder: where extractions are kept.
    """

    def __init__(self, extractor: Extractor, fingerprint: str, folder: Path) -> None:
        self._extractor = extractor
        self._mark = fingerprint
        self._folder = folder
        self._used: set[str] = set()

    @property
    def fingerprint(self) -> str:
        """That of the extractor that does the work."""
        return self._extractor.fingerprint

    @property
    def at_once(self) -> int:
        """That of the extractor that does the work."""
        return self._extractor.at_once

    def extract(self, document: Document, segment: Segment) -> Extraction:
        """Return the episode and facts of a segment, as an extractor does."""
        name = f"{_digest(self._mark, segment)}.json"
        self._used.add(name)
        path = self._folder / name
        if path.exists():
            return _placed(read_json(path, Extraction), segment)
        extraction = self._extractor.extract(document, segment)
        write_json(path, extraction)
        return extraction

    def forget_unused(self, answers: AnswerCache) -> None:
        """Remove what this run did not come across: its messages are not as they were.

        Args:
            answers: a language model's; those it was made of go along.
        """
        for path in self._folder.glob("*.json"):
            if path.name not in self._used:
                for name in read_json(path, Extraction).answers:
                    answers.remove(name)
                path.unlink(missing_ok=True)


def keeping(extractor: Extractor, fingerprint: str, record: DocumentRecord, folder: Path) -> Extractor:
    """Return an extractor for a document: for a conversation one that keeps what it makes."""
    if record.kind is not Kind.CONVERSATION:
        return extractor
    return KeepingExtractor(extractor, fingerprint, folder / KEPT)


def forget_unused(extractor: Extractor, answers: AnswerCache) -> None:
    """Let an extractor that keeps what it makes forget what the run that has ended did not need."""
    if isinstance(extractor, KeepingExtractor):
        extractor.forget_unused(answers)


def _digest(mark: str, segment: Segment) -> str:
    content = segment.model_dump(
        mode="json", exclude={"position": True, "elements": {"__all__": {"position"}}}
    )
    return hashlib.sha256(f"{mark}\x1f{json.dumps(content, sort_keys=True)}".encode()).hexdigest()


def _placed(extraction: Extraction, segment: Segment) -> Extraction:
    """Return an extraction at the position its segment has now; ids follow from positions."""
    edges = {"first": segment.elements[0].position, "last": segment.elements[-1].position}
    identity = episode_id(extraction.episode.document_id, segment.position)
    place = {"id": identity, "position": segment.position, **edges}
    facts = (
        fact.model_copy(update={"id": fact_id(identity, fact.position), "episode_id": identity})
        for fact in extraction.facts
    )
    episode = extraction.episode.model_copy(update=place)
    return extraction.model_copy(update={"episode": episode, "facts": tuple(facts)})
