"""How much of a huge table becomes facts: millions of rows are readable, but no memory worth searching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from extract.model import Segment, SegmentKind
from ingest.anchors import SheetAnchor
from ingest.model import ParseWarning


class RowBound:
    """Lets segments of each table of one document through until they hold enough rows.

    Args:
        rows_per_table: rows after which a table's segments are left out; the segment that reaches it counts.
    """

    def __init__(self, rows_per_table: int) -> None:
        self._rows_per_table = rows_per_table
        self._taken: Counter[str] = Counter()
        self._left_out = 0

    def within(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield the segments that still find room; those of no table always do."""
        for segment in segments:
            if segment.kind is not SegmentKind.TABLE:
                yield segment
                continue
            anchor = segment.elements[0].anchor
            table = anchor.sheet if isinstance(anchor, SheetAnchor) else ""
            if self._taken[table] >= self._rows_per_table:
                self._left_out += len(segment.elements)
                continue
            self._taken[table] += len(segment.elements)
            yield segment

    def warnings(self) -> list[ParseWarning]:
        """Return what has to be said once all segments have passed."""
        if not self._left_out:
            return []
        detail = (
            f"{self._left_out} rows are not searched: of each table the first {self._rows_per_table} are"
            " (INDEX_ROWS_PER_TABLE). All stand in the content of the document."
        )
        return [ParseWarning(code="rows_left_out", detail=detail)]
