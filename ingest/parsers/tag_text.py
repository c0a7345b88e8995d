"""The words between the tags of a piece of HTML inside another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SILENT = frozenset(("script", "style", "template", "head", "-comment"))
_BREAKS = frozenset(
    ("br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "summary", "table", "pre")
)
_CELLS = frozenset(("td", "th"))


def text_of_tags(html: str) -> str:
    """Return the text of some HTML: blocks on lines of their own, pictures by their alternative text.

    A last tag or comment that is never closed swallows no words.
    """
    from selectolax.lexbor import LexborHTMLParser  # only few files have any

    closed, last, tail = html.rpartition(">")
    body = LexborHTMLParser(closed + last).body
    parts: list[str] = []
    _collect(body, parts)
    parts.append(tail.replace("<!--", " ").replace("<", " "))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _collect(body: LexborNode | None, parts: list[str]) -> None:
    if body is None:
        return
    for node in body.traverse(include_text=True):
        tag = node.tag or ""
        if tag == "-text":
            parent = node.parent
            if parent is None or parent.tag not in _SILENT:
                parts.append(node.text(deep=False) or "")
        elif tag in _BREAKS:
            parts.append("\n")
        elif tag in _CELLS:
            parts.append(" ")
        elif tag == "img":
            parts.append(node.attributes.get("alt") or "")
