from __future__ import annotations

import pytest

from ingest.parsers.word_numbering import Level, Numbering, number_text


@pytest.mark.parametrize(
    ("value", "shape", "shown"),
    [
        (4, "lowerRoman", "iv"), (1994, "upperRoman", "MCMXCIV"), (27, "lowerLetter", "aa"),
        (2, "upperLetter", "B"),
        (7, "decimalZero", "07"), (0, "upperLetter", "0"), (12, "chineseCounting", "12"),
    ],
)  # fmt: skip
def test_numbers_in_all_shapes(value: int, shape: str, shown: str) -> None:
    assert number_text(value, shape) == shown


def outline(**changes: object) -> Numbering:
    numbering = Numbering()
    levels = {
        0: Level(1, "decimal", "%1"),
        1: Level(1, "lowerLetter", "%1.%2"),
        2: Level(1, "upperRoman", "%1.%2.%3")._replace(**changes),
    }
    numbering.add("1", "a", levels, set())
    return numbering


def count(numbering: Numbering, *levels: int) -> list[str]:
    return [numbering.count("1", level) for level in levels]


def test_deeper_levels_begin_anew() -> None:
    assert count(outline(), 0, 1, 2, 2, 1, 2, 0) == ["1", "1.a", "1.a.I", "1.a.II", "1.b", "1.b.I", "2"]


def test_a_level_may_count_on() -> None:
    assert count(outline(restart=0), 0, 1, 2, 1, 2) == ["1", "1.a", "1.a.I", "1.b", "1.b.II"]


def test_a_skipped_level_counts_as_begun() -> None:
    assert count(outline(), 0, 2, 1) == ["1", "1.a.I", "1.b"]


def test_legal_numbers_are_digits() -> None:
    assert count(outline(is_legal=True), 0, 1, 2) == ["1", "1.a", "1.1.I"]


def test_lists_of_a_group_count_on_unless_told_otherwise() -> None:
    numbering = Numbering()
    level = {0: Level(1, "decimal", "%1.")}
    numbering.add("1", "a", level, set())
    numbering.add("2", "a", level, set())
    numbering.add("3", "a", {0: Level(10, "decimal", "%1.")}, {0})
    numbers = [numbering.count(key, 0) for key in ("1", "2", "3", "3", "1", "unknown")]
    assert numbers == ["1.", "2.", "10.", "11.", "12.", ""]
