"""Office formulas (OMML) as one line of text."""

from __future__ import annotations

from collections.abc import Callable

from ingest.parsers.ooxml import Node, attribute, local


def formula_text(node: Node) -> str:
    """Return a formula in linear form: "(a+b)/2", "x^2", "√(y)"."""
    return "".join(_one(child) for child in node)


def _one(node: Node) -> str:
    name = local(node)
    if name == "t":
        return node.text or ""
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    shape = _SHAPES.get(name)
    return shape(node) if shape else formula_text(node)


def _part(node: Node, name: str) -> str:
    return "".join(formula_text(child) for child in node if local(child) == name)


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"


def _fraction(node: Node) -> str:
    return f"{_grouped(_part(node, 'num'))}/{_grouped(_part(node, 'den'))}"


def _script(node: Node) -> str:
    below, above = _part(node, "sub"), _part(node, "sup")
    scripts = (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")
    return _part(node, "e") + scripts if local(node) != "sPre" else scripts + _part(node, "e")


def _root(node: Node) -> str:
    return f"{_part(node, 'deg')}√({_part(node, 'e')})"


def _operator(node: Node) -> str:
    sign = next((attribute(child, "val") for child in node.iter() if local(child) == "chr"), "∫")
    below, above = _part(node, "sub"), _part(node, "sup")
    scripts = (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")
    return f"{sign}{scripts} {_part(node, 'e')}"


def _bracket(node: Node) -> str:
    def sign(name: str, default: str) -> str:
        return next((attribute(child, "val") for child in node.iter() if local(child) == name), default)

    inside = [formula_text(child) for child in node if local(child) == "e"]
    return sign("begChr", "(") + sign("sepChr", "|").join(inside) + sign("endChr", ")")


def _matrix(node: Node) -> str:
    rows = [row for row in node if local(row) == "mr"]
    return "; ".join(", ".join(formula_text(cell) for cell in row if local(cell) == "e") for row in rows)


_SHAPES: dict[str, Callable[[Node], str]] = {
    "f": _fraction,
    "sSup": _script,
    "sSub": _script,
    "sSubSup": _script,
    "sPre": _script,
    "rad": _root,
    "nary": _operator,
    "d": _bracket,
    "m": _matrix,
}
