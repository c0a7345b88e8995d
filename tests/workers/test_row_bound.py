"""How many rows of a table become facts."""

from __future__ import annotations

from dataclasses import replace

from extract.model import Segment, SegmentKind
from extract.segments import split_segments
from ingest.anchors import RowAnchor, SheetAnchor
from ingest.model import Element, ElementKind
from ingest.parse import parse_file
from tests.workers.parts import drain, hand_in
from workers.model import State
from workers.row_bound import RowBound
from workers.services import Services


def segment(position: int, kind: SegmentKind, rows: int, sheet: str = "") -> Segment:
    anchor = SheetAnchor(sheet=sheet, cells="A1") if sheet else RowAnchor(row=1)
    one = Element(position=position, kind=ElementKind.TABLE_ROW, text="x", anchor=anchor)
    return Segment(position=position, kind=kind, title="t", elements=(one,) * rows)


def test_each_table_has_its_own_bound_and_prose_has_none() -> None:
    bound = RowBound(3)
    segments = [
        segment(0, SegmentKind.TABLE, 2, "A"),
        segment(1, SegmentKind.TABLE, 2, "A"),
        segment(2, SegmentKind.TABLE, 2, "A"),
        segment(3, SegmentKind.TABLE, 2, "B"),
        segment(4, SegmentKind.PROSE, 9),
    ]
    assert [one.position for one in bound.within(segments)] == [0, 1, 3, 4]
    (warning,) = bound.warnings()
    assert (warning.code, warning.detail.split()[0]) == ("rows_left_out", "2")


def test_a_long_table_is_searched_as_far_as_allowed(services: Services) -> None:
    index = services.settings.index.model_copy(update={"rows_per_table": 60})
    settings = services.settings.model_copy(update={"index": index})
    real = replace(services, settings=settings, split=split_segments, parse=parse_file)
    rows = "".join(f"{number},Moss {number}\n" for number in range(300))
    identity = hand_in(real, f"id,plant\n{rows}", name="moss.csv").document.id
    drain(real)
    record = real.ledger.documents.get("acme", identity)
    assert record.state is State.READY
    assert [one.code for one in record.warnings] == ["rows_left_out"]
    assert record.counts.elements == 301
    assert 0 < record.counts.episodes < 301 // 30
