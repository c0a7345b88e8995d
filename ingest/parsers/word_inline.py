"""The text of one WordprocessingML paragraph, and what hangs on it: notes, boxes, figures, links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ingest.parsers.drawing import alt_text, visible, visible_branch
from ingest.parsers.math import formula_text
from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.symbols import symbol

_BOX_CONTENT = tag("w:txbxContent")
# What a reader of the accepted document does not see: deletions, moved-away text, field instructions.
_SKIPPED = frozenset((
    "pPr", "rPr", "sdtPr", "sdtEndPr", "del", "moveFrom", "delText", "instrText", "delInstrText", "rt",
    "rubyPr", "tblPr", "customXmlPr", "smartTagPr",
))  # fmt: skip
_FIXED = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}
_ON = ("", "1", "true", "on")


@dataclass
class Fields:
    """Where a run stands in nested fields: in an instruction (not shown) or in a result (shown).

    A field may begin in one paragraph and end in another, so this outlives a paragraph.
    """

    stack: list[bool] = field(default_factory=list)  # True while in the instruction

    @property
    def hidden(self) -> bool:
        """Whether what comes now belongs to an instruction."""
        return any(self.stack)

    def mark(self, kind: str) -> None:
        """Take a field character: "begin", "separate" or "end"."""
        if kind == "begin":
            self.stack.append(True)
        elif self.stack and kind == "separate":
            self.stack[-1] = False
        elif self.stack and kind == "end":
            self.stack.pop()


@dataclass
class Inline:
    """What a paragraph holds, in order of appearance."""

    fields: Fields
    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)  # ("footnote" | "endnote" | "comment", id)
    boxes: list[Node] = field(default_factory=list)
    drawings: list[Node] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # relation ids

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        """Add text unless a field instruction swallows it."""
        if text and not self.fields.hidden:
            self.pieces.append(text)

    def read(self, node: Node) -> None:
        """Take in everything below a node."""
        for child in node:
            name = local(child)
            if name in _FIXED:
                self.write(_FIXED[name])
            elif (reader := _READERS.get(name)) is not None:
                reader(self, child)
            elif name not in _SKIPPED:
                self.read(child)


def _text(inline: Inline, node: Node) -> None:
    inline.write(node.text or "")


def _break(inline: Inline, _node: Node) -> None:
    inline.write("\n")


def _symbol(inline: Inline, node: Node) -> None:
    inline.write(symbol(attribute(node, "font"), attribute(node, "char")))


def _note(inline: Inline, node: Node) -> None:
    inline.notes.append((local(node).removesuffix("Reference"), attribute(node, "id")))


def _link(inline: Inline, node: Node) -> None:
    if attribute(node, "id"):
        inline.links.append(attribute(node, "id"))
    inline.read(node)


def _formula(inline: Inline, node: Node) -> None:
    inline.write(formula_text(node))


def _alternate(inline: Inline, node: Node) -> None:
    inline.read(visible_branch(node))


def _field_mark(inline: Inline, node: Node) -> None:
    inline.fields.mark(attribute(node, "fldCharType"))
    data = node.find(tag("w:ffData"))
    if data is not None:
        inline.pieces.append(form_value(data))


def form_value(data: Node) -> str:
    """Return the value of a legacy form field that is not written as a result: check box, drop-down."""
    box = data.find(tag("w:checkBox"))
    if box is not None:
        state = box.find(tag("w:checked"))
        state = box.find(tag("w:default")) if state is None else state
        return "☒" if state is not None and attribute(state, "val") in _ON else "☐"
    choice = data.find(tag("w:ddList"))
    if choice is not None:
        entries = [attribute(entry, "val") for entry in choice.iter(tag("w:listEntry"))]
        picked = attribute(choice.find(tag("w:result")), "val", "0")
        return entries[int(picked)] if picked.isdecimal() and int(picked) < len(entries) else ""
    return ""


def _drawing(inline: Inline, node: Node) -> None:
    inline.drawings.append(node)
    for part in visible(node, "txbxContent", "txBody"):
        name = local(part)
        if part.tag == _BOX_CONTENT:
            inline.boxes.append(part)
        elif name in ("docPr", "cNvPr"):
            inline.figures.append(alt_text(part))
        elif name == "textpath":
            inline.figures.append(attribute(part, "string"))
        elif name in ("shape", "rect", "oval", "roundrect", "group", "image"):
            inline.figures.append(attribute(part, "alt"))
        elif name == "txBody":
            inline.boxes.append(part)


_READERS: dict[str, Callable[[Inline, Node], None]] = {
    "t": _text,
    "br": _break,
    "sym": _symbol,
    "fldChar": _field_mark,
    "footnoteReference": _note,
    "endnoteReference": _note,
    "commentReference": _note,
    "hyperlink": _link,
    "oMath": _formula,
    "AlternateContent": _alternate,
    "drawing": _drawing,
    "pict": _drawing,
    "object": _drawing,
}
