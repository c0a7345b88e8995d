"""Text inside DrawingML: text bodies, charts, diagrams (SmartArt) and alternative text.

Word, Excel and PowerPoint share these parts, so they are read once, here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ingest.parsers.ooxml import Node, attribute, local, tag
from ingest.parsers.opc import Package

_A_P, _A_R, _A_T = tag("a:p"), tag("a:r"), tag("a:t")
_TELLING = frozenset({"t", "chart", "relIds"})


class TextLine(NamedTuple):
    """A paragraph of a text body; ``level`` counts its indentation from 0."""

    text: str
    level: int


def text_lines(body: Node) -> Iterator[TextLine]:
    """Yield the paragraphs with text below a DrawingML node."""
    for paragraph in body.iter(_A_P):
        text = paragraph_text(paragraph).strip()
        if text:
            level = attribute(paragraph.find(tag("a:pPr")), "lvl", "0")
            yield TextLine(text, int(level) if level.isdigit() else 0)


def paragraph_text(paragraph: Node) -> str:
    """Return the text of one DrawingML paragraph: runs, fields, breaks and formulas."""
    pieces: list[str] = []
    for node in paragraph:
        name = local(node)
        if name in ("r", "fld"):
            pieces.append("".join(child.text or "" for child in node if local(child) == "t"))
        elif name == "br":
            pieces.append("\n")
        elif name in ("m", "AlternateContent"):
            chosen = visible_branch(node) if name == "AlternateContent" else node
            pieces.extend(leaf.text or "" for leaf in chosen.iter() if local(leaf) == "t")
    return "".join(pieces)


def visible_branch(alternate: Node) -> Node:
    """Return the one branch of mc:AlternateContent to read: what is drawn twice is read once.

    It is the first that holds text, so that a new kind of drawing we cannot read yields to its older copy.
    """
    branches = [child for child in alternate if local(child) in ("Choice", "Fallback")]
    telling = (one for one in branches if any(local(node) in _TELLING for node in one.iter()))
    return next(telling, branches[0] if branches else alternate)


def visible(node: Node, *closed: str) -> Iterator[Node]:
    """Yield what stands below a node, one branch of alternatives only; ``closed`` names are not entered."""
    for child in node:
        if local(child) == "AlternateContent":
            yield from visible(visible_branch(child), *closed)
        else:
            yield child
            if local(child) not in closed:
                yield from visible(child, *closed)


def alt_text(properties: Node | None) -> str:
    """Return the alternative text of a drawing (docPr, cNvPr): description, else title."""
    return (attribute(properties, "descr") or attribute(properties, "title")).strip()


def chart_text(root: Node) -> str:
    """Return a chart as lines: its titles, then one line for each series with its points."""
    if local(root) == "chartSpace" and root.tag != tag("c:chartSpace"):
        return _extended_chart_text(root)
    lines = [" ".join(line.text for line in text_lines(title)) for title in root.iter(tag("c:title"))]
    lines += [_series_text(series) for series in root.iter(tag("c:ser"))]
    lines += [line.text for label in root.iter(tag("c:dLbl")) for line in text_lines(label)]
    lines += [
        (name.text or "").strip()
        for trend in root.iter(tag("c:trendline"))
        for name in trend.iter(tag("c:name"))
    ]
    return "\n".join(line for line in lines if line)


def _series_text(series: Node) -> str:
    name = " ".join(_points(series.find(tag("c:tx"))).values())
    names = _points(_first(series, "c:cat", "c:xVal"))
    values = _points(_first(series, "c:val", "c:yVal"))
    shown = [
        f"{names[index]} = {value}" if index in names else value for index, value in sorted(values.items())
    ] or list(names.values())
    return ": ".join(part for part in (name, "; ".join(shown)) if part)


def _first(node: Node, *names: str) -> Node | None:
    return next((found for name in names if (found := node.find(tag(name))) is not None), None)


def _points(source: Node | None) -> dict[int, str]:
    """Return the cached points of a reference by index; levels of one point are joined."""
    found: dict[int, str] = {}
    if source is None:
        return found
    for point in source.iter(tag("c:pt")):
        index = attribute(point, "idx", "0")
        value = (point.findtext(tag("c:v")) or "").strip()
        if value and index.isdigit():
            key = int(index)
            found[key] = f"{value} {found[key]}" if key in found else value
    if not found:
        literal = (source.findtext(tag("c:v")) or "").strip()
        return {0: literal} if literal else found
    return found


def _extended_chart_text(root: Node) -> str:
    """Return the text of a chart of the 2014 kind (waterfall, treemap …)."""
    lines = [line.text for line in text_lines(root)]
    for level in root.iter():
        if local(level) == "lvl":
            lines.append("; ".join(point.text.strip() for point in level if (point.text or "").strip()))
        elif local(level) == "v" and local(level.getparent()) == "txData" and level.text:
            lines.append(level.text.strip())
    return "\n".join(dict.fromkeys(line for line in lines if line))


def diagram_lines(root: Node) -> Iterator[TextLine]:
    """Yield the nodes of a diagram's data part from the top of its tree down."""
    points = {attribute(node, "modelId"): node for node in root.iter(tag("dgm:pt"))}
    children: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(tag("dgm:cxn")):
        if attribute(link, "type", "parOf") == "parOf":
            order = attribute(link, "srcOrd", "0")
            place = (int(order) if order.isdigit() else 0, attribute(link, "destId"))
            children.setdefault(attribute(link, "srcId"), []).append(place)
    below = {key for places in children.values() for _, key in places}
    waiting = [(key, 0) for key in reversed(points) if key not in below]
    seen: set[str] = set()
    while waiting:
        key, level = waiting.pop()
        if key in seen or key not in points:
            continue
        seen.add(key)
        yield from _point_lines(points[key], level)
        waiting += [(child, level + 1) for _, child in sorted(children.get(key, ()), reverse=True)]


def _point_lines(point: Node, level: int) -> Iterator[TextLine]:
    if attribute(point, "type", "node") in ("pres", "parTrans", "sibTrans"):
        return
    text = " ".join(line.text for line in text_lines(point))
    if text:
        yield TextLine(text, max(level - 1, 0))


def diagram_text(root: Node) -> str:
    """Return a diagram as one line for each node."""
    return "\n".join(line.text for line in diagram_lines(root))


def graphic_texts(package: Package, part: str, graphic: Node) -> Iterator[str]:
    """Yield the texts of the charts and diagrams a graphic points at.

    Args:
        package: the opened package.
        part: the part the graphic stands in, whose relations it uses.
        graphic: any node above c:chart, cx:chart or dgm:relIds.
    """
    relations = package.relations(part)
    for node in visible(graphic):
        name = local(node)
        wanted = {"chart": "id", "relIds": "dm"}.get(name)
        link = relations.get(attribute(node, wanted)) if wanted else None
        root = package.optional(link.target) if link else None
        if root is None:
            continue
        text = diagram_text(root) if name == "relIds" else chart_text(root)
        if text:
            yield text
