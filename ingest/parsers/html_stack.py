"""Which HTML elements are open, with the end tags authors leave out.

A small part of the tree construction of the WHATWG HTML standard, section 13.2.6: enough to know when a list
item, cell, row, paragraph or hidden element ends. There is no tree, so depth costs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_FLOW = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "frameset", "header", "hgroup", "hr", "html", "iframe"}
    | {"legend", "listing", "main", "nav", "noframes", "p", "plaintext", "pre", "search", "section"}
    | {"select", "summary", "textarea", "title", "xmp"}
)
_ITEMS = frozenset({"dd", "dt", "li"})
# Elements that matter without breaking a line.
INLINE = frozenset({"optgroup", "option", "rt", "ruby", "svg"})
_NEVER_SHOWN = frozenset({"template", "datalist", "annotation", "annotation-xml", "rp"})
_ROW_PARTS = frozenset({"td", "th", "tr"})
_SECTIONS = frozenset({"thead", "tbody", "tfoot", "caption", "colgroup"})
_BOUNDS = frozenset({"td", "th", "caption", "table"})
_TABLE = frozenset({"table"})
_PARAGRAPH = frozenset({"p"})
_TABLE_PARTS = _ROW_PARTS | _SECTIONS | _TABLE
BLOCKS = HEADINGS | LISTS | _FLOW | _ITEMS | _TABLE_PARTS

# name of a start tag -> (what it ends, where the search for that stops)
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), LISTS | _BOUNDS),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _BOUNDS),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"}) | _BOUNDS),
    "option": (frozenset({"option"}), frozenset({"select", "datalist"}) | _BOUNDS),
    "optgroup": (frozenset({"option", "optgroup"}), frozenset({"select"}) | _BOUNDS),
    "td": (frozenset({"td", "th", "caption"}), frozenset({"tr", "table"})),
    "th": (frozenset({"td", "th", "caption"}), frozenset({"tr", "table"})),
    "tr": (_ROW_PARTS | {"caption"}, _TABLE),
    **dict.fromkeys(_SECTIONS, (_ROW_PARTS | _SECTIONS, _TABLE)),
}
# Past this many elements no omitted end tag is looked for: it bounds the work on hostile nesting.
_REACH = 256


class OpenElements:
    """The elements open at a point of the source, outermost first.

    Only those that matter are kept: blocks, a few inline ones, and everything inside a hidden element.

    Attributes:
        open: how many of each name are open.
        hidden: how many of them hide their content.
    """

    def __init__(self) -> None:
        self._stack: list[tuple[str, bool]] = []
        self.open: defaultdict[str, int] = defaultdict(int)
        self.hidden = 0

    def imply(self, name: str) -> Iterator[str]:
        """Close what the start of ``name`` ends without an end tag, one at a time, innermost first.

        Each is still open while it is yielded; the same holds for the other methods that close.
        """
        if name in BLOCKS and self.open["p"]:
            yield from self._pop_many(self._outermost(_PARAGRAPH, BLOCKS - _PARAGRAPH))
        if name in HEADINGS and self._stack and self._stack[-1][0] in HEADINGS:
            yield from self._pop_many(1)
        if name in _ENDS:
            yield from self._pop_many(self._outermost(*_ENDS[name]))

    def push(self, name: str, hides: bool) -> None:
        """Open an element; void ones and those that do not matter are passed over."""
        hides = hides or name in _NEVER_SHOWN
        if name not in VOID and (hides or self.hidden or name in BLOCKS or name in INLINE):
            self._stack.append((name, hides))
            self.open[name] += 1
            self.hidden += hides

    def close(self, name: str) -> Iterator[str]:
        """Close an element by its end tag and all inside it, one at a time, innermost first.

        An end tag that belongs to nothing changes nothing, nor does one that would reach out of a table cell.
        """
        if name in HEADINGS:
            yield from self._pop_many(self._innermost(HEADINGS, _BOUNDS))
        elif self.open.get(name):
            bounds = _TABLE if name in _TABLE_PARTS else _BOUNDS
            yield from self._pop_many(self._innermost(frozenset({name}), bounds))

    def close_all(self) -> Iterator[str]:
        """Close everything, as the end of the file does."""
        yield from self._pop_many(len(self._stack))

    def _innermost(self, wanted: frozenset[str], bounds: frozenset[str]) -> int:
        """Return how many elements to close so that the nearest wanted one is among them, 0 for none."""
        for count, (name, _) in enumerate(self._nearest(), start=1):
            if name in wanted:
                return count
            if name in bounds:
                break
        return 0

    def _outermost(self, wanted: frozenset[str], bounds: frozenset[str]) -> int:
        """Return how many elements to close so that every wanted one before a bound is among them."""
        found = 0
        for count, (name, _) in enumerate(self._nearest(), start=1):
            if name in bounds:
                break
            found = count if name in wanted else found
        return found

    def _nearest(self) -> Iterator[tuple[str, bool]]:
        return islice(reversed(self._stack), _REACH)

    def _pop_many(self, count: int) -> Iterator[str]:
        for _ in range(count):
            name, hides = self._stack[-1]
            yield name
            self._stack.pop()
            self.open[name] -= 1
            self.hidden -= hides
