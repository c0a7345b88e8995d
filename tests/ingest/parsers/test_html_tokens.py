from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ingest.parsers.html_tokens import attributes, tokens, unify_newlines


def text_of(source: str) -> str:
    return " ".join(token.data for token in tokens(source) if token.kind == "text")


def test_tags_text_and_lines() -> None:
    found = [(token.kind, token.data, token.line) for token in tokens("<P\nid=a>x &amp; y\n</p\n>z")]
    assert found == [("start", "p", 1), ("text", "x & y\n", 2), ("end", "p", 3), ("text", "z", 4)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (' a="1" A=2', {"a": "1"}),
        (" href='x\"y' checked", {"href": 'x"y', "checked": ""}),
        (" a = b&amp;c /", {"a": "b&c"}),
        (' title="a > b"', {"title": "a > b"}),
        (" =x y==z", {"=x": "", "y": "=z"}),
    ],
)
def test_attributes(raw: str, expected: dict[str, str]) -> None:
    assert attributes(raw) == expected
    (token,) = tokens(f"<a{raw}>")
    assert attributes(token.raw) == expected


@pytest.mark.parametrize(
    "source",
    [
        "a<!-- <b>no</b> -->b",
        "a<!-->b",
        "a<!--->b",
        "a<!doctype html>b",
        "a<?php echo 1 ?>b",
        "a<script>if (x < y) document.write('<p>no</p>')</script>b",
        "a<STYLE>p > a {}</Style >b",
        "a<script></scripty> no </script x>b",
        "a</>b",
        "a<iframe>no</iframe>b",
    ],
)
def test_what_is_not_shown(source: str) -> None:
    assert text_of(source).split() == ["a", "b"]


@pytest.mark.parametrize("source", ["1 < 2", "a <3 b", "x <a", "<", "</", "a < b > c", "5<6>"])
def test_a_less_than_sign_is_text(source: str) -> None:
    assert text_of(source) == source


def test_an_unfinished_tag_loses_no_text() -> None:
    assert "kept words" in text_of('<a href="x>kept words</a> more')


def test_titles_and_text_areas_hold_characters_only() -> None:
    assert text_of("<title>a &lt; <b>c</title>") == "a < <b>c"
    assert text_of("<textarea><p>x</textarea>") == "<p>x"
    assert text_of("<xmp>&amp;<b></xmp>") == "&amp;<b>"


def test_newlines_are_unified() -> None:
    assert unify_newlines("a\r\nb\rc\nd") == "a\nb\nc\nd"


HOSTILE = (
    *("<!--", "<", "<a ", "<a b=", '<a b="', "<a b='\">", "</a ", "<!", "<?", "<![CDATA[", "<script>"),
    *("<title></titl", "&#", "&a", "</", "<a/", "<>", "<!---->", "<!-->", '<a b="><!--', "<a ="),
)


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("tail", ["", ">", '">', "'>", "-->"])
def test_time_grows_with_length_only(unit: str, tail: str) -> None:
    start = time.process_time()
    for _ in tokens(unit * 20_000 + tail):
        pass
    assert time.process_time() - start < 5


PARTS = st.sampled_from(
    ["<p>", "</p>", "<b>", "</b>", "<div class='x'>", "</div>", "<br/>", "word", " and ", "&eacute;", "&",
     "<", ">", "<!-- c -->", "<a href=\"u\">", "</a>", "\n", "<ul><li>", "</ul>", "<i a=b c>", "1 < 2"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=30).map("".join))
@example("<word")
def test_reads_the_same_words_as_a_browser_engine(source: str) -> None:
    source += ">"  # a tag that never ends is kept here and dropped there
    expected = LexborHTMLParser(source).root.text() or ""
    found = "".join(token.data for token in tokens(source) if token.kind == "text")
    assert found.split() == expected.split()
