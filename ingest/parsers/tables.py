"""Rows of tables: is the first row a header, and what are the cells called then."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_NUMBER = re.compile(r"[-+(]?[^\w\s]{0,2}\s?\d[\d.,:/\s-]*\d?\)?\s?[%\w€$£¥]{0,3}$")
_MAX_NAME = 120
_SAMPLE = 8

Row = Mapping[int, str]  # column index → shown value, empty cells left out


def looks_numeric(text: str) -> bool:
    """Return whether a value is a number, an amount or a date, as far as its looks tell."""
    return bool(_NUMBER.match(text.strip()))


def column_letters(index: int) -> str:
    """Return the spreadsheet name of a 0-based column: 0 is "A", 26 is "AA"."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def is_header(first: Row, following: Sequence[Row], *, emphasised: bool = False) -> bool:
    """Return whether a row names the columns of the rows beneath it.

    It must be made of short distinct words and stand above every column that follows. Then it is a header
    if it is set apart by its looks (``emphasised``), if columns under it hold numbers, or if a table of
    three and more columns goes on for two and more rows. A form ("Name: | Ann") is not a table.
    """
    names = [value.strip() for value in first.values() if value.strip()]
    rows = [row for row in following[:_SAMPLE] if row]
    if len(names) < 2 or not rows or len(set(names)) < len(names):
        return False
    if any(len(name) > _MAX_NAME or looks_numeric(name) or name.endswith(":") for name in names):
        return False
    if sum(1 for row in rows if set(row) <= set(first)) * 2 <= len(rows):
        return False
    if emphasised or (len(names) > 2 and len(rows) > 1):
        return True
    return any(_is_numeric_column([row[column] for row in rows if column in row]) for column in first)


def _is_numeric_column(values: list[str]) -> bool:
    return bool(values) and all(looks_numeric(value) for value in values)


def header_names(header: Row) -> dict[int, str]:
    """Return column names from a header row, line breaks made blanks."""
    return {column: " ".join(value.split()) for column, value in header.items() if value.strip()}
