"""Rows of tables: is the first row a header, and what are the cells called then."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_NUMBER = re.compile(r"[-+(]?[^\w\s]{0,2}\s?\d[\d.,:/\s-]*\)?\s?(?:[^\W\d_]{1,3}|[%€$£¥‰°])?$")
_DAY = re.compile(r"\d{4}-\d\d(-\d\d)?$")
_MAX_NAME = 120
_SAMPLE = 8
_MOST = 0.75

Row = Mapping[int, str]  # column index → shown value, empty cells left out


def looks_numeric(text: str) -> bool:
    """Return whether a value is a number, an amount or a date, as far as its looks tell."""
    return bool(_NUMBER.match(text.strip()))


@lru_cache(maxsize=20_000)
def column_letters(index: int) -> str:
    """Return the spreadsheet name of a 0-based column: 0 is "A", 26 is "AA"."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def is_header(
    first: Row, following: Sequence[Row], *, emphasised: bool = False, last: int | None = None
) -> bool:
    """Return whether a row names the columns of the rows beneath it.

    It must be made of short distinct names and stand above most of what follows. Then it is a header if it
    is set apart by its looks (``emphasised``), if columns under it hold numbers, or if a table of three and
    more columns goes on for two and more rows. A form ("Name: | Ann") is not a table.

    Args:
        first: the row.
        following: rows beneath it.
        emphasised: it looks different from them.
        last: the last column it covers, where its last cell is merged over several.
    """
    last = max((*first, last or 0), default=0)
    names = [value.strip() for value in first.values() if value.strip()]
    rows = [row for row in following[:_SAMPLE] if row]
    if len(names) < 2 or not rows or len(set(names)) < len(names) or not all(map(_is_name, names)):
        return False
    times = [column for column, value in first.items() if _is_time(value)]
    if any(_is_time(row.get(column, "")) for row in rows for column in times):
        return False
    if 2 * sum(_stands_above(first, last, row) for row in rows) <= len(rows):
        return False
    if emphasised or (len(names) > 2 and len(rows) > 1):
        return True
    return any(_is_numeric_column([row[column] for row in rows if column in row]) for column in first)


def _is_name(value: str) -> bool:
    """Return whether a value can name a column: words, or a year or day as in a time series."""
    if len(value) > _MAX_NAME or value.endswith(":"):
        return False
    return not looks_numeric(value) or _is_time(value)


def _is_time(value: str) -> bool:
    is_year = len(value) == 4 and value.isdecimal() and 1900 <= int(value) <= 2100
    return is_year or bool(_DAY.match(value))


def _stands_above(first: Row, last: int, row: Row) -> bool:
    """Return whether a row lies under a header: within its width, and mostly under named columns."""
    under = sum(column in first for column in row)
    return min(first) <= min(row) and max(row) <= last and 2 * under >= len(row)


def _is_numeric_column(values: list[str]) -> bool:
    return bool(values) and sum(map(looks_numeric, values)) >= _MOST * len(values)


def header_names(header: Row) -> dict[int, str]:
    """Return column names from a header row, line breaks made blanks."""
    return {column: " ".join(value.split()) for column, value in header.items() if value.strip()}
