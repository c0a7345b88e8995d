"""What ranking knows of points, kept after it was read once.

Reading a payload takes the engine longer than finding its point, and searches ask about the same points again
and again. Every change to a point gives it a higher version, and every hit tells the version, so what is
remembered is never out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple, cast
from uuid import UUID

import qdrant_edge as edge

from retrieval.traits import Traits

# About 60 MB.
_MOST = 100_000
_FIELDS = edge.PayloadSelector.Include(["traits"])

Read = Callable[["list[edge.PointId]", edge.PayloadSelector], list[edge.Record]]
_version = attrgetter("version")


class Known(NamedTuple):
    """A point as it was when it was read: its id as text, its version, and its traits if it has any."""

    name: str
    version: int
    traits: Traits | None


class Remembered:
    """The points of a collection that were asked about before. Safe to share between threads.

    Args:
        read: returns points with some fields of their payload.
        most: points to remember; the ones read longest ago are forgotten first.
    """

    def __init__(self, read: Read, most: int = _MOST) -> None:
        self._read_points = read
        self._most = most
        self._known: dict[int | str, Known] = {}

    def of(self, points: Sequence[edge.ScoredPoint]) -> list[Known]:
        """Return what is known of these points now, in the same order."""
        keys = _keys(points)
        versions = list(map(_version, points))
        known = list(map(self._known.get, keys))
        late = [
            at
            for at, (one, version) in enumerate(zip(known, versions, strict=True))
            if one is None or one.version != version
        ]
        if not late:
            return cast("list[Known]", known)
        read = self._read([points[at] for at in late])
        return [
            one if one is not None and key not in read else read[key]
            for key, one in zip(keys, known, strict=True)
        ]

    def _read(self, points: Sequence[edge.ScoredPoint]) -> dict[int | str, Known]:
        # What is read now is at least as new as the version that a hit told before.
        read = {_key(point.id): Known(str(point.id), point.version, None) for point in points}
        for record in self._read_points([point.id for point in points], _FIELDS):
            if packed := (record.payload or {}).get("traits"):
                key = _key(record.id)
                read[key] = read[key]._replace(traits=Traits.unpacked(packed))
        for key, one in read.items():
            # Put at the end: what was read longest ago is forgotten first.
            self._known.pop(key, None)
            self._known[key] = one
        while len(self._known) > self._most:
            self._known.pop(next(iter(self._known)), None)
        return read


def _keys(points: Sequence[edge.ScoredPoint]) -> list[int | str]:
    # This runs for every hit, and every id of ours is a UUID.
    try:
        return [point.id.int for point in points]  # type: ignore[union-attr]
    except AttributeError:
        return [_key(point.id) for point in points]


def _key(id_: edge.PointId) -> int | str:
    return id_.int if isinstance(id_, UUID) else id_
