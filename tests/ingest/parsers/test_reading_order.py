from __future__ import annotations

import pytest

from ingest.parsers.page_lines import Line
from ingest.parsers.paragraphs import join_lines, paragraphs
from ingest.parsers.reading_order import Flow, Grid, read_order


def line(
    text: str, x: float, y: float, order: int = -1, size: float = 10, bold: bool = False, per: float = 5
) -> Line:
    box = (x, y, x + per * len(text), y + 1.15 * size)
    return Line(text, box, box, size, bold, order)


def shown(lines: list[Line]) -> list[str]:
    """Regions as strings: flows by lines joined with /, grids by rows joined with / and cells with |."""
    found = []
    for region in read_order(lines):
        if isinstance(region, Flow):
            found.append(" / ".join(item.text for item in region.lines))
        else:
            found.append(
                " / ".join("|".join(cell.text if cell else "" for cell in row) for row in region.rows)
            )
    return found


PROSE = "a line of running text that fills it"


def column(
    name: str, x: float, rows: int, first: int = 0, step: int = 1, pitch: float = 12, top: float = 50
) -> list[Line]:
    return [line(f"{name}{n} {PROSE}", x, top + pitch * n, first + step * n) for n in range(rows)]


@pytest.mark.parametrize("across", [True, False])
def test_columns_of_prose_are_read_down_however_they_are_drawn(across: bool) -> None:
    left = column("a", 50, 6, 0, 2 if across else 1)
    right = column("b", 300, 6, 1 if across else 6, 2 if across else 1)
    assert [text[:2] for text in shown(left + right)] == ["a0", "b0"]


def test_heading_over_both_columns_ends_them() -> None:
    lines = [
        *column("a", 50, 4), *column("b", 300, 4),
        line("A heading that runs over both of the columns of this page here", 50, 110, size=14, per=7),
        *column("c", 50, 4, top=140), *column("d", 300, 4, top=140),
    ]  # fmt: skip
    assert [text[:2] for text in shown(lines)] == ["a0", "b0", "A ", "c0", "d0"]


def test_short_heading_in_bold_ends_columns() -> None:
    lines = [
        *column("a", 50, 4), *column("b", 300, 4),
        line("Next part", 50, 110, size=10, bold=True),
        *column("c", 50, 4, top=130), *column("d", 300, 4, top=130),
    ]  # fmt: skip
    assert [text[:4] for text in shown(lines)] == ["a0 a", "b0 a", "Next", "c0 a", "d0 a"]


def test_columns_with_unequal_leading_do_not_mix() -> None:
    lines = column("a", 50, 8, pitch=12) + column("b", 300, 6, pitch=16)
    assert [text[:2] for text in shown(lines)] == ["a0", "b0"]


def test_table_drawn_by_rows_is_read_across() -> None:
    rows = [("Item", "Cost"), ("Rent", "1,200"), ("Heat", "85")]
    lines = [
        line(text, 50 + 200 * c, 50 + 20 * r, 2 * r + c)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    assert shown(lines) == ["Item|Cost / Rent|1,200 / Heat|85"]


def test_short_blocks_drawn_one_after_the_other_are_read_down() -> None:
    seller = [line(text, 50, 50 + 12 * n, n) for n, text in enumerate(["Seller", "Ada Moss", "North wall 3"])]
    buyer = [line(text, 300, 50 + 12 * n, 3 + n) for n, text in enumerate(["Buyer", "Bo Fern", "Brook 5"])]
    assert shown(seller + buyer) == ["Seller / Ada Moss / North wall 3", "Buyer / Bo Fern / Brook 5"]


def test_second_line_of_a_cell_joins_the_row_above() -> None:
    lines = [
        line("Rent", 50, 50, 0), line("paid monthly", 250, 50, 1), line("1,200", 450, 50, 2),
        line("in advance", 250, 61.5, 3),
        line("Heat", 50, 90, 4), line("paid yearly", 250, 90, 5), line("85", 450, 90, 6),
    ]  # fmt: skip
    assert shown(lines) == ["Rent|paid monthly in advance|1,200 / Heat|paid yearly|85"]


def test_bullets_stay_with_their_text() -> None:
    lines = [line("•", 50, 50), line("stone walls", 70, 50), line("•", 50, 65), line("brick walls", 70, 65)]
    assert shown(lines) == ["• stone walls / • brick walls"]


def test_right_to_left_rows_and_columns() -> None:
    row = [line("مرحبا ", 300, 50), line("بالعالم", 200, 50, per=14)]
    assert shown(row) == ["مرحبا بالعالم"]
    right = [line(f"{n} " + "العمود الأول هنا نص طويل", 300, 50 + 12 * n) for n in range(3)]
    left = [line(f"{n} " + "العمود الثاني هنا نص آخر", 50, 50 + 12 * n) for n in range(3)]
    assert [text[2:14] for text in shown(left + right)] == ["العمود الأول", "العمود الثان"]


def test_every_line_comes_out_once() -> None:
    lines = [line(f"t{n}", 40 * (n * 7 % 11), 13 * (n * 5 % 17), n, size=8 + n % 3) for n in range(120)]
    words = []
    for region in read_order(lines):
        cells = region.lines if isinstance(region, Flow) else [c for row in region.rows for c in row if c]
        words += " ".join(cell.text for cell in cells).split()
    assert sorted(words) == sorted(item.text for item in lines)
    assert any(isinstance(region, Grid) for region in read_order(lines)) or words


def texts(lines: list[Line]) -> list[str]:
    return [block.text for block in paragraphs(lines)]


def test_paragraphs_end_at_gaps_indents_short_lines_bold_and_bullets() -> None:
    full = "This line of a paragraph fills the measure"
    assert texts([line(full, 50, 50), line("and ends here.", 50, 62), line(full, 50, 90)]) == [
        f"{full} and ends here.", full,
    ]  # fmt: skip
    assert texts([line(full, 50, 50), line("It ends.", 50, 62), line(full, 50, 74)]) == [
        f"{full} It ends.",
        full,
    ]
    assert (
        texts([line(full + ".", 50, 50), line("Indented line", 65, 62), line(full, 50, 74)])[0] == full + "."
    )
    assert texts([line("Bold head", 50, 50, bold=True), line(full, 50, 62)]) == ["Bold head", full]
    assert texts([line("1. one item that fills the whole line", 50, 50), line("2. two", 50, 62)]) == [
        "1. one item that fills the whole line", "2. two",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("upper", "lower", "words", "joined"),
    [
        ("infor-", "mation grows", (), "information grows"),
        ("the well-", "known moss", ("well-known",), "the well-known moss"),
        ("Moss-", "Verein", (), "Moss-Verein"),
        ("state-of-the-", "art moss", (), "state-of-the-art moss"),
        ("soft\u00ad", "ware", (), "software"),
        ("1990-", "1995", (), "1990-1995"),
        ("a dash -", "and more", (), "a dash - and more"),
        ("苔藓生长", "缓慢", (), "苔藓生长缓慢"),
        ("moss", "grows", (), "moss grows"),
    ],
)
def test_lines_are_joined_as_words_want(upper: str, lower: str, words: tuple[str, ...], joined: str) -> None:
    assert join_lines(upper, lower, frozenset(words)) == joined
