"""Rows of a worksheet part, streamed: a sheet of a million rows never stands in memory as a whole."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, NamedTuple
from zipfile import BadZipFile

from lxml import etree

from ingest.errors import CorruptFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.parsers.number_format import Shown, show_number
from ingest.parsers.ooxml import Node, error_of, refuse_entities
from ingest.parsers.sheet_styles import CellStyles, unescape

STREAM_DAMAGE = (BadZipFile, zlib.error, EOFError, NotImplementedError)
_MAX_LETTERS = 4
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})$")
_ISO_DATE = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.0+)?Z?$")


class SheetCell(NamedTuple):
    """A filled cell: its value as shown, more of it as stored, and whether its looks set it apart."""

    value: str
    stored: str | None = None
    is_text: bool = True
    is_strong: bool = False


class SheetRow(NamedTuple):
    """A row with at least one filled cell; columns count from 0, rows from 1."""

    number: int
    cells: dict[int, SheetCell]
    is_hidden: bool = False


class Workbook(NamedTuple):
    """What all sheets share."""

    strings: list[str]
    styles: CellStyles
    date_1904: bool


@lru_cache(maxsize=20_000)
def column_number(letters: str) -> int:
    """Return the 0-based column of its letters: "A" is 0, "AA" is 26."""
    number = 0
    for letter in letters[:_MAX_LETTERS].upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def split_reference(reference: str) -> tuple[int, int] | None:
    """Return (row from 1, column from 0) of "B7" or "$B$7", None where it is no cell."""
    found = _REFERENCE.match(reference.replace("$", ""))
    return (int(found[2]), column_number(found[1])) if found else None


def stream_parts(stream: IO[bytes], *names: str) -> Iterator[Node]:
    """Yield the elements of some names as they end, and free each after its use.

    Raises:
        CorruptFile: the part is not XML.
        FileTooLarge: it holds a text of more than ten million characters.
        MaliciousFile: it defines entities or nests without reason.
    """
    tags = [f"{{*}}{name}" for name in names]
    events = etree.iterparse(
        stream, tag=tags, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        for count, (_, node) in enumerate(events):
            if not count and (dtd := node.getroottree().docinfo.internalDTD) is not None:
                refuse_entities(dtd)
            yield node
            node.clear(keep_tail=False)
            while (before := node.getprevious()) is not None:
                parent = before.getparent()
                if parent is None:
                    break
                parent.remove(before)
    except etree.XMLSyntaxError as error:
        raise error_of(error) from error
    except STREAM_DAMAGE as error:
        raise CorruptFile(f"A part of the workbook is damaged: {error}") from error


def read_row(node: Node, previous: int, workbook: Workbook, limits: ParseLimits) -> SheetRow:
    """Return a row node as values.

    Args:
        node: the row.
        previous: number of the row before it, for rows that do not say theirs.
        workbook: shared strings, styles and the start of the day count.
        limits: ``max_columns`` bounds the columns.

    Raises:
        FileTooLarge: a cell stands beyond ``limits.max_columns``.
    """
    said = node.get("r", "")
    number = int(said) if said.isdecimal() else previous + 1
    space = node.tag[: node.tag.rindex("}") + 1] if "}" in node.tag else ""
    value_tag, formula_tag, inline_tag = f"{space}v", f"{space}f", f"{space}is"
    cells: dict[int, SheetCell] = {}
    column = -1
    for child in node:
        letters = child.get("r", "").rstrip("0123456789")
        column = column_number(letters) if letters.isalpha() else column + 1
        raw, formula, inline = None, None, None
        for part in child:
            if part.tag == value_tag:
                raw = part.text
            elif part.tag == formula_tag:
                formula = part.text
            elif part.tag == inline_tag:
                inline = part
        if raw is None and formula is None and inline is None:
            continue
        if column >= limits.max_columns:
            raise FileTooLarge(f"A row has more than {limits.max_columns} columns (PARSE_MAX_COLUMNS).")
        cell = _cell(child, raw, formula, inline, workbook)
        if cell is not None:
            cells[column] = cell
    return SheetRow(number, cells, node.get("hidden") in ("1", "true"))


def _cell(
    node: Node, raw: str | None, formula: str | None, inline: Node | None, workbook: Workbook
) -> SheetCell | None:
    style = workbook.styles.of(node.get("s"))
    kind = node.get("t", "n")
    if inline is not None:
        return _text(unescape(rich_text(inline)), style.is_strong)
    if raw is None:
        return _text(f"={formula}", style.is_strong) if formula else None
    if kind == "s":
        index = int(raw) if raw.strip().isdecimal() else -1
        return _text(workbook.strings[index], style.is_strong) if 0 <= index < len(workbook.strings) else None
    if kind == "b":
        return SheetCell("TRUE" if raw.strip() in ("1", "true") else "FALSE", None, False, style.is_strong)
    if kind in ("str", "e", "inlineStr"):
        return _text(unescape(raw), style.is_strong)
    if kind == "d":
        found = _ISO_DATE.match(raw.strip())
        shown = Shown(raw if not found else found[1] if found[2] == "00:00:00" else f"{found[1]} {found[2]}")
        return SheetCell(shown.value, shown.stored, False, style.is_strong)
    try:
        shown = show_number(float(raw), style.code, date_1904=workbook.date_1904)
    except ValueError:
        return _text(raw, style.is_strong)
    return SheetCell(shown.value, shown.stored, False, style.is_strong)


def _text(value: str, is_strong: bool) -> SheetCell | None:
    stripped = value.strip()
    return SheetCell(stripped, None, True, is_strong) if stripped else None


def rich_text(node: Node) -> str:
    """Return the text of a string item: plain or in runs, without phonetic hints."""
    pieces: list[str] = []
    for child in node:
        name = child.tag.rpartition("}")[2]
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            pieces.extend(part.text or "" for part in child if part.tag.rpartition("}")[2] == "t")
    return "".join(pieces)


def read_strings(stream: IO[bytes]) -> Iterator[str]:
    """Yield the shared strings of a workbook; raises like ``stream_parts``."""
    return (unescape(rich_text(node)) for node in stream_parts(stream, "si"))
