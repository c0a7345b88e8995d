from __future__ import annotations

import re
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ingest.context import ParseContext, Piece
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers.html import declared_charset, parse
from ingest.parsers.html_blocks import blocks


def read(folder: Path, source: str | bytes) -> tuple[list[Piece], ParseContext]:
    path = folder / "page"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    context = ParseContext(path, "page.html", "text/html", ParseLimits(), folder)
    return list(parse(context)), context


def shown(source: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in blocks(source)]


PAGE = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><title>Field guide</title>
<meta name="author" content="Ada Moss"><meta name="description" content="About moss.">
<meta property="article:published_time" content="2024-03-05T10:00:00Z">
<style>p { color: red }</style><script>var x = "<p>no</p>";</script>
</head><body>
<nav><a href="/">Home</a></nav>
<h1>Moss</h1>
<p>Grows
 in <b>shade</b>.</p>
<h2>Kinds</h2>
<ul><li>Peat<ul><li>Red</li></ul></li></ul>
<ol start="3"><li>Third<li>Fourth</ol>
<footer>Made by hand</footer>
</body></html>
"""


def test_a_page_in_reading_order(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, PAGE)
    assert [(piece.kind.value, piece.level, piece.text, piece.anchor.label()) for piece in pieces] == [
        ("title", 0, "Field guide", "line 3"),
        ("header", 0, "Home", "line 8"),
        ("heading", 1, "Moss", "line 9"),
        ("paragraph", 0, "Grows in shade.", "Moss, lines 10-11"),
        ("heading", 2, "Kinds", "Moss, line 12"),
        ("list_item", 1, "Peat", "Moss > Kinds, line 13"),
        ("list_item", 2, "Red", "Moss > Kinds, line 13"),
        ("list_item", 1, "Third", "Moss > Kinds, line 14"),
        ("list_item", 1, "Fourth", "Moss > Kinds, line 14"),
        ("footer", 0, "Made by hand", "Moss > Kinds, line 15"),
    ]
    assert [piece.metadata.get("number") for piece in pieces[-3:-1]] == [3, 4]
    meta = context.metadata
    assert (meta.title, meta.authors, meta.language) == ("Field guide", ("Ada Moss",), "en")
    assert meta.occurred_at == datetime(2024, 3, 5, 10, tzinfo=UTC)
    assert meta.extra["description"] == "About moss."


def test_hidden_content_is_left_out_up_to_its_end() -> None:
    source = (
        "<p hidden>no<p>one</p><div style='color:red; DISPLAY : none'>no<span>no</span><br>no</div>"
        "<ul><li hidden>no<li>two</ul><template><p>no</p></template><span hidden>no</span> three"
        "<table><tr style='display:none'><td>no<tr><td>four<td>five</table><svg><title>no</title></svg>"
        "<p hidden='until-found'>six</p><input type=hidden value=no>"
    )
    assert " ".join(text for _, text in shown(source)) == "one two three four | five six"


def test_table_rows_know_their_columns() -> None:
    source = (
        "<table><caption>Prices</caption><tr><th rowspan=2>Item<th colspan=2>Cost"
        "<tr><th>Net<th>Gross<tr><td rowspan=2>Rope<td>1<td>2<tr><td>3<td>4</table>"
    )
    rows = [block for block in blocks(source) if block.kind is ElementKind.TABLE_ROW]
    assert [row.text for row in rows] == ["Item | Cost", "Net | Gross", "Rope | 1 | 2", "3 | 4"]
    assert [(cell.name, cell.value) for cell in rows[3].cells] == [
        ("Item", "Rope"), ("Cost Net", "3"), ("Cost Gross", "4"),
    ]  # fmt: skip
    assert [(cell.name, cell.value) for cell in rows[1].cells][1:] == [("Net", "Net"), ("Gross", "Gross")]
    assert rows[0].metadata == {"row": 1, "table": "Prices", "header": True}


def test_tables_that_lay_out_a_page_become_their_blocks() -> None:
    source = (
        "<table role=presentation><tr><td>left<td>right</table>"
        "<table><tr><td><h2>News</h2><p>a</p><table><tr><td>x<td>y</table></td></table>"
    )
    assert shown(source) == [
        ("paragraph", "left"), ("paragraph", "right"), ("heading", "News"), ("paragraph", "a"),
        ("table_row", "x | y"),
    ]  # fmt: skip


def test_text_between_rows_is_kept() -> None:
    assert sorted(shown("<table>stray<tr><td>a<td>b</table>after")) == [
        ("paragraph", "after"), ("paragraph", "stray"), ("table_row", "a | b"),
    ]  # fmt: skip


def test_forms_show_their_values() -> None:
    source = (
        '<p>Name: <input name=who value="Ada Moss"> <input type=checkbox checked> Member'
        "<p>Land <select name=land><option>Norway<option selected>Chile</select>"
        "<p><textarea>two\nlines</textarea><p><input type=password value=no>"
    )
    found = list(blocks(source))
    assert found[0].text == "Name: Ada Moss [x] Member"
    assert found[0].kind is ElementKind.FORM_FIELD
    assert found[0].metadata["fields"] == {"who": "Ada Moss", "value": "[x]"}
    assert [block.text for block in found[1:]] == ["Land", "Norway\nChile", "two\nlines"]
    assert found[2].metadata["fields"] == {"land": "Chile"}


def test_pictures_breaks_ruby_and_links() -> None:
    source = (
        '<p>See <img alt="A  map"> here<br>now<br><br>next <ruby>漢<rt>かん</rt>字<rt>じ</ruby></p>'
        '<figure><figcaption>Fig. 1</figcaption></figure><a href="https://example.org/a">site</a>'
    )
    assert shown(source) == [
        ("paragraph", "See here\nnow"), ("figure", "A map"), ("paragraph", "next 漢字(かんじ)"),
        ("caption", "Fig. 1"), ("paragraph", "site"),
    ]  # fmt: skip
    assert list(blocks(source))[-1].metadata == {"links": ["https://example.org/a"]}


def test_preformatted_text_keeps_lines_and_places() -> None:
    source = "<pre>\none  a\n two\n\n\n<b>three</b>\n</pre><pre><code>x = 1\n\ny = 2\n</code></pre>"
    assert [(block.kind.value, block.text, block.line_start, block.line_end) for block in blocks(source)] == [
        ("paragraph", "one  a\n two", 2, 3), ("paragraph", "three", 6, 6), ("code", "x = 1\n\ny = 2", 7, 9),
    ]  # fmt: skip


def test_framed_source_is_read() -> None:
    assert shown('out<iframe srcdoc="<p>in &amp;amp; here</p>">no</iframe>') == [
        ("paragraph", "in & here"), ("paragraph", "out"),
    ] or shown('out<iframe srcdoc="<p>in &amp;amp; here</p>">no</iframe>') == [
        ("paragraph", "out"), ("paragraph", "in & here"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b'<meta charset="Shift_JIS">', "shift_jis"),
        (b"<META content='text/html; charset=big5' http-equiv=x>", "big5"),
        (b'<?xml version="1.0" encoding="koi8-r"?>', "koi8-r"),
        (b"<p>charset=no", None),
        (b"<!-- <meta charset=big5> --><meta charset='koi8-r'>", "koi8-r"),
    ],
)
def test_declared_charset(head: bytes, charset: str | None) -> None:
    assert declared_charset(head) == charset


def test_declared_charset_is_believed(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, '<meta charset="koi8-r"><p>привет'.encode("koi8-r"))
    assert pieces[0].text == "привет"
    assert context.metadata.encoding == "koi8-r"


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 50_000 + "deep" + "</div>" * 50_000,
        "<table><tr><td>" * 10_000 + "deep",
        "<ul><li>" * 15_000 + "deep",
        "<b><i>" * 50_000 + "deep",
        "<span hidden>" * 15_000 + "</span>" * 15_000 + "deep",
        "<li><ul>" + "<div>" * 15_000 + "<li></li>" * 15_000 + "deep",
        "<h1><blockquote>" * 10_000 + "deep",
        "<table><tr>" + "<td rowspan=60000 colspan=900>x" * 3_000 + "<tr><td>y" * 10_000 + "<p>deep",
    ],
)
def test_hostile_nesting_ends_soon(source: str) -> None:
    start = time.process_time()
    found = list(blocks(source))
    assert any("deep" in block.text for block in found)
    assert time.process_time() - start < 20


PARTS = st.sampled_from(
    ["<p>", "</p>", "<div>", "</div>", "<table>", "</table>", "<tr>", "</tr>", "<td>", "<td rowspan=3>",
     "</td>", "<th colspan=2>", "<thead>", "<caption>", "</caption>", "<ul>", "</ul>", "<ol start=x>", "<li>",
     "<dl><dt>", "<dd>", "<h1>", "</h1>", "<h3>", "<pre>", "</pre>", "<br>", "<hr>", "<b>", "</b>", "<ruby>",
     "<rt>", "</ruby>", "<blockquote>", "</blockquote>", "<nav>", "</nav>", "<footer>", "</body>", "<form>",
     "</form>", "<section>", "alpha ", "beta", " gamma\n", "&amp;", "1 < 2 ", "<", "&#0;", "\x00",
     "<a href=x>", "</a>", "<!--", "-->"]
)  # fmt: skip
WORDS = re.compile(r"[a-z]{4,}")


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=40).map("".join))
def test_no_word_a_browser_shows_is_lost(source: str) -> None:
    found = list(blocks(source))
    assert all(block.text.strip() and 1 <= block.line_start <= block.line_end for block in found)
    expected = WORDS.findall(LexborHTMLParser(source).root.text(separator="") or "")
    words = WORDS.findall("".join(block.text for block in found))
    # An unfinished tag at the very end is text here and nothing to a browser: more is allowed, less is not.
    assert not Counter("".join(expected)) - Counter("".join(words))


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200), st.lists(st.sampled_from("<>/=\"' -!tdrhp&;\n"), max_size=80).map("".join)
    )
)
def test_anything_is_read(source: str) -> None:
    for block in blocks(source):
        assert block.text.strip()
