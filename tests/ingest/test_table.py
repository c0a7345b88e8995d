from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.delimited import Dialect, find_header, looks_delimited, sniff
from ingest.errors import FileTooLarge
from ingest.formats import CSV, TSV
from ingest.limits import ParseLimits
from ingest.parsers import table


def read(tmp_path: Path, data: str | bytes, **limits: int) -> tuple[list[Piece], ParseContext]:
    path = tmp_path / "blob"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    media_type = TSV if limits.pop("tsv", 0) else CSV
    context = ParseContext(path, "t.csv", media_type, ParseLimits().model_copy(update=limits), tmp_path)
    return list(table.parse(context)), context


def test_rows_are_named_by_the_header(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, 'Item,Cost\nRent,"1,200"\n\nFood,300\n')
    assert [piece.text for piece in pieces] == ["Item | Cost", "Rent | 1,200", "Food | 300"]
    assert [piece.anchor.label() for piece in pieces] == ["row 1", "row 2", "row 4"]
    assert [(cell.name, cell.value) for cell in pieces[1].cells] == [("Item", "Rent"), ("Cost", "1,200")]
    assert pieces[0].metadata == {"header": True}
    assert pieces[1].metadata == {}
    assert context.metadata.extra == {"delimiter": ",", "columns": ["Item", "Cost"]}
    assert context.metadata.encoding == "utf-8"


def test_no_header_means_numbered_columns(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, "1,2\n3,4\n")
    assert [cell.name for cell in pieces[0].cells] == ["column 1", "column 2"]


def test_lines_above_the_header_are_kept(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, "# Squares of numbers\nid,square\n2,4\n3,9\n")
    assert pieces[0].text == "# Squares of numbers"
    assert pieces[1].metadata == {"header": True}
    assert pieces[2].cells[1].name == "square"


def test_ragged_and_wide_rows_keep_every_value(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, "a,b\n1\n1,2,3\n", max_columns=2)
    assert [piece.text for piece in pieces] == ["a | b", "1", "1 | 2", "3"]
    assert pieces[3].cells[0].name == "column 3"
    assert pieces[3].anchor == pieces[2].anchor


def test_quoted_line_breaks_and_doubled_quotes(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, 'x\ty\n"one\r\ntwo"\t"say ""hi"""\n', tsv=1)
    assert pieces[1].text == 'one\r\ntwo | say "hi"'


@pytest.mark.parametrize("after", [100, 6_000])
def test_a_quote_that_is_never_closed_costs_no_row(tmp_path: Path, after: int) -> None:
    head = "".join(f'{number},"a, b"\n' for number in range(300))
    tail = "".join(f'{number},"two\nlines"\n' for number in range(after))
    pieces, context = read(tmp_path, f'id,word\n{head}7,"open\n{tail}')
    assert len(pieces) == 1 + 300 + 1 + after
    assert [piece.text for piece in pieces[300:303]] == ["299 | a, b", '7 | "open', "0 | two\nlines"]
    assert [warning.code for warning in context.warnings] == ["open_quote"]


def test_many_open_quotes_lose_nothing_and_warn_a_few_times(tmp_path: Path) -> None:
    good = "".join(f'{number},"a, b"\n' for number in range(300))
    bad = "".join(f'{number},"open\n1,2\n' for number in range(30))
    pieces, context = read(tmp_path, f"id,word\n{good}{bad}")
    assert len(pieces) == 1 + 300 + 60
    assert len(context.warnings) == 20


def test_a_quote_closed_before_a_blank_is_forgiven(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, 'id,word\n1,"a, b" \n2,"c"\n')
    assert [piece.text for piece in pieces] == ["id | word", "1 | a, b", "2 | c"]
    assert context.warnings == []


def test_too_many_rows_and_endless_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileTooLarge, match="PARSE_MAX_ROWS"):
        read(tmp_path, "1\n2\n3\n", max_rows=2)
    with pytest.raises(FileTooLarge, match="longer"):
        read(tmp_path, b"x" * (17 * 2**20))


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("a,b\n1,2\n", Dialect(",")),
        ("a;b\n1,5;2,5\n3,5;4,5\n", Dialect(";")),
        ("a|b\n1|2\n", Dialect("|")),
        ("a\tb\n1\t2, or 3\n", Dialect("\t")),
        ("sep=;\na;b\n", Dialect(";", sep_line=True)),
        ("a,b\n'x, y',2\n'z, w',3\n", Dialect(",", "'")),
        ("a,b\nx\\, y,2\nz\\, w,3\n", Dialect(",", '"', "\\")),
        ("a,b\n'x',2\n'z',3\n", Dialect(",")),
        ("one column\nonly\n", Dialect(",")),
        ("", Dialect(",")),
    ],
)
def test_dialects(text: str, dialect: Dialect) -> None:
    assert sniff(text) == dialect


@pytest.mark.parametrize(
    ("records", "header"),
    [
        ([["id", "name"], ["1", "Ann"]], 0),
        ([["Title"], ["id", "name"], ["1", "Ann"], ["2", "Bob"]], 1),
        ([["1", "2"], ["3", "4"]], None),
        ([["a", "a"], ["3", "4"]], None),
        ([["yes", "no"], ["yes", "yes"]], None),
        ([["id", "name"]], None),
        ([["Ann"], ["Bob"], ["Cy"]], None),
        ([["amount"], ["3"], ["4.50"]], 0),
        ([], None),
    ],
)
def test_headers(records: list[list[str]], header: int | None) -> None:
    assert find_header(records) == header


def test_prose_is_not_a_table() -> None:
    assert not looks_delimited("Dear all,\nit rained, and it was cold.\nSo we stayed, and read.\nYours\n")
    assert looks_delimited("a;b\n1;2\n3;4\n")
