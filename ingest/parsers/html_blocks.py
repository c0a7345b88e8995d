"""HTML source to blocks of text: headings, paragraphs, list items, table rows, captions, code.

Everything a reader sees is kept, in source order, with the lines it stands on. What is hidden by an attribute
is left out, nothing is fetched, and nothing is thrown away for looking like decoration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.model import ElementKind
from ingest.parsers.html_forms import field_text
from ingest.parsers.html_outline import Outline, kind_of
from ingest.parsers.html_stack import BLOCKS, OpenElements
from ingest.parsers.html_tables import Table
from ingest.parsers.html_text import Block, TextRun
from ingest.parsers.html_tokens import Token, attributes, tokens, unify_newlines

_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_TABLE_PARTS = frozenset({"table", "thead", "tr", "td", "th"})
_CODE = frozenset({"code", "samp", "kbd"})
_CODE_CLASS = re.compile(r"\b(?:code|highlight|lang(?:uage)?-\w+|brush|source(?:code)?)\b", re.IGNORECASE)
_MAX_TABLES = 32
_MAX_FRAMES = 3
_MAX_LINKS = 20


def blocks(text: str, line: int = 1) -> Iterator[Block]:
    """Yield the blocks of HTML source in reading order.

    Args:
        text: the decoded source.
        line: number of its first line.
    """
    builder = _Builder()
    for token in tokens(unify_newlines(text), line):
        builder.take(token)
        if builder.ready:
            yield from builder.ready
            builder.ready.clear()
    builder.finish()
    yield from builder.ready


class _Builder:
    """Takes tokens, gives blocks.

    Attributes:
        ready: blocks that are complete.
    """

    def __init__(self, frames: int = 0) -> None:
        self.ready: list[Block] = []
        self._elements = OpenElements()
        self._tables: list[Table] = []
        self._run = TextRun()
        self._outline = Outline()
        self._select = ""
        self._is_code = False
        self._frames = frames

    def take(self, token: Token) -> None:
        if token.kind == "text":
            if not self._elements.hidden:
                self._text(token)
        elif token.kind == "end":
            self._end(token)
        else:
            self._start(token)

    def finish(self) -> None:
        for name in self._elements.close_all():
            self._leave(name)
        self._flush()

    def _text(self, token: Token) -> None:
        run, opened = self._run, self._elements.open
        if opened["pre"] or opened["textarea"] or opened["xmp"] or opened["plaintext"]:
            run.add_preformatted(token.data, token.line)
        elif opened["rt"] and opened["ruby"]:
            run.annotate(token.data, token.line)
        else:
            run.add(token.data, token.line)

    def _end(self, token: Token) -> None:
        if token.data == "br":
            self._break()
        for name in self._elements.close(token.data):
            self._leave(name)

    def _start(self, token: Token) -> None:
        name = token.data
        for ended in self._elements.imply(name):
            self._leave(ended)
        found = attributes(token.raw) if token.raw else {}
        hides = _hides(found) or (name == "title" and self._elements.open["svg"] > 0)
        shown = not (hides or self._elements.hidden)
        if shown and name in BLOCKS:
            self._flush()
        self._elements.push(name, hides)
        if shown and not self._elements.hidden:
            self._enter(name, found, token)

    def _enter(self, name: str, found: dict[str, str], token: Token) -> None:
        if name == "br":
            self._break()
        elif name in ("img", "input", "select", "option", "iframe"):
            self._embed(name, found, token)
        elif name == "a":
            self._link(found.get("href", ""))
        elif name in _TABLE_PARTS:
            self._enter_table(name, found)
        elif name in ("ul", "ol"):
            self._outline.enter_list(name, found.get("start", "1"))
        elif name == "li":
            self._outline.enter_item()
        elif name == "pre" or (name in _CODE and self._elements.open["pre"]):
            self._is_code = self._is_code or name in _CODE or bool(_CODE_CLASS.search(found.get("class", "")))

    def _enter_table(self, name: str, found: dict[str, str]) -> None:
        depth = self._elements.open["table"]
        if name == "table":
            if depth <= _MAX_TABLES:
                self._tables.append(Table(depth, found))
        elif self._tables and self._tables[-1].depth == depth:
            self._tables[-1].enter(name, found)

    def _embed(self, name: str, found: dict[str, str], token: Token) -> None:
        run = self._run
        if name == "img":
            self._picture(" ".join(found.get("alt", "").split()), token)
        elif name == "iframe":
            self._frame(found.get("srcdoc", ""), token.line)
        elif name == "input":
            shown = field_text(found)
            run.add_shown(shown, *token.lines)
            if shown:
                run.fields[_field_name(found)] = shown
        elif name == "select":
            self._select = _field_name(found)
        else:
            run.add_break()
            if "selected" in found:
                run.choose(self._select)

    def _frame(self, source: str, line: int) -> None:
        if self._frames < _MAX_FRAMES:
            inner = _Builder(self._frames + 1)
            for token in tokens(unify_newlines(source)):
                inner.take(token._replace(line=line))
            inner.finish()
            self._sink().extend(inner.ready)

    def _picture(self, alt: str, token: Token) -> None:
        if alt and self._tables and self._tables[-1].cell is not None:
            self._run.add_shown(alt, *token.lines)
        elif alt:
            self._run.pictures.append((alt, *token.lines))

    def _link(self, target: str) -> None:
        links = self._run.links
        if target.startswith(("http://", "https://", "mailto:", "tel:")) and len(links) < _MAX_LINKS:
            links.append(target)

    def _break(self) -> None:
        if not self._elements.hidden and not self._run.add_break():
            self._flush()

    def _leave(self, name: str) -> None:
        if self._elements.hidden:
            return
        if name in BLOCKS:
            self._flush()
        if name == "ruby":
            self._run.end_annotation()
        elif name == "option":
            self._run.end_choice()
        elif name == "pre":
            self._is_code = False
        elif name in ("ul", "ol"):
            self._outline.leave_list()
        elif name in _TABLE_PARTS and self._tables and self._tables[-1].depth == self._elements.open["table"]:
            rows = self._tables[-1].leave(name)
            if name == "table":
                self._tables.pop()
            self._sink().extend(rows)

    def _sink(self) -> list[Block]:
        """Return where a block goes now: the innermost open cell, or the reader."""
        for table in reversed(self._tables):
            if table.cell is not None:
                return table.cell
        return self.ready

    def _flush(self) -> None:
        """Make a block of the text gathered so far."""
        run = self._run
        if run.is_empty:
            return
        self._run = TextRun()
        sink = self._sink()
        opened = self._elements.open
        kind, level = kind_of(opened, bool(run.fields), self._is_code)
        metadata = self._outline.metadata(kind, run, opened["blockquote"] > 0)
        headings = self._outline.headings(level if kind is ElementKind.HEADING else 0)
        texts = run.paragraphs(kind is ElementKind.CODE) if run.preformatted else [run.read()]
        for text, first, last in texts:
            if text:
                sink.append(Block(kind, text, first, last, level, headings, (), metadata))
                self._note(kind, level, text)
        for alt, first, last in run.pictures:
            sink.append(Block(ElementKind.FIGURE, alt, first, last, 0, self._outline.headings()))

    def _note(self, kind: ElementKind, level: int, text: str) -> None:
        """Remember what later blocks refer to."""
        if kind is ElementKind.HEADING:
            self._outline.add_heading(level, text)
        elif kind is ElementKind.CAPTION and self._elements.open["caption"] and self._tables:
            self._tables[-1].caption = text


def _hides(found: dict[str, str]) -> bool:
    hidden = found.get("hidden")
    return (hidden is not None and hidden.lower() != "until-found") or bool(
        "style" in found and _HIDING_STYLE.search(found["style"])
    )


def _field_name(found: dict[str, str]) -> str:
    return found.get("name") or found.get("id") or found.get("aria-label") or "value"
