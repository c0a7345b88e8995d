from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.parsers.number_format import BUILT_IN, is_date_format, show_number

EURO = '_-* #,##0.00\\ _€_-;\\-* #,##0.00\\ _€_-;_-* "-"??\\ _€_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (1 / 7, "", "0.142857142857143"),
        (1e-5, "General", "0.00001"),
        (2336, '"$"#,##0', "$2,336"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (-0.2, "0", "0"),
        (-5, "0.0", "-5.0"),
        (2.5, "0", "3"),
        (0.6229, "0.0%", "62.3%"),
        (0, '#,##0;-#,##0;"none"', "none"),
        (1234567, '0.0,,"M"', "1.2M"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (12, "000", "012"),
        (5, "0.##", "5"),
        (0.5, "# ?/?", "1/2"),
        (3.75, "# ?/4", "3 3/4"),
        (1.9999, "# ?/?", "2"),
        (1234567, "0.00E+00", "1.23E+06"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (1234, "[$€-407] #,##0.00", "€ 1,234.00"),
        (12.5, "[<10]0.0;[>=10]0", "13"),
        (12, 'General" pcs"', "12 pcs"),
        (1234.567, EURO, "1,234.57"),
        (0, EURO, "-"),
        (44197, "yyyy-mm-dd", "2021-01-01"),
        (44197, "[$-409]d. mmmm yyyy;@", "2021-01-01"),
        (44197.5, "m/d/yy h:mm", "2021-01-01 12:00:00"),
        (0.75, "h:mm AM/PM", "18:00:00"),
        (1.5, "[h]:mm", "36:00:00"),
        (59, "d-mmm", "1900-02-28"),
        (61, "d-mmm", "1900-03-01"),
        (-3, "yyyy-mm-dd", "-3"),
        (3e6, "yyyy-mm-dd", "3000000"),
    ],
)
def test_numbers_are_shown_as_in_a_spreadsheet(value: float, code: str, shown: str) -> None:
    assert show_number(value, code).value == shown


def test_what_the_shown_form_hides_is_kept() -> None:
    assert show_number(2336, '"$"#,##0').stored == "2336"
    assert show_number(44197.5, "m/d/yy").stored == "2021-01-01 12:00:00"
    assert show_number(5, "0").stored is None


def test_days_may_be_counted_from_1904() -> None:
    assert show_number(42735, "mmm-yy", date_1904=True).value == "2021-01-01"


@pytest.mark.parametrize(
    ("code", "is_date"),
    [
        ("General", False),
        ("d-mmm", True),
        ("[h]:mm", True),
        ('"day" 0', False),
        ("#,##0 [$SEK]", False),
        ("0.00", False),
    ],
)
def test_dates_are_told_from_numbers(code: str, is_date: bool) -> None:
    assert is_date_format(code) is is_date


@settings(max_examples=60, deadline=None)
@given(
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(alphabet='0#?.,%E+-/;[]"$€hmsydAPM@ \\_*<>=1', max_size=24),
)
def test_no_format_breaks_the_reader(value: float, code: str) -> None:
    assert isinstance(show_number(value, code).value, str)


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=-(10**12), max_value=10**12), st.sampled_from(sorted(BUILT_IN)))
def test_built_in_formats_never_lose_a_whole_number(value: int, number: int) -> None:
    found = show_number(value, BUILT_IN[number])
    if not is_date_format(BUILT_IN[number]):
        assert str(value) in (found.value, found.stored)
