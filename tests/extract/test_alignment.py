from __future__ import annotations

import pytest

from extract.alignment import Aligner
from tests.extract.samples import cues, prose

SOURCE = prose(
    ("paragraph", "The board moved the launch of Atlas from June 30 to July 14, 2026."),
    ("paragraph", "Maria Lopez owns the migration; it is due on Friday."),
    ("list_item", "Yes"),
)


@pytest.mark.parametrize(
    ("quote", "line", "exact"),
    [
        ("moved the launch of Atlas from June 30", 1, True),
        ("moved  the launch\nof Atlas", 1, True),
        ("“moved the launch of Atlas”", 1, True),
        ("- Maria Lopez owns the migration", 2, True),
        ("[speaker notes] Maria Lopez owns the migration", 2, True),
        ("the board has moved the launch of Atlas from June 30 to July 14", 1, False),
        ("Maria Lopez owns the migration … it is due on Friday", 2, False),
        ("Yes", 3, True),
    ],
)
def test_a_quote_is_found_in_spite_of_slips(quote: str, line: int, exact: bool) -> None:
    found = Aligner(SOURCE).find(quote)
    assert found is not None
    assert [anchor.line_start for anchor in found.anchors] == [line]  # type: ignore[union-attr]
    assert found.exact is exact


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "the",
        "and it",
        "The board moved the launch of Atlas from June 30 to July 15, 2026.",  # another day
        "The committee postponed the start of Hermes until the autumn of 2027.",
        "Maria owns nothing",
        "The board moved the launch of Atlas. " * 2000,
    ],
)
def test_what_the_source_does_not_say_is_not_found(quote: str) -> None:
    assert Aligner(SOURCE).find(quote) is None


def test_a_speakers_name_before_the_words_is_passed_over() -> None:
    talk = cues(("Alice Meyer", "We move the deadline to July 14."), ("王芳", "客户门户四月上线。"))
    for quote, speaker in (
        ("Alice Meyer: We move the deadline", "Alice Meyer"),
        ("王芳：客户门户四月上线", "王芳"),
    ):
        found = Aligner(talk).find(quote)
        assert found is not None
        assert [anchor.speaker for anchor in found.anchors] == [speaker]  # type: ignore[union-attr]
    assert Aligner(talk).find("Bob: nothing of this kind was said") is None


def test_the_quote_kept_is_the_sources_own() -> None:
    source = prose(("paragraph", "The  “Atlas”\nlaunch – moved to\u00a0July 14."))
    found = Aligner(source).find('the "Atlas" launch - moved'.replace("the", "The"))
    assert found is not None
    assert found.quote == "The  “Atlas”\nlaunch – moved"
    assert found.exact


def test_a_statement_in_the_sources_words_stands_where_its_quote_is_only_a_name() -> None:
    talk = cues(("王芳", "上线时间推迟，由赵敏通知所有客户。"), ("赵敏", "短信供应商的合同还没有签。"))
    for quote in ("赵敏", "", "供应商"):
        found = Aligner(talk).ground(quote, "赵敏：短信供应商的合同还没有签。")
        assert found is not None
        assert [anchor.speaker for anchor in found.anchors] == ["赵敏"]  # type: ignore[union-attr]
    assert Aligner(talk).find("赵敏") is None


def test_a_statement_that_stands_in_the_source_is_placed_there_whatever_its_quote() -> None:
    source = prose(("heading", "Retention rule of Meridian Clinics"), ("paragraph", "Invoices: 8 years."))
    found = Aligner(source).ground("Retention rule of Meridian Clinics", "Invoices: 8 years")
    assert found is not None
    assert found.quote == "Invoices: 8 years"
    assert [anchor.line_start for anchor in found.anchors] == [2]  # type: ignore[union-attr]


def test_a_quote_comes_before_a_statement_with_slips_and_an_invention_proves_nothing() -> None:
    found = Aligner(SOURCE).ground(
        "Maria Lopez owns the migration", "The board has moved the launch of Atlas from June 30."
    )
    assert found is not None
    assert [anchor.line_start for anchor in found.anchors] == [2]  # type: ignore[union-attr]
    assert Aligner(SOURCE).ground("nobody", "Maria Lopez was promoted to director last year.") is None
