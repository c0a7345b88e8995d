"""The extractions of a document, each on disk as soon as it is made, so that a retry goes on where it ended.

Every run of the stage appends to a file of its own: two runs can never mix their lines, and a line that was
cut by a crash can only be the last of its file. When all segments are done the files become one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

import orjson

from extract.model import Extraction, Segment
from ingest.artifacts import replacing


class _Place(NamedTuple):
    file: Path
    offset: int
    length: int
    first: int
    last: int
    facts: int
    ungrounded: int
    replaced: str


class Journal:
    """What has been extracted of one document by one extractor.

    Args:
        folder: the document's folder.
        fingerprint: of everything that shapes the result; the work of another extractor is not taken over.
        run: a name no other run of the stage has.
    """

    def __init__(self, folder: Path, fingerprint: str, run: str) -> None:
        mark = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._earlier = sorted(folder.glob(f"extracted.{mark}.*.part"))
        self._own = folder / f"extracted.{mark}.{run}.part"
        self._places: dict[int, _Place] = {}
        self._stream: BinaryIO | None = None
        self._end = 0

    def __enter__(self) -> Self:
        for file in self._earlier:
            self._read(file)
        self._stream = self._own.open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._stream is not None
        self._stream.close()

    @property
    def facts(self) -> int:
        """How many facts with a quote that stands in the text have been extracted so far."""
        return sum(place.facts for place in self._places.values()) - self.ungrounded

    @property
    def ungrounded(self) -> int:
        """How many facts have a quote that is not in the text."""
        return sum(place.ungrounded for place in self._places.values())

    @property
    def empty(self) -> int:
        """How many episodes have no fact that can be searched."""
        return sum(place.facts == place.ungrounded for place in self._places.values())

    @property
    def replaced(self) -> list[str]:
        """Why the language model did not write, for each episode of which that is so."""
        return [place.replaced for place in self._places.values() if place.replaced]

    def __len__(self) -> int:
        return len(self._places)

    def holds(self, segment: Segment) -> bool:
        """Tell whether this very stretch has been extracted."""
        place = self._places.get(segment.position)
        edges = (segment.elements[0].position, segment.elements[-1].position)
        return place is not None and (place.first, place.last) == edges

    def add(self, extraction: Extraction) -> None:
        """Keep the extraction of a segment; it is on disk when this returns."""
        assert self._stream is not None
        line = extraction.model_dump_json().encode() + b"\n"
        self._stream.write(line)
        self._stream.flush()
        episode = extraction.episode
        self._places[episode.position] = _Place(
            self._own, self._end, len(line), episode.first, episode.last, len(extraction.facts),
            sum(not fact.grounded for fact in extraction.facts), extraction.replaced,
        )  # fmt: skip
        self._end += len(line)

    def finish(self, target: Path, segments: int) -> None:
        """Put the extractions of positions below ``segments`` in order into one file, whole or not at all."""
        with replacing(target) as stream:
            for line in self._lines(segments):
                stream.write(line)

    def _lines(self, segments: int) -> Iterator[bytes]:
        opened: dict[Path, BinaryIO] = {}
        try:
            for position in sorted(position for position in self._places if position < segments):
                place = self._places[position]
                if place.file not in opened:
                    opened[place.file] = place.file.open("rb")
                opened[place.file].seek(place.offset)
                yield opened[place.file].read(place.length)
        finally:
            for stream in opened.values():
                stream.close()

    def _read(self, file: Path) -> None:
        offset = 0
        with file.open("rb") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                read = orjson.loads(line)
                episode = read["episode"]
                facts = read["facts"]
                self._places[episode["position"]] = _Place(
                    file, offset, len(line), episode["first"], episode["last"], len(facts),
                    sum(not fact["grounded"] for fact in facts), read.get("replaced", ""),
                )  # fmt: skip
                offset += len(line)


def answers_of(folder: Path, finished: Path) -> Iterator[str]:
    """Yield the names of the model's answers that the extractions of a document were made of.

    Args:
        folder: the document's folder, where runs that did not end have left their files.
        finished: the file that ``Journal.finish`` wrote, if it did.
    """
    for file in (*folder.glob("extracted.*.part"), *((finished,) if finished.exists() else ())):
        with file.open("rb") as stream:
            for line in stream:
                if line.endswith(b"\n"):
                    yield from orjson.loads(line).get("answers", ())


def discard_parts(folder: Path) -> None:
    """Remove the files of runs, once they have become one or do not fit the document any more."""
    for file in folder.glob("extracted.*.part"):
        file.unlink(missing_ok=True)
