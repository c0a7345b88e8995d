"""Markdown: headings, paragraphs, list items, code, table rows and front matter, each with its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.model import Cell, ElementKind
from ingest.parsers import plain
from ingest.parsers.front_matter import FrontMatter, split_front_matter
from ingest.parsers.tag_text import text_of_tags

# A syntax tree takes some fifty times the text: longer files are read as plain text.
_MOST_BYTES = 8 * 2**20
_MOST_NESTING = 100
_MOST_INLINE_CHARS = 32_000
_LINKS_KEPT = 50


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the blocks of a Markdown text (CommonMark with tables and strikethrough) in their order."""
    if context.path.stat().st_size > _MOST_BYTES:
        context.warn("markdown_as_text", f"Longer than {_MOST_BYTES} bytes: it was read as plain text.")
        yield from plain.parse(context)
        return
    text, encoding = decode_text(context.path.read_bytes())
    context.describe(encoding=encoding)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = split_front_matter(text)
    if front:
        _describe(context, front)
        yield from (_field(name, value, line) for name, value, line in front.fields)
        # Blank lines in its place keep the numbers of the lines that follow.
        text = "\n" * front.lines + front.body
    references: dict[str, dict[str, dict[str, object]]] = {}
    tokens = _markdown().parse(text, references)
    if max((token.level for token in tokens), default=0) >= _MOST_NESTING - 2:
        context.warn("markdown_as_text", "Nested too deeply: it was read as plain text.")
        yield from plain.parse(context)
        return
    walk = _Walk(tokens)
    for piece in walk.pieces():
        if piece.kind is ElementKind.HEADING and piece.level == 1 and context.metadata.title is None:
            context.describe(title=piece.text)
        yield piece
    yield from _footnotes(references)


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"maxNesting": _MOST_NESTING}).enable(["table", "strikethrough"])
    reader.core.ruler.at("inline", _read_inline)
    return reader


def _read_inline(state: StateCore) -> None:
    """Read the marks inside blocks, but not in blocks so long that doing so could take minutes."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        children: list[Token] = []
        if len(token.content) > _MOST_INLINE_CHARS:
            children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, children)
        token.children = children


def _describe(context: ParseContext, front: FrontMatter) -> None:
    context.describe(title=front.title, authors=front.authors or None, occurred_at=front.moment)


def _field(name: str, value: str, line: int) -> Piece:
    anchor = SectionAnchor(line_start=line, line_end=line, part="front matter")
    return Piece(ElementKind.FIELD, f"{name}: {value}", anchor)


def _footnotes(references: dict[str, dict[str, dict[str, object]]]) -> Iterator[Piece]:
    """Yield one-word footnotes, which CommonMark takes for targets of links."""
    for label, target in references.get("references", {}).items():
        if label.startswith("^"):
            words = " ".join(str(target[part]) for part in ("href", "title") if target.get(part))
            yield Piece(ElementKind.FOOTNOTE, words, SectionAnchor(part=f"footnote {label[1:]}"))


@dataclass
class _Walk:
    """The position in a token stream and what encloses it."""

    tokens: Sequence[Token]
    headings: list[tuple[int, str]] = field(default_factory=list)
    item_depth: int = 0
    item_fresh: bool = False
    quote_depth: int = 0
    header: tuple[str, ...] = ()
    table: int = 0

    def pieces(self) -> Iterator[Piece]:
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.type == "tr_open":
                end = _closing(self.tokens, at, "tr_close")
                yield self._row(self.tokens[at:end])
                at = end
            elif token.type == "inline":
                yield from self._block(self.tokens[at - 1], token)
            elif token.type in ("fence", "code_block"):
                yield self._piece(
                    ElementKind.CODE, token.content.rstrip("\n"), token, language=token.info.strip()
                )
            elif token.type == "html_block":
                yield self._piece(ElementKind.PARAGRAPH, text_of_tags(token.content), token)
            else:
                self._enter_or_leave(token)
            at += 1

    def _enter_or_leave(self, token: Token) -> None:
        if token.type in ("list_item_open", "list_item_close"):
            self.item_depth += token.nesting
            self.item_fresh = token.nesting > 0
        elif token.type in ("blockquote_open", "blockquote_close"):
            self.quote_depth += token.nesting
        elif token.type == "table_open":
            self.table += 1
            self.header = ()

    def _block(self, opening: Token, inline: Token) -> Iterator[Piece]:
        text, found = text_of_inline(inline)
        links: list[JsonValue] = [*found]
        if opening.type == "heading_open":
            level = int(opening.tag[1:])
            self.headings = [(depth, name) for depth, name in self.headings if depth < level]
            yield self._piece(ElementKind.HEADING, text, inline, level=level, links=links)
            self.headings.append((level, text))
        elif self.item_depth:
            kind = ElementKind.LIST_ITEM if self.item_fresh else ElementKind.PARAGRAPH
            self.item_fresh = False
            yield self._piece(kind, text, inline, level=self.item_depth, links=links)
        else:
            yield self._piece(ElementKind.PARAGRAPH, text, inline, links=links)

    def _row(self, tokens: Sequence[Token]) -> Piece:
        values = [text_of_inline(token)[0] for token in tokens if token.type == "inline"]
        is_header = any(token.type == "th_open" for token in tokens)
        if is_header:
            self.header = tuple(values)
        cells = tuple(
            Cell(
                name=(self.header[column] if column < len(self.header) else "") or f"column {column + 1}",
                value=value,
            )
            for column, value in enumerate(values)
            if value
        )
        piece = self._piece(ElementKind.TABLE_ROW, " | ".join(values), tokens[0], header=is_header)
        return piece._replace(cells=cells, metadata={**piece.metadata, "table": f"table {self.table}"})

    def _piece(
        self, kind: ElementKind, text: str, token: Token, *, level: int = 0, **marks: JsonValue
    ) -> Piece:
        first, end = token.map or (0, 1)
        anchor = SectionAnchor(
            heading_path=tuple(name for _, name in self.headings),
            line_start=first + 1,
            line_end=max(end, first + 1),
        )
        told: list[tuple[str, JsonValue]] = [*marks.items(), ("blockquote", self.quote_depth > 0)]
        return Piece(kind, text, anchor, level, (), {name: value for name, value in told if value})


def _closing(tokens: Sequence[Token], at: int, kind: str) -> int:
    while at < len(tokens) - 1 and tokens[at].type != kind:
        at += 1
    return at


def text_of_inline(token: Token) -> tuple[str, list[str]]:
    """Return the text of a line's worth of Markdown, and where its links lead.

    Images give their alternative text; inline HTML is left out, line breaks stay.
    """
    parts: list[str] = []
    links: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "html_inline":
            parts.append("\n" if child.content.lower().startswith("<br") else "")
        elif child.type == "link_open" and len(links) < _LINKS_KEPT:
            links.append(str(child.attrGet("href") or ""))
        else:
            parts.append(child.content)
    return "".join(parts).strip(), links
