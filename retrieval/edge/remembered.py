"""What ranking knows of points, kept after it was read once.

Reading a payload takes the engine longer than finding its point, and searches ask about the same points again
and again. Every change to a point gives it a higher version, and every hit tells the version, so what is
remembered is never out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

import qdrant_edge as edge

from retrieval.traits import Traits

# About 60 MB.
_MOST = 100_000
_FIELDS = edge.PayloadSelector.Include(["traits"])

Read = Callable[["list[edge.PointId]", edge.PayloadSelector], list[edge.Record]]


class Known(NamedTuple):
    """A point as it was when it was read: its id as text, its version, and its traits if it has any."""

    name: str
    version: int
    traits: Traits | None


class Remembered:
    """The traits of a collection's points. Safe to share between threads.

    Args:
        read: returns points with some fields of their payload.
        most: points to remember; the ones read longest ago are forgotten first.
    """

    def __init__(self, read: Read, most: int = _MOST) -> None:
        self._read_points = read
        self._most = most
        self._known: dict[int | str, Known] = {}

    def names(self, points: Sequence[edge.ScoredPoint]) -> list[str]:
        """Return the ids of points as text, which takes longer to write than to look up."""
        known = self._known
        return [
            str(id_) if (one := known.get(_key(id_))) is None else one.name
            for id_ in (point.id for point in points)
        ]

    def traits(self, points: Sequence[edge.ScoredPoint]) -> list[Traits | None]:
        """Return the traits of points as they are now, in the same order; None where one has none."""
        known = self._known
        keys = [_key(point.id) for point in points]
        late = [
            point
            for key, point in zip(keys, points, strict=True)
            if (one := known.get(key)) is None or one.version != point.version
        ]
        if late:
            self._read(late)
        return [None if (one := known.get(key)) is None else one.traits for key in keys]

    def _read(self, points: Sequence[edge.ScoredPoint]) -> None:
        # What is read now is at least as new as the version that a hit told before.
        versions = {str(point.id): point.version for point in points}
        ids: list[edge.PointId] = [point.id for point in points]
        for record in self._read_points(ids, _FIELDS):
            packed = (record.payload or {}).get("traits")
            traits = None if packed is None else Traits.unpacked(packed)
            key, name = _key(record.id), str(record.id)
            # Put at the end: what was read longest ago is forgotten first.
            self._known.pop(key, None)
            self._known[key] = Known(name, versions[name], traits)
        while len(self._known) > self._most:
            self._known.pop(next(iter(self._known)), None)


def _key(id_: edge.PointId) -> int | str:
    return id_.int if isinstance(id_, UUID) else id_
