"""OpenDocument text (ODT, ISO 26300): headings, lists, tables, notes, comments, headers and footers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zipfile import ZipFile

from pydantic import JsonValue

from ingest.anchors import SectionAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile
from ingest.model import Cell, ElementKind
from ingest.parsers.inner_pictures import InnerPictures
from ingest.parsers.ooxml import Node, attribute, local, parse_xml
from ingest.parsers.tables import column_letters, is_header
from ingest.zipguard import checked_zip, read_member

_MAX_REPEAT = 50
_INLINE_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}
_APART = frozenset(("note", "annotation", "frame", "tracked-changes", "ruby-text", "object", "text-box"))


def parse(context: ParseContext) -> Iterator[Piece]:
    """Yield the text of a document; deleted tracked text is left out.

    Raises:
        CorruptFile: the archive or its content is damaged.
        FileTooLarge: it unpacks to more than the limits allow.
    """
    with checked_zip(context.path, context.limits) as package:
        members = set(package.namelist())
        content = parse_xml(read_member(package, "content.xml"))
        if "meta.xml" in members:
            _describe(context, parse_xml(read_member(package, "meta.xml"), recover=True))
        styles = parse_xml(read_member(package, "styles.xml")) if "styles.xml" in members else None
        yield from _read(context, package, content, styles)


def _read(context: ParseContext, package: ZipFile, content: Node, styles: Node | None) -> Iterator[Piece]:
    body = next(content.iter("{*}text"), None)
    if body is None or local(body.getparent()) != "body":
        raise CorruptFile("The document has no text body.")
    pictures = InnerPictures(context)
    yield from _Walk(package, pictures).blocks(body, 0)
    pictures.report()
    if styles is not None:
        yield from _margins(styles)


def _describe(context: ParseContext, meta: Node) -> None:
    said = {local(node): " ".join("".join(node.itertext()).split()) for node in meta.iter() if len(node) == 0}
    created = _date(said.get("creation-date", ""))
    context.describe(
        title=said.get("title") or None,
        authors=tuple(filter(None, [said.get("initial-creator") or said.get("creator")])) or None,
        created_at=created,
        modified_at=_date(said.get("date", "")),
        occurred_at=created,
        language=said.get("language") or None,
        extra={key: said[key] for key in ("subject", "description", "keyword") if said.get(key)},
    )


def _date(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text[:26])
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass
class _Walk:
    """A walk through a document that knows the headings above and counts blocks."""

    package: ZipFile
    pictures: InnerPictures
    headings: list[str] = field(default_factory=list)
    count: int = 0
    tables: int = 0
    notes: int = 0

    def blocks(self, node: Node, level: int) -> Iterator[Piece]:
        """Yield the blocks below a node; ``level`` is the depth of the list they stand in."""
        for child in node:
            name = local(child)
            if name == "h":
                yield from self._heading(child)
            elif name == "p":
                kind = ElementKind.LIST_ITEM if level else ElementKind.PARAGRAPH
                yield from self._block(child, kind, level)
            elif name in ("list", "list-item", "list-header"):
                yield from self.blocks(child, level + (name == "list"))
            elif name == "table":
                yield from self._table(child)
            elif name != "tracked-changes":
                yield from self.blocks(child, level)

    def _heading(self, node: Node) -> Iterator[Piece]:
        raw = attribute(node, "outline-level", "1")
        level = min(max(int(raw) if raw.isdigit() else 1, 1), 10)
        del self.headings[level - 1 :]
        yield from self._block(node, ElementKind.HEADING, level)
        self.headings.append(_text(node))

    def _block(self, node: Node, kind: ElementKind, level: int) -> Iterator[Piece]:
        self.count += 1
        text = _text(node)
        if text:
            yield Piece(kind, text, self._anchor(), level)
        yield from self._apart(node)

    def _anchor(self, part: str | None = None) -> SectionAnchor:
        return SectionAnchor(heading_path=tuple(self.headings), paragraph=max(self.count, 1), part=part)

    def _apart(self, node: Node) -> Iterator[Piece]:
        """Yield what hangs on a paragraph without being its text: notes, comments, boxes, picture texts."""
        for child in node:
            name = local(child)
            if name == "note":
                self.notes += 1
                part = f"{attribute(child, 'note-class', 'footnote')} {self.notes}"
                text = " ".join(filter(None, (_text(block) for block in child.iter("{*}p"))))
                if text:
                    yield Piece(ElementKind.FOOTNOTE, text, self._anchor(part))
            elif name == "annotation":
                yield from self._comment(child)
            elif name == "frame":
                yield from self._frame(child)
            elif name != "tracked-changes":
                yield from self._apart(child)

    def _comment(self, node: Node) -> Iterator[Piece]:
        text = " ".join(filter(None, (_text(block) for block in node.iter("{*}p"))))
        said: dict[str, JsonValue] = {
            {"creator": "author", "date": "date"}[local(child)]: child.text
            for child in node
            if local(child) in ("creator", "date") and child.text
        }
        if text:
            yield Piece(ElementKind.COMMENT, text, self._anchor("comment"), metadata=said)

    def _frame(self, node: Node) -> Iterator[Piece]:
        for child in node:
            if local(child) == "text-box":
                for piece in self.blocks(child, 0):
                    plain = piece.kind is ElementKind.PARAGRAPH
                    yield piece._replace(kind=ElementKind.TEXT_BOX) if plain else piece
            elif local(child) == "image":
                yield from self._picture(attribute(child, "href"))
            elif local(child) in ("title", "desc") and (text := " ".join("".join(child.itertext()).split())):
                yield Piece(ElementKind.FIGURE, text, self._anchor("picture"))

    def _picture(self, name: str) -> Iterator[Piece]:
        """Yield what is written in a picture of the package; those elsewhere are not fetched."""
        try:
            data = read_member(self.package, name.removeprefix("./"))
        except CorruptFile:
            return
        yield from self.pictures.read(data, self._anchor("picture"))

    def _table(self, node: Node) -> Iterator[Piece]:
        self.tables += 1
        name = attribute(node, "name") or f"table {self.tables}"
        rows = [_cells(row) for row in node.iter("{*}table-row")]
        shown = [dict(enumerate(row)) for row in rows]
        marked = next(node.iter("{*}table-header-rows"), None) is not None
        header = bool(rows) and (marked or is_header(shown[0], shown[1:]))
        for number, row in enumerate(rows, start=1):
            self.count += 1
            cells = tuple(
                Cell(
                    name=(rows[0][at] if header and at < len(rows[0]) else "") or column_letters(at),
                    value=value,
                )
                for at, value in enumerate(row)
                if value
            )
            metadata: dict[str, JsonValue] = {"table": name, "row": number}
            if header and number == 1:
                metadata["header"] = True
            if cells:
                text = " | ".join(cell.value for cell in cells)
                yield Piece(ElementKind.TABLE_ROW, text, self._anchor(), cells=cells, metadata=metadata)


def _cells(row: Node) -> list[str]:
    values: list[str] = []
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        raw = attribute(cell, "number-columns-repeated", "1")
        text = " ".join(filter(None, (_text(block) for block in cell.iter("{*}p", "{*}h"))))
        values += [text] * min(int(raw) if raw.isdigit() else 1, _MAX_REPEAT)
    return values


def _text(node: Node) -> str:
    """Return the text of a block without what hangs on it."""
    parts: list[str] = []

    def collect(inner: Node) -> None:
        if local(inner) in _INLINE_BREAKS:
            parts.append(_INLINE_BREAKS[local(inner)])
        elif local(inner) not in _APART:
            parts.append(inner.text or "")
            for child in inner:
                collect(child)
                parts.append(child.tail or "")

    collect(node)
    return " ".join("".join(parts).split())


def _margins(styles: Node) -> Iterator[Piece]:
    """Yield page headers and footers, each wording once."""
    said: set[tuple[ElementKind, str]] = set()
    for node in styles.iter(
        "{*}header", "{*}footer", "{*}header-first", "{*}footer-first", "{*}header-left", "{*}footer-left"
    ):
        kind = ElementKind.HEADER if local(node).startswith("header") else ElementKind.FOOTER
        text = " ".join(filter(None, (_text(block) for block in node.iter("{*}p", "{*}h"))))
        if text and (kind, text) not in said:
            said.add((kind, text))
            yield Piece(kind, text, SectionAnchor(part=kind.value))
