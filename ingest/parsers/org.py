"""Org files (Emacs): headings with their state, lists, tables, blocks, keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.model import Cell, ElementKind
from ingest.parsers.tables import column_letters, is_header

_HEADING = re.compile(r"(\*+)\s+(.*?)(?:\s+:[\w@#%:]+:)?\s*$")
_KEYWORD = re.compile(r"#\+(\w+):\s*(.*)", re.IGNORECASE)
_ITEM = re.compile(r"(\s*)(?:[-+]|\s\*|\d+[.)])\s+(?:\[[ Xx-]\]\s+)?(.*)")
_BLOCK = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_END = re.compile(r"\s*#\+end_\w+", re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]]+)\](?:\[([^\[\]]+)\])?\]")
_RULE = re.compile(r"\s*\|[-+|\s]*$")
# Bounded: an opening mark that nothing closes would else be looked for to the end of the text, each of them.
_MARKED = re.compile(r"(?<![\w*/=~+_])([*/=~+_])(\S(?:.{0,300}?\S)?)\1(?![\w*/=~+_])")
_DRAWER = re.compile(r"\s*:\w+:(?:\s.*)?$")
_CODE = frozenset(("src", "example", "export"))


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the blocks of an Org file; comments and the property drawers are left out."""
    text, encoding = decode_text(context.path.read_bytes())
    context.describe(encoding=encoding)
    yield from _Reader(context, text.splitlines()).read()


@dataclass
class _Reader:
    context: ParseContext
    lines: list[str]
    headings: list[str] = field(default_factory=list)
    tables: int = 0

    def read(self) -> Iterator[Piece]:
        at = 0
        while at < len(self.lines):
            end, pieces = self._block_at(at)
            yield from pieces
            at = end

    def _block_at(self, at: int) -> tuple[int, list[Piece]]:
        """Return where the block that starts at a line ends, and its pieces."""
        line = self.lines[at]
        if match := _HEADING.match(line):
            return at + 1, [self._heading(match, at)]
        if match := _KEYWORD.match(line):
            return at + 1, self._keyword(match, at)
        if match := _BLOCK.match(line):
            return self._fenced(at, match.group(1).lower())
        if line.lstrip().startswith("|"):
            return self._table(at)
        if not line.strip() or re.match(r"\s*#(?:\s|$)", line) or _DRAWER.match(line):
            return at + 1, []
        return self._text(at)

    def _anchor(self, start: int, end: int) -> SectionAnchor:
        return SectionAnchor(
            heading_path=tuple(self.headings), line_start=start + 1, line_end=max(end, start + 1)
        )

    def _heading(self, match: re.Match[str], at: int) -> Piece:
        level, text = len(match.group(1)), _plain(match.group(2))
        del self.headings[level - 1 :]
        piece = Piece(ElementKind.HEADING, text, self._anchor(at, at + 1), level)
        self.headings.append(text)
        return piece

    def _keyword(self, match: re.Match[str], at: int) -> list[Piece]:
        name, value = match.group(1).lower(), _plain(match.group(2))
        if not value:
            return []
        if name == "title":
            self.context.describe(title=value)
            return [Piece(ElementKind.TITLE, value, self._anchor(at, at + 1))]
        if name == "author":
            self.context.describe(authors=(value,))
        if name in ("author", "date", "caption", "subtitle", "description", "keywords"):
            kind = ElementKind.CAPTION if name == "caption" else ElementKind.FIELD
            text = value if name == "caption" else f"{name}: {value}"
            return [Piece(kind, text, self._anchor(at, at + 1))]
        return []

    def _fenced(self, at: int, kind: str) -> tuple[int, list[Piece]]:
        end = next((n for n in range(at + 1, len(self.lines)) if _END.match(self.lines[n])), len(self.lines))
        body = self.lines[at + 1 : end]
        if kind in _CODE:
            found = [(ElementKind.CODE, "\n".join(body).strip("\n"))]
        else:
            shape = ElementKind.QUOTE if kind == "quote" else ElementKind.PARAGRAPH
            found = [(shape, _plain(" ".join(part.split()))) for part in "\n".join(body).split("\n\n")]
        return end + 1, [Piece(shape, text, self._anchor(at, end)) for shape, text in found if text.strip()]

    def _table(self, at: int) -> tuple[int, list[Piece]]:
        end = at
        while end < len(self.lines) and self.lines[end].lstrip().startswith("|"):
            end += 1
        self.tables += 1
        rows = [
            (number, [_plain(cell.strip()) for cell in self.lines[number].strip().strip("|").split("|")])
            for number in range(at, end)
            if not _is_rule(self.lines[number])
        ]
        ruled = at + 1 < end and _is_rule(self.lines[at + 1])
        shown = [dict(enumerate(cells)) for _, cells in rows]
        header = bool(rows) and len(rows) > 1 and (ruled or is_header(shown[0], shown[1:]))
        names = rows[0][1] if header else []
        return end, [
            self._row(number, cells, names, header and index == 0)
            for index, (number, cells) in enumerate(rows)
            if any(cells)
        ]

    def _row(self, number: int, values: list[str], names: list[str], is_head: bool) -> Piece:
        cells = tuple(
            Cell(name=(names[at] if at < len(names) else "") or column_letters(at), value=value)
            for at, value in enumerate(values)
            if value
        )
        text = " | ".join(cell.value for cell in cells)
        metadata: dict[str, JsonValue] = {"table": f"table {self.tables}"}
        if is_head:
            metadata["header"] = True
        return Piece(
            ElementKind.TABLE_ROW, text, self._anchor(number, number + 1), cells=cells, metadata=metadata
        )

    def _text(self, at: int) -> tuple[int, list[Piece]]:
        """Read a paragraph, or a list item with the lines indented below it."""
        item = _ITEM.match(self.lines[at])
        text = item.group(2) if item else self.lines[at]
        end = at + 1
        while end < len(self.lines) and self._goes_on(self.lines[end]):
            text += " " + self.lines[end]
            end += 1
        level = len(item.group(1).expandtabs()) // 2 + 1 if item else 0
        kind = ElementKind.LIST_ITEM if item else ElementKind.PARAGRAPH
        return end, [Piece(kind, _plain(" ".join(text.split())), self._anchor(at, end), level)]

    def _goes_on(self, line: str) -> bool:
        starts = _HEADING.match(line) or _KEYWORD.match(line) or _ITEM.match(line) or _BLOCK.match(line)
        return bool(line.strip()) and not starts and not line.lstrip().startswith(("|", "# "))


def _plain(text: str) -> str:
    """Return a text with links as their words and without emphasis marks."""
    text = _LINK.sub(lambda match: match.group(2) or match.group(1), text)
    return _MARKED.sub(r"\2", text)


def _is_rule(line: str) -> bool:
    return "-" in line and bool(_RULE.match(line))
