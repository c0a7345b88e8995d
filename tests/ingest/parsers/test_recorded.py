from __future__ import annotations

import pytest

from ingest.parsers.recorded import find_moment


@pytest.mark.parametrize(
    ("text", "iso", "has_time", "has_zone"),
    [
        ("2024-03-05 10.00 standup.vtt", "2024-03-05T10:00:00+00:00", True, False),
        ("GMT20240305-100000_Recording.transcript.vtt", "2024-03-05T10:00:00+00:00", True, True),
        ("Review-20240305_143015-Meeting Recording.vtt", "2024-03-05T14:30:15+00:00", True, False),
        ("NOTE Created on 2024-03-05T10:00:00.000+02:00 by x", "2024-03-05T10:00:00+02:00", True, True),
        ("Date: 2017/04/16 15:44:03", "2017-04-16T15:44:03+00:00", True, False),
        ("minutes_2023.12.01.txt", "2023-12-01T00:00:00+00:00", False, False),
        ("2024-03-05T10:00:00Z", "2024-03-05T10:00:00+00:00", True, True),
    ],
)
def test_moments(text: str, iso: str, has_time: bool, has_zone: bool) -> None:
    found = find_moment(text)
    assert found is not None
    assert (found.at.isoformat(), found.has_time, found.has_zone) == (iso, has_time, has_zone)


@pytest.mark.parametrize("text", ["", "call 20245599", "12345678901234", "v2.0.1", "2024", "99-99-99"])
def test_no_moment(text: str) -> None:
    assert find_moment(text) is None
