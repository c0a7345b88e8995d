"""How a delimited table is written: its delimiter, quotes, escapes and header.

Delimiter, quote and escape are chosen together by the consistency of what they make of a sample, after
G. J. J. van den Burg, A. Nazábal, C. Sutton: "Wrangling messy CSV files by detecting row and type patterns"
(2019): how regular the lengths of the rows are, times how many cells look like values of a known type.
"""

from __future__ import annotations

import csv
import re
from _csv import Dialect as Compiled  # what the csv module makes of its options
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple

_SAMPLE_LINES = 200
_SAMPLE_ROWS_FOR_HEADER = 50
_MAX_NAME = 120
_SEP_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?\s*$", re.IGNORECASE)
_NUMBER = re.compile(r"[-+(]?\s?[$€£¥]?\s?\d[\d.,' \xa0]*(?:e[-+]?\d+)?\)?\s?[%$€£¥]?$", re.IGNORECASE)
_MOMENT = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d{2}.*)?$|\d{1,2}:\d{2}(?::\d{2})?$")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+$|[\w.+-]+@[\w-]+\.[\w.]+$")
# Apostrophes are quotes only where they hold a delimiter: elsewhere they are letters of names.
_APOSTROPHES = re.compile(
    r"(?:^|([,;\t|]))'[^'\n]{0,200}?(?(1)\1|[,;\t|])[^'\n]{0,200}'(?:[,;\t|]|$)", re.MULTILINE
)
_ESCAPED = re.compile(r"\\[\",;|\t]")
_WORDS = re.compile(r"[^\W_][\w .'’()/-]{0,60}$")


class Dialect(NamedTuple):
    """How the records of a table are written.

    Attributes:
        delimiter: the sign between values.
        quote: the sign around values, "" for none.
        escape: the sign that takes a following sign literally, "" for none.
        sep_line: the first line only names the delimiter (a habit of Excel).
    """

    delimiter: str
    quote: str = '"'
    escape: str = ""
    sep_line: bool = False

    def compiled(self, *, strict: bool = False) -> Compiled:
        """Return the form ``csv.reader`` takes fastest; ``strict`` refuses a quote closed inside a value."""
        return csv.reader(
            (),
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            strict=strict,
        ).dialect


def read_records(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """Return the records some lines hold; a damaged rest is left out."""
    records: list[list[str]] = []
    reader = csv.reader(lines, dialect.compiled())
    with suppress(csv.Error):
        records.extend(record for record in reader if record)
    return records


def sniff(sample: str, preferred: str = ",") -> Dialect:
    """Return the dialect of a table from its beginning.

    Args:
        sample: the first lines, with their line ends.
        preferred: the delimiter the file name promises; wins between equals.
    """
    lines = sample.splitlines(keepends=True)[:_SAMPLE_LINES]
    named = _SEP_LINE.match(lines[0]) if lines else None
    if named:
        return Dialect(named.group(1), sep_line=True)
    best, best_score = Dialect(preferred), 0.0
    for dialect in _candidates(sample, preferred):
        score = _consistency(read_records(lines, dialect))
        if score > best_score * 1.02:
            best, best_score = dialect, score
    return best


def looks_delimited(text: str) -> bool:
    """Tell text that is a table: most of three or more records have the same number of values."""
    lines = text.splitlines(keepends=True)[:_SAMPLE_LINES]
    records = read_records(lines, sniff(text))
    if len(records) < 3:
        return False
    width, count = Counter(len(record) for record in records).most_common(1)[0]
    return width > 1 and count >= 0.8 * len(records)


def find_header(records: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the record that names the columns, None when there is none.

    Records above it with fewer values (a title, a comment) are passed over.
    """
    usual = Counter(_width(record) for record in records if any(record)).most_common(1)
    if not usual:
        return None
    width = usual[0][0]
    for index, record in enumerate(records[:20]):
        if _width(record) >= max(width, 1) * 0.8 and sum(1 for value in record if value.strip()) * 2 > width:
            return index if _names_columns(record, records[index + 1 : _SAMPLE_ROWS_FOR_HEADER]) else None
    return None


def is_value(text: str) -> bool:
    """Tell a number, an amount, a date or a time."""
    return bool(_NUMBER.match(text) or _MOMENT.match(text))


def _candidates(sample: str, preferred: str) -> list[Dialect]:
    delimiters = [preferred, *(sign for sign in ",;\t|" if sign != preferred and sign in sample)]
    quotes = ['"', "'", ""] if _APOSTROPHES.search(sample) else ['"', ""]
    escapes = ["", "\\"] if _ESCAPED.search(sample) else [""]
    return [Dialect(*signs) for signs in product(delimiters, quotes, escapes)]


def _consistency(records: list[list[str]]) -> float:
    """Return pattern score times type score, between 0 and 1."""
    if not records:
        return 0.0
    widths = Counter(len(record) for record in records)
    pattern = sum(count * max(width - 1, 1e-3) / width for width, count in widths.items())
    pattern /= len(widths) * len(records)
    cells = [value.strip() for record in records for value in record]
    return pattern * sum(_type_weight(cell) for cell in cells) / len(cells)


def _type_weight(cell: str) -> float:
    if not cell or is_value(cell) or _ADDRESS.match(cell) or _WORDS.match(cell):
        return 1.0
    return 0.0 if cell[0] in "\"'" or cell[-1] in "\"'" else 0.3


def _width(record: Sequence[str]) -> int:
    """Return the number of values up to the last that is not blank."""
    return max((place for place, value in enumerate(record, start=1) if value.strip()), default=0)


def _names_columns(first: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    names = [value.strip() for value in first if value.strip()]
    rows = [row for row in following if any(value.strip() for value in row)]
    if not names or not rows or len(set(names)) < len(names):
        return False
    if any(len(name) > _MAX_NAME or is_value(name) for name in names):
        return False
    if len(names) == 1 and sum(is_value(value) for value in _column(rows, 0)) * 2 < len(rows):
        return False  # a plain list: its first entry is one of them
    return not any(
        first[column].strip() in _column(rows, column) for column in range(len(first)) if first[column]
    )


def _column(rows: Sequence[Sequence[str]], column: int) -> set[str]:
    return {row[column].strip() for row in rows if column < len(row)} - {""}
