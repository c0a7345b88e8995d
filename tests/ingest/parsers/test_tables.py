from __future__ import annotations

import pytest

from ingest.parsers.sheet_names import Area, ColumnNames, NamedRow
from ingest.parsers.sheet_rows import SheetCell, SheetRow
from ingest.parsers.tables import column_letters, is_header, looks_numeric


def row(*values: str) -> dict[int, str]:
    return {column: value for column, value in enumerate(values) if value}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("Item", "Cost"), row("Rent", "1,200"), row("Seeds", "80")], True),
        ([row("Item", "Town", "Owner"), row("Hut", "Oslo", "Ann"), row("Barn", "Bergen", "Bo")], True),
        ([row("Name:", "Ann"), row("Age:", "42"), row("Town:", "Oslo")], False),
        ([row("Ann", "Oslo"), row("Bo", "Bergen")], False),
        ([row("12", "14"), row("13", "15")], False),
        ([row("Item", "2023", "2024"), row("Rent", "5", "6"), row("Seeds", "7", "8")], True),
        ([row("US date", "2007-08-10"), row("UK date", "2007-10-08")], False),
        ([row("Same", "Same", "Same"), row("1", "2", "3"), row("4", "5", "6")], False),
        ([row("A", "B", "C")], False),
    ],
)
def test_headers_are_told_honestly(rows: list[dict[int, str]], expected: bool) -> None:
    assert is_header(rows[0], rows[1:]) is expected


def test_looks_make_a_header_of_two_words() -> None:
    assert is_header(row("Name", "Town"), [row("Ann", "Oslo")], emphasised=True)


@pytest.mark.parametrize(
    "value", ["12", "-3.5", "1,200.00", "$80", "45 %", "(12)", "2024-03-01", "12 kg", "€ 5"]
)
def test_numbers_in_many_dresses(value: str) -> None:
    assert looks_numeric(value)


def test_column_letters() -> None:
    assert [column_letters(index) for index in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def sheet(*rows: tuple[int, dict[str, str]], strong: tuple[int, ...] = ()) -> list[SheetRow]:
    return [
        SheetRow(
            number,
            {
                ord(letter) - 65: SheetCell(value, None, not looks_numeric(value), number in strong)
                for letter, value in cells.items()
            },
        )
        for number, cells in rows
    ]


def named(names: ColumnNames, rows: list[SheetRow]) -> list[dict[str, str]]:
    found: list[NamedRow] = list(names.follow(rows))
    return [{cell.name: cell.value for cell in one.cells()} for one in found]


def test_a_title_above_and_a_gap_below_are_not_the_table() -> None:
    rows = sheet(
        (1, {"A": "Budget"}),
        (3, {"A": "Item", "B": "Cost"}),
        (4, {"A": "Rent", "B": "5"}),
        (5, {"A": "Seeds", "B": "6"}),
        (8, {"A": "Checked by", "C": "Ann"}),
    )  # fmt: skip
    assert named(ColumnNames(), rows) == [
        {"A": "Budget"},
        {"A": "Item", "B": "Cost"},
        {"Item": "Rent", "Cost": "5"},
        {"Item": "Seeds", "Cost": "6"},
        {"A": "Checked by", "C": "Ann"},
    ]


def test_tables_side_by_side_have_names_of_their_own() -> None:
    rows = sheet(
        (1, {"A": "Item", "B": "Cost", "D": "12", "E": "14"}),
        (2, {"A": "Rent", "B": "5", "D": "13", "E": "15"}),
        (3, {"A": "Seeds", "B": "6"}),
    )  # fmt: skip
    assert named(ColumnNames(), rows)[1:] == [
        {"Item": "Rent", "Cost": "5", "D": "13", "E": "15"},
        {"Item": "Seeds", "Cost": "6"},
    ]


def test_groups_over_columns_go_into_their_names() -> None:
    rows = sheet(
        (1, {"B": "2023", "D": "2024"}),
        (2, {"A": "Item", "B": "Q1", "C": "Q2", "D": "Q1", "E": "Q2"}),
        (3, {"A": "Rent", "B": "1", "C": "2", "D": "3", "E": "4"}),
        (4, {"A": "Fees", "B": "5", "C": "6", "D": "7", "E": "8"}),
    )  # fmt: skip
    merges = [Area(1, 1, 1, 2), Area(1, 3, 1, 4)]
    assert named(ColumnNames(merges=merges), rows)[2] == {
        "Item": "Rent", "2023 Q1": "1", "2023 Q2": "2", "2024 Q1": "3", "2024 Q2": "4",
    }  # fmt: skip


def test_a_merged_cell_counts_for_each_of_its_rows() -> None:
    rows = sheet(
        (1, {"A": "Region", "B": "Town", "C": "Huts"}),
        (2, {"A": "North", "B": "Oslo", "C": "4"}),
        (3, {"B": "Bergen", "C": "5"}),
        (4, {"B": "Bodø", "C": "6"}),
    )  # fmt: skip
    found = list(ColumnNames(merges=[Area(2, 0, 3, 0)]).follow(rows))
    assert [(cell.name, cell.value, cell.ref) for cell in found[2].cells()] == [
        ("Region", "North", "A2"), ("Town", "Bergen", "B3"), ("Huts", "5", "C3"),
    ]  # fmt: skip
    assert found[2].text() == "Bergen | 5"
    assert [cell.name for cell in found[3].cells()] == ["Town", "Huts"]


def test_a_defined_table_says_where_its_header_is() -> None:
    rows = sheet((1, {"A": "1", "B": "2"}), (2, {"A": "x", "B": "y"}), (3, {"A": "z", "B": "w"}))
    assert named(ColumnNames(tables=[Area(1, 0, 3, 1)]), rows) == [
        {"A": "1", "B": "2"}, {"1": "x", "2": "y"}, {"1": "z", "2": "w"},
    ]  # fmt: skip


def test_an_emphasised_line_inside_a_table_is_a_label() -> None:
    rows = sheet(
        (1, {"A": "Item", "B": "Cost"}),
        (2, {"A": "Rent", "B": "5"}),
        (3, {"A": "Garden"}),
        (4, {"A": "Seeds", "B": "6"}),
        strong=(1, 3),
    )  # fmt: skip
    assert named(ColumnNames(), rows)[2:] == [{"A": "Garden"}, {"Item": "Seeds", "Cost": "6"}]
