"""reStructuredText, through docutils; nothing is included from files and nothing raw is passed on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import SystemMessage
from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.encoding import decode_text
from ingest.errors import CorruptFile
from ingest.model import Cell, ElementKind
from ingest.parsers.tables import column_letters

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 2,  # messages carry the text of directives that docutils does not know
    "halt_level": 6,
    "warning_stream": False,
    "syntax_highlight": "none",
    "doctitle_xform": False,
    "docinfo_xform": False,
    "line_length_limit": 1_000_000,
}
_KINDS: dict[type[nodes.Node], ElementKind] = {
    nodes.paragraph: ElementKind.PARAGRAPH,
    nodes.literal_block: ElementKind.CODE,
    nodes.doctest_block: ElementKind.CODE,
    nodes.math_block: ElementKind.CODE,
    nodes.line_block: ElementKind.PARAGRAPH,
    nodes.caption: ElementKind.CAPTION,
    nodes.term: ElementKind.PARAGRAPH,
    nodes.rubric: ElementKind.PARAGRAPH,
    nodes.attribution: ElementKind.PARAGRAPH,
}
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.label)
_PLACES: dict[type[object], ElementKind] = {
    nodes.list_item: ElementKind.LIST_ITEM,
    nodes.block_quote: ElementKind.QUOTE,
    nodes.footnote: ElementKind.FOOTNOTE,
    nodes.citation: ElementKind.FOOTNOTE,
    nodes.Admonition: ElementKind.NOTE,
}


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the blocks of a document; its first heading becomes its title.

    Raises:
        CorruptFile: docutils gives it up.
    """
    text, encoding = decode_text(context.path.read_bytes())
    context.describe(encoding=encoding)
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
    except (SystemMessage, RecursionError) as error:
        raise CorruptFile(f"The text cannot be read as reStructuredText: {error!s:.200}") from error
    yield from _Walk(context).below(tree, ElementKind.PARAGRAPH, 0)


@dataclass
class _Walk:
    """A walk through a document tree that knows the headings above."""

    context: ParseContext
    headings: list[str] = field(default_factory=list)
    line: int = 1
    tables: int = 0

    def below(self, node: nodes.Element, kind: ElementKind, level: int) -> Iterator[Piece]:
        """Yield the blocks below a node; ``kind`` is what a paragraph is there, ``level`` lists deep."""
        for child in node.children:
            self.line = max(self.line, getattr(child, "line", None) or 0)
            if not isinstance(child, nodes.Element) or isinstance(child, _SKIPPED):
                continue
            yield from self._block(child, kind, level)

    def _block(self, node: nodes.Element, kind: ElementKind, level: int) -> Iterator[Piece]:
        if isinstance(node, nodes.section):
            yield from self.below(node, kind, level)
            self.headings.pop()
        elif isinstance(node, nodes.title):
            yield from self._title(node)
        elif isinstance(node, nodes.table):
            yield from self._table(node)
        elif isinstance(node, nodes.field):
            name, body = (part.astext() for part in node.children[:2])
            yield from self._piece(ElementKind.FIELD, f"{name}: {body}", 0)
        elif isinstance(node, nodes.system_message):
            for source in node.findall(nodes.literal_block):
                yield from self._piece(ElementKind.PARAGRAPH, source.astext(), 0)
        elif isinstance(node, nodes.image):
            yield from self._piece(ElementKind.FIGURE, node.get("alt", ""), 0)
        elif type(node) in _KINDS:
            own = _KINDS[type(node)]
            yield from self._piece(kind if own is ElementKind.PARAGRAPH else own, node.astext(), level)
        else:
            inner = next((found for place, found in _PLACES.items() if isinstance(node, place)), kind)
            yield from self.below(node, inner, level + isinstance(node, nodes.list_item))

    def _title(self, node: nodes.title) -> Iterator[Piece]:
        text = " ".join(node.astext().split())
        in_section = isinstance(node.parent, nodes.section)
        if in_section and not self.headings and not self.context.metadata.title:
            self.context.describe(title=text)
        yield from self._piece(
            ElementKind.HEADING if in_section else ElementKind.CAPTION, text, len(self.headings) + 1
        )
        if in_section:
            self.headings.append(text)

    def _piece(self, kind: ElementKind, text: str, level: int) -> Iterator[Piece]:
        shown = text.strip("\n") if kind is ElementKind.CODE else " ".join(text.split())
        deep = level if kind in (ElementKind.HEADING, ElementKind.LIST_ITEM) else 0
        if shown.strip():
            anchor = SectionAnchor(heading_path=tuple(self.headings), line_start=self.line)
            yield Piece(kind, shown, anchor, deep)

    def _table(self, node: nodes.table) -> Iterator[Piece]:
        self.tables += 1
        head = next(node.findall(nodes.thead), None)
        names = (
            [" ".join(entry.astext().split()) for entry in head.findall(nodes.entry)]
            if head is not None
            else []
        )
        for title in node.findall(nodes.title):
            yield from self._piece(ElementKind.CAPTION, title.astext(), 0)
        for row in node.findall(nodes.row):
            values = [" ".join(entry.astext().split()) for entry in row.findall(nodes.entry)]
            cells = tuple(
                Cell(name=(names[at] if at < len(names) else "") or column_letters(at), value=value)
                for at, value in enumerate(values)
                if value
            )
            anchor = SectionAnchor(heading_path=tuple(self.headings), line_start=self.line)
            metadata: dict[str, JsonValue] = {"table": f"table {self.tables}"}
            if isinstance(row.parent, nodes.thead):
                metadata["header"] = True
            if cells:
                text = " | ".join(cell.value for cell in cells)
                yield Piece(ElementKind.TABLE_ROW, text, anchor, cells=cells, metadata=metadata)
