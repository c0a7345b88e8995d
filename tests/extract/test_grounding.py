from __future__ import annotations

from extract.grounding import ground
from tests.extract.samples import cues, prose

ELEMENTS = prose(
    ("paragraph", "The “Q2” deadline moves to\nJune 14 – not later."),
    ("paragraph", "Legal asked for it."),
    ("paragraph", "会议决定推迟\n上线时间。"),
)


def where(quote: str) -> list[str] | None:
    anchors = ground(quote, ELEMENTS)
    return None if anchors is None else [anchor.label() for anchor in anchors]


def test_exact_words() -> None:
    assert where("Legal asked") == ["line 2"]


def test_blanks_quotation_marks_dashes_and_widths_do_not_matter() -> None:
    assert where('The "Q2" deadline moves to June 14 - not later.') == ["line 1"]
    assert where("Ｌｅｇａｌ asked for it.") == ["line 2"]
    assert where("会议决定推迟上线时间。") == ["line 3"]


def test_a_quote_across_elements_has_all_their_anchors() -> None:
    assert where("not later. Legal asked") == ["line 1", "line 2"]


def test_invented_words_have_no_place() -> None:
    assert where("The deadline moves to June 15") is None
    assert where("") is None
    assert where("   ") is None


def test_cues_keep_speaker_and_time() -> None:
    anchors = ground(
        "move the Q2 deadline to June 14",
        cues(("Alice", "Let's move the Q2"), ("Alice", "deadline to June 14.")),
    )
    assert anchors is not None
    assert [anchor.label() for anchor in anchors] == ["00:00:00 Alice", "00:00:05 Alice"]
