"""The dates of a fact: its own words resolved, else when it was said."""

from __future__ import annotations

from datetime import UTC, datetime

from extract.dates.calendar import DateOrder
from extract.dating import annotate


def test_a_statement_that_names_several_days_happens_when_it_is_said() -> None:
    said = "June 30 is off, we meet on July 14."
    at = datetime(2026, 3, 12, 10, 0, tzinfo=UTC)
    text, own = annotate(said, at, DateOrder.DAY_FIRST, "en")
    assert "July 14 [2026]" in text
    assert own is None
    _, alone = annotate("We move the deadline to July 14.", at, DateOrder.DAY_FIRST, "en")
    assert alone is not None
    assert alone.start.date().isoformat() == "2026-07-14"
