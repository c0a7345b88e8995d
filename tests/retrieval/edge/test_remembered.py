from __future__ import annotations

from typing import NamedTuple, cast
from uuid import UUID

import qdrant_edge as edge

from retrieval.edge.remembered import Remembered
from retrieval.traits import Traits


class Point(NamedTuple):
    id: UUID
    version: int


class Record(NamedTuple):
    id: UUID
    payload: dict[str, str] | None


class Disk:
    def __init__(self) -> None:
        self.words = {UUID(int=at): at for at in range(1, 10)}
        self.read: list[list[UUID]] = []

    def __call__(self, ids: list[edge.PointId], _: object) -> list[edge.Record]:
        self.read.append(cast("list[UUID]", ids))
        found = [
            Record(id_, {"traits": Traits(words=self.words[id_]).packed()})
            for id_ in self.read[-1]
            if id_ in self.words
        ]
        return cast("list[edge.Record]", found)


def points(*numbers: int, version: int = 1) -> list[edge.ScoredPoint]:
    return cast("list[edge.ScoredPoint]", [Point(UUID(int=number), version) for number in numbers])


def words(remembered: Remembered, asked: list[edge.ScoredPoint]) -> list[int | None]:
    return [one.traits.words if one.traits else None for one in remembered.of(asked)]


def test_a_point_is_read_once_and_again_when_it_changed() -> None:
    disk = Disk()
    remembered = Remembered(disk)
    assert words(remembered, points(2, 1)) == [2, 1]
    assert [one.name for one in remembered.of(points(1))] == [str(UUID(int=1))]
    assert len(disk.read) == 1
    disk.words[UUID(int=1)] = 7
    assert words(remembered, points(1)) == [1]
    assert words(remembered, points(2)) == [2]
    assert words(remembered, points(1, version=2)) == [7]
    assert disk.read[1:] == [[UUID(int=1)]]


def test_what_is_gone_has_no_traits() -> None:
    disk = Disk()
    del disk.words[UUID(int=3)]
    assert words(Remembered(disk), points(3, 4)) == [None, 4]


def test_what_was_read_longest_ago_makes_room() -> None:
    disk = Disk()
    remembered = Remembered(disk, most=3)
    for number in (1, 2, 3, 4):
        words(remembered, points(number))
    assert words(remembered, points(2, 3, 4)) == [2, 3, 4]
    assert len(disk.read) == 4
    assert words(remembered, points(1, 2, 3, 4, 5)) == [1, 2, 3, 4, 5]
    assert disk.read[4:] == [[UUID(int=1), UUID(int=5)]]
