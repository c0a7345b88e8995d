"""Readers of the light text types: RTF, Org, reStructuredText."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.context import ParseContext, Parser, Piece
from ingest.errors import CorruptFile
from ingest.limits import ParseLimits
from ingest.model import ElementKind as Kind
from ingest.parsers import org, restructured, rich_text_file


def read(parser: Parser, folder: Path, text: str | bytes) -> tuple[list[Piece], ParseContext]:
    path = folder / "t"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    context = ParseContext(path, path.name, "", ParseLimits(), folder)
    return list(parser(context)), context


def told(pieces: list[Piece]) -> list[tuple[Kind, int, str]]:
    return [(piece.kind, piece.level, piece.text) for piece in pieces]


def test_rtf(tmp_path: Path) -> None:
    data = (
        rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}"
        rb"{\info{\title Moss notes}{\author Ada}{\creatim\yr2024\mo1\dy31\hr12}}"
        rb"\pard Moss grows \b slowly\b0 .\par Caf\'e9 \u26032?\par"
        rb"\trowd\cellx1000\cellx2000 Rent\cell 1,200\cell\row }"
    )
    pieces, context = read(rich_text_file.parse, tmp_path, data)
    assert told(pieces) == [
        (Kind.PARAGRAPH, 0, "Moss grows slowly."),
        (Kind.PARAGRAPH, 0, "Café 新"),
        (Kind.TABLE_ROW, 0, "Rent | 1,200"),
    ]
    assert (context.metadata.title, context.metadata.authors) == ("Moss notes", ("Ada",))
    assert context.metadata.occurred_at is not None
    assert context.metadata.occurred_at.isoformat() == "2024-01-31T12:00:00+00:00"


def test_rtf_needs_its_head(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(rich_text_file.parse, tmp_path, b"no rtf")


ORG = """#+TITLE: Moss
#+AUTHOR: Ada
* Walls :tag:
:PROPERTIES:
:ID: 7
:END:
Moss *grows* on
the [[https://moss.test][north]] wall.
** TODO Count
# a comment
- stone
  and brick
  1. old
| Item | Cost |
|------+------|
| Rent | 1,200 |
#+begin_src python
print(1)
#+end_src
"""


def test_org(tmp_path: Path) -> None:
    pieces, context = read(org.parse, tmp_path, ORG)
    assert told(pieces) == [
        (Kind.TITLE, 0, "Moss"),
        (Kind.FIELD, 0, "author: Ada"),
        (Kind.HEADING, 1, "Walls"),
        (Kind.PARAGRAPH, 0, "Moss grows on the north wall."),
        (Kind.HEADING, 2, "TODO Count"),
        (Kind.LIST_ITEM, 1, "stone and brick"),
        (Kind.LIST_ITEM, 2, "old"),
        (Kind.TABLE_ROW, 0, "Item | Cost"),
        (Kind.TABLE_ROW, 0, "Rent | 1,200"),
        (Kind.CODE, 0, "print(1)"),
    ]
    assert pieces[3].anchor.label() == "Walls, lines 7-8"
    assert [cell.name for cell in pieces[8].cells] == ["Item", "Cost"]
    assert (context.metadata.title, context.metadata.authors) == ("Moss", ("Ada",))


RST = """Moss
====

Moss *grows* on :role:`old` walls. [1]_

.. unknown:: thing

   Text inside a directive nobody knows.

.. include:: /etc/hostname

.. raw:: html

   <b>never</b>

Kinds
-----

- stone
- brick

  - old

.. note:: Be careful.

=====  =====
Item   Cost
=====  =====
Rent   1,200
=====  =====

::

    print(1)

.. [1] A footnote.
"""


def test_restructured_text(tmp_path: Path) -> None:
    pieces, context = read(restructured.parse, tmp_path, RST)
    assert told(pieces)[:2] == [
        (Kind.HEADING, 1, "Moss"),
        (Kind.PARAGRAPH, 0, "Moss grows on :role:`old` walls. 1"),
    ]
    assert any("Text inside a directive nobody knows." in piece.text for piece in pieces)
    rest = [
        item
        for item in told(pieces)
        if item[2]
        in ("Kinds", "stone", "brick", "old", "Be careful.", "Rent | 1,200", "print(1)", "A footnote.")
    ]
    assert rest == [
        (Kind.HEADING, 2, "Kinds"),
        (Kind.LIST_ITEM, 1, "stone"),
        (Kind.LIST_ITEM, 1, "brick"),
        (Kind.LIST_ITEM, 2, "old"),
        (Kind.NOTE, 0, "Be careful."),
        (Kind.TABLE_ROW, 0, "Rent | 1,200"),
        (Kind.CODE, 0, "print(1)"),
        (Kind.FOOTNOTE, 0, "A footnote."),
    ]
    row = next(piece for piece in pieces if piece.text == "Rent | 1,200")
    assert [(cell.name, cell.value) for cell in row.cells] == [("Item", "Rent"), ("Cost", "1,200")]
    assert context.metadata.title == "Moss"


def test_restructured_text_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    text = f".. include:: {tmp_path}/secret.txt\n\n.. csv-table::\n   :file: {tmp_path}/secret.txt\n"
    pieces, _ = read(restructured.parse, tmp_path, text)
    assert not any("the secret" in piece.text for piece in pieces)


def test_marks_that_nothing_closes_cost_nothing(tmp_path: Path) -> None:
    pieces, _ = read(org.parse, tmp_path, "*a /b _c =d ~e " * 3_000)
    assert pieces[0].text.startswith("*a /b _c")
    pieces, _ = read(org.parse, tmp_path, "| |\n|" + " " * 50_000 + "x\n")
    assert [piece.kind for piece in pieces] == [Kind.TABLE_ROW]
