"""Extracting a document's segments, several at a time where a model is waited for, each kept once made."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import NamedTuple

from extract.chat.errand import Errand, running
from extract.errors import ExtractError
from extract.model import Extraction, Segment
from extract.protocols import Extractor
from ingest.model import Document, ParseWarning
from workers.journal import Journal
from workers.lanes import Lanes
from workers.model import Stage
from workers.watch import Interrupted, Watch

# A worker that is told to stop still takes what arrives in these seconds: it has been paid for.
_LAST_ANSWERS_S = 3.0
_SHOWN = 10


class Extracted(NamedTuple):
    """What a run over the segments has seen.

    Attributes:
        segments: how many the document has.
        failures: those of which nothing could be made, in order, and why.
    """

    segments: int
    failures: tuple[tuple[Segment, ExtractError], ...]


def extract_segments(
    extractor: Extractor, document: Document, segments: Iterable[Segment], journal: Journal, watch: Watch
) -> Extracted:
    """Extract what the journal does not hold yet.

    When a service fails or the time slice ends, what already runs is finished and kept before that is told;
    when the stage must not go on, nothing is waited for.

    Raises:
        TransientError, ModelRefuses: see ``Extractor``.
        StageStopped: the stage must not go on.
        Interrupted: it should go on later.
    """
    run = _Run(extractor, document, journal, watch)
    with Lanes(run.extract, extractor.at_once, watch.check) as lanes:
        # A single lane is this very thread: nobody could leave the block while it waits.
        over = lanes.over if extractor.at_once > 1 else watch.over
        errand = Errand(document.owner.tenant, document.id, Stage.EXTRACT.value, over)
        with running(errand):
            try:
                count = run.all(segments, lanes)
            except Interrupted:
                run.keep_rest(lanes)
                raise
    return Extracted(count, run.failures)


class _Run:
    def __init__(self, extractor: Extractor, document: Document, journal: Journal, watch: Watch) -> None:
        self._extractor = extractor
        self._document = document
        self._journal = journal
        self._watch = watch
        self._done = 0
        self._failures: list[tuple[Segment, ExtractError]] = []
        self._trouble: Exception | None = None

    @property
    def failures(self) -> tuple[tuple[Segment, ExtractError], ...]:
        return tuple(sorted(self._failures, key=lambda one: one[0].position))

    def extract(self, segment: Segment) -> Extraction:
        return self._extractor.extract(self._document, segment)

    def all(self, segments: Iterable[Segment], lanes: Lanes[Segment, Extraction]) -> int:
        count = 0
        for segment in segments:
            count = segment.position + 1
            fresh = not self._journal.holds(segment)
            if fresh:
                lanes.put(segment)
                self._keep(lanes.finished())
            else:
                self._done += len(segment.elements)
            if self._trouble is not None:
                break
            self._watch.tell(self._done, self._document.element_count, may_pause=fresh)
        while ended := lanes.rest():
            self._keep(ended)
            self._watch.tell(self._done, self._document.element_count, may_pause=False)
        if self._trouble is not None:
            raise self._trouble
        return count

    def keep_rest(self, lanes: Lanes[Segment, Extraction]) -> None:
        """Take what is on its way before making room; when the worker stops, only for a moment."""
        try:
            while ended := lanes.rest():
                self._keep(ended)
        except Interrupted:
            self._keep(lanes.rest_within(_LAST_ANSWERS_S))

    def _keep(self, ended: Iterable[tuple[Segment, Future[Extraction]]]) -> None:
        for segment, future in ended:
            error = future.exception()
            if error is None:
                self._journal.add(future.result())
                self._done += len(segment.elements)
            elif isinstance(error, ExtractError):
                self._failures.append((segment, error))
                self._done += len(segment.elements)
            elif isinstance(error, Exception):
                self._trouble = self._trouble or error
            else:
                raise error


def warnings_of(extracted: Extracted, journal: Journal) -> list[ParseWarning]:
    """Return what has to be said of an extraction: parts left out, worded without the model, or empty."""
    found = []
    if extracted.failures:
        first = extracted.failures[0][1]
        places = _listed([segment.elements[0].anchor.label() for segment, _ in extracted.failures])
        detail = f"{len(extracted.failures)} parts gave nothing ({places}): {first.detail}"
        found.append(ParseWarning(code="segments_left_out", detail=detail))
    if journal.replaced:
        codes = ", ".join(sorted(set(journal.replaced)))
        detail = f"The facts of {len(journal.replaced)} parts were made without the language model ({codes})."
        found.append(ParseWarning(code="model_replaced", detail=detail))
    if journal.ungrounded:
        detail = f"{journal.ungrounded} facts rest on words that are not in the text; they are not searched."
        found.append(ParseWarning(code="ungrounded_facts", detail=detail))
    if journal.empty:
        found.append(
            ParseWarning(code="episodes_without_facts", detail=f"{journal.empty} parts gave no fact.")
        )
    return found


def _listed(labels: list[str]) -> str:
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(labels[:_SHOWN]) + more
