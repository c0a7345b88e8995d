"""Delimited tables (CSV, TSV): one element a record, read as a stream whatever the size of the file."""

from __future__ import annotations

import csv
from _csv import Dialect as Compiled
from collections import deque
from collections.abc import Iterator
from typing import TextIO

from pydantic import JsonValue, TypeAdapter

from ingest.anchors import RowAnchor
from ingest.charsets import codec_of
from ingest.context import ParseContext, Piece
from ingest.delimited import Dialect, find_header, read_records, sniff
from ingest.encoding import errors_of, find_file_encoding
from ingest.errors import FileTooLarge
from ingest.formats import TSV
from ingest.model import Cell, ElementKind

_SAMPLE_CHARS = 64 * 2**10
_LINE_CHARS = 16 * 2**20
# A quoted value of more lines than this is a quote that was never closed.
_RECORD_LINES = 5_000
_WARNINGS = 20
_CELLS = TypeAdapter(tuple[Cell, ...])


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield a row for each record that holds something, its cells named by the header where there is one.

    Raises:
        FileTooLarge: more records than ``limits.max_rows``, or a line of more than 16 million characters.
    """
    encoding = find_file_encoding(context.path)
    with _open(context, encoding) as stream:
        sample = stream.read(_SAMPLE_CHARS)
    if len(sample) == _SAMPLE_CHARS:
        sample = sample.rpartition("\n")[0] or sample
    dialect = sniff(sample, "\t" if context.media_type == TSV else ",")
    records = read_records(sample.splitlines(keepends=True)[dialect.sep_line :], dialect)
    header_at = find_header(records)
    header = tuple(" ".join(name.split()) for name in records[header_at]) if header_at is not None else ()
    context.describe(
        encoding=encoding,
        extra={"delimiter": dialect.delimiter, **({"columns": list(header[:1000])} if header else {})},
    )
    header_record = records[header_at] if header_at is not None else None
    shaper = _Shaper(header, context.limits.max_columns)
    csv.field_size_limit(2**31 - 1)  # bounded by lines and their length already
    with _open(context, encoding) as stream:
        for row, (record, is_open) in enumerate(_body(stream, dialect), start=1):
            if row > context.limits.max_rows:
                raise FileTooLarge(
                    f"The table has more than {context.limits.max_rows} rows (PARSE_MAX_ROWS)."
                )
            if is_open and len(context.warnings) < _WARNINGS:
                context.warn("open_quote", f"A quote in row {row} is never closed; it was kept as text.")
            is_header = record == header_record
            header_record = None if is_header else header_record
            yield from shaper.pieces(row, record, is_header=is_header)


def _body(stream: TextIO, dialect: Dialect) -> Iterator[tuple[list[str], bool]]:
    if dialect.sep_line:
        stream.readline(_LINE_CHARS)
    return read_stream(stream, dialect)


def _open(context: ParseContext, encoding: str) -> TextIO:
    # newline="" leaves line ends inside quoted values as they are.
    return context.path.open(encoding=codec_of(encoding), errors=errors_of(encoding), newline="")


def _lines(stream: TextIO) -> Iterator[str]:
    number = 0
    while line := stream.readline(_LINE_CHARS):
        number += 1
        if len(line) == _LINE_CHARS:
            raise FileTooLarge(f"Line {number} is longer than {_LINE_CHARS} characters.")
        yield line


def read_stream(stream: TextIO, dialect: Dialect) -> Iterator[tuple[list[str], bool]]:
    """Yield records, and whether a quote in them was never closed.

    A record goes on over line ends while a quote is open. If it does so for 5,000 lines, or closes where no
    value can end, its first line is a record of its own with the quote as text.
    """
    lines = _lines(stream)
    waiting: deque[str] = deque()
    quote, loose, strict = dialect.quote, dialect.compiled(), dialect.compiled(strict=True)
    unquoted = dialect._replace(quote="").compiled()
    while taken := _take(waiting, lines):
        if not quote or quote not in taken[0]:
            yield next(csv.reader(taken, loose), []), False
            continue
        quotes = taken[0].count(quote)
        while (record := _strictly(taken, quotes, dialect, strict)) is None and len(taken) < _RECORD_LINES:
            more = _take(waiting, lines)
            if not more:
                break
            taken += more
            quotes += more[0].count(quote)
        if record:
            yield record, False
        elif record is not None and len(taken) == 1:
            yield next(csv.reader(taken, loose), []), False
        else:
            waiting.extendleft(reversed(taken[1:]))
            yield next(csv.reader(taken[:1], unquoted), []), True


def _strictly(lines: list[str], quotes: int, dialect: Dialect, strict: Compiled) -> list[str] | None:
    """Return the record of some lines; None when a quote is open, [] when one closes inside a value."""
    if not dialect.escape and quotes % 2 and len(lines) > 1:
        return None  # told without reading all lines again
    try:
        records = list(csv.reader(lines, strict))
    except csv.Error as error:
        return None if "end of data" in str(error) else []
    return records[0] if len(records) == 1 else []


def _take(waiting: deque[str], lines: Iterator[str]) -> list[str]:
    line = waiting.popleft() if waiting else next(lines, None)
    return [] if line is None else [line]


class _Shaper:
    """Makes pieces of records, with the names of their columns."""

    def __init__(self, header: tuple[str, ...], most_columns: int) -> None:
        self._names = [name or f"column {place}" for place, name in enumerate(header, start=1)]
        self._most = most_columns

    def pieces(self, row: int, record: list[str], *, is_header: bool) -> Iterator[Piece]:
        """Yield a record as one piece, or as several where it has more columns than the limit."""
        while len(self._names) < len(record):
            self._names.append(f"column {len(self._names) + 1}")
        for start in range(0, len(record), self._most):
            values = [value.strip() for value in record[start : start + self._most]]
            # One call for all cells of a row: half of the time goes into making them.
            named = zip(self._names[start : start + self._most], values, strict=False)
            cells = _CELLS.validate_python([{"name": name, "value": value} for name, value in named if value])
            if cells:
                metadata: dict[str, JsonValue] = {"header": True} if is_header else {}
                yield Piece(ElementKind.TABLE_ROW, " | ".join(values), RowAnchor(row=row), 0, cells, metadata)
