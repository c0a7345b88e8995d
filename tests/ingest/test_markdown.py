from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.formats import MARKDOWN
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers import markdown

TEXT = """\
---
title: "The garden"
author: [Ann, Bob]
date: 2024-05-01
tags:
  - beans
---
# Garden *book*

Sow `beans` in [May](http://example.org/may) ![a bean](i.png)
next <b>year</b> too

## Beds

1. first
   bed

   with stones
   - inner
2. second

> said **Ann**

| Plant | Rows |
|-------|------|
| Bean  | 3    |
|       | 4    |

```python
sow(1)
```

<div><script>no()</script><img alt="Plan"><p>In a frame</p></div>

Seen[^1].

[^1]: Almanac
"""


def read(tmp_path: Path, text: str | bytes) -> tuple[list[Piece], ParseContext]:
    path = tmp_path / "blob"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    context = ParseContext(path, "t.md", MARKDOWN, ParseLimits(), tmp_path)
    return list(markdown.parse(context)), context


def test_every_block_has_its_kind_and_place(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, TEXT)
    told = [(piece.kind.value, piece.text, piece.level, piece.anchor.label()) for piece in pieces[4:]]
    assert told == [
        ("heading", "Garden book", 1, "line 8"),
        ("paragraph", "Sow beans in May a bean\nnext year too", 0, "Garden book, lines 10-11"),
        ("heading", "Beds", 2, "Garden book, line 13"),
        ("list_item", "first\nbed", 1, "Garden book > Beds, lines 15-16"),
        ("paragraph", "with stones", 1, "Garden book > Beds, line 18"),
        ("list_item", "inner", 2, "Garden book > Beds, line 19"),
        ("list_item", "second", 1, "Garden book > Beds, line 20"),
        ("paragraph", "said Ann", 0, "Garden book > Beds, line 22"),
        ("table_row", "Plant | Rows", 0, "Garden book > Beds, line 24"),
        ("table_row", "Bean | 3", 0, "Garden book > Beds, line 26"),
        ("table_row", " | 4", 0, "Garden book > Beds, line 27"),
        ("code", "sow(1)", 0, "Garden book > Beds, lines 29-31"),
        ("paragraph", "Plan\nIn a frame", 0, "Garden book > Beds, line 33"),
        ("paragraph", "Seen^1.", 0, "Garden book > Beds, line 35"),
        ("footnote", "Almanac", 0, "footnote 1"),
    ]


def test_front_matter_tells_of_the_document(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, TEXT)
    assert [piece.text for piece in pieces if piece.kind is ElementKind.FIELD] == [
        "title: The garden",
        "author: Ann, Bob",
        "date: 2024-05-01",
        "tags: beans",
    ]
    assert context.metadata.title == "The garden"
    assert context.metadata.authors == ("Ann", "Bob")
    assert context.metadata.occurred_at == datetime(2024, 5, 1, tzinfo=UTC)


def test_cells_links_and_marks(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, TEXT)
    rows = [piece for piece in pieces if piece.kind is ElementKind.TABLE_ROW]
    assert rows[0].metadata == {"header": True, "table": "table 1"}
    assert [(cell.name, cell.value) for cell in rows[1].cells] == [("Plant", "Bean"), ("Rows", "3")]
    assert next(piece.metadata for piece in pieces if "links" in piece.metadata) == {
        "links": ["http://example.org/may"]
    }
    assert next(piece for piece in pieces if piece.kind is ElementKind.CODE).metadata == {
        "language": "python"
    }
    assert next(piece for piece in pieces if piece.text == "said Ann").metadata == {"blockquote": True}


def test_the_first_heading_is_the_title_and_a_rule_is_no_front_matter(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, "---\n\nWords\n\nSetext\n======\n\n---\n")
    assert [piece.text for piece in pieces] == ["Words", "Setext"]
    assert context.metadata.title == "Setext"


def test_deep_nesting_keeps_its_text(tmp_path: Path) -> None:
    pieces, _ = read(tmp_path, "> " * 40 + "deep down\n")
    assert [piece.text for piece in pieces] == ["deep down"]


@pytest.mark.parametrize("text", ["> " * 500 + "deep down", "- " * 500 + "deep down"])
def test_bottomless_nesting_is_read_as_plain_text(tmp_path: Path, text: str) -> None:
    pieces, context = read(tmp_path, text)
    assert pieces[0].text.endswith("deep down")
    assert [warning.code for warning in context.warnings] == ["markdown_as_text"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("mark", ["![", "[a](", "<div ", "<!--", "*a **a ", "|a"])
def test_marks_without_end_take_no_time(tmp_path: Path, mark: str) -> None:
    pieces, _ = read(tmp_path, mark * 30_000 + " word")
    assert "word" in "".join(piece.text for piece in pieces)


def test_a_giant_file_is_read_as_plain_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "_MOST_BYTES", 1000)
    pieces, context = read(tmp_path, b"# Title\n\nwords\n\n" * 100)
    assert len(pieces) == 200
    assert [warning.code for warning in context.warnings] == ["markdown_as_text"]
