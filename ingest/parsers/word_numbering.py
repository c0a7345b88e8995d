"""Automatic numbers of a WordprocessingML document: "2.1.", "b)", "iv"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.parsers.ooxml import Node, attribute, local, tag

_PLACEHOLDER = re.compile(r"%([1-9])")
_LAST_LEVEL = 8
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class Level(NamedTuple):
    """How one level of a list counts.

    Attributes:
        start: its first number.
        shape: Word's name of the number format.
        pattern: what is shown, "%1.%2." with the numbers of levels 1 and 2.
        style: the paragraph style that stands for this level, "" for none.
        is_legal: numbers of other levels are shown in digits, whatever their own shape.
        restart: it begins anew after a paragraph of one of the first so many levels; None for any above it.
    """

    start: int
    shape: str
    pattern: str
    style: str = ""
    is_legal: bool = False
    restart: int | None = None


@dataclass
class Numbering:
    """The lists of a document and how far each has counted."""

    _levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    _group: dict[str, str] = field(default_factory=dict)
    _restarts: dict[str, set[int]] = field(default_factory=dict)
    _counters: dict[str, dict[int, int]] = field(default_factory=dict)

    def add(self, number: str, group: str, levels: dict[int, Level], restarts: set[int]) -> None:
        """Add a list.

        Args:
            number: what paragraphs call it by.
            group: lists of one group count on together.
            levels: by 0-based index.
            restarts: levels that begin anew with the first paragraph of this list.
        """
        self._levels[number], self._group[number], self._restarts[number] = levels, group, restarts

    def level_of_style(self, number: str, style: str) -> int:
        """Return the level a style stands for in a list, 0 where none is said."""
        levels = self._levels.get(number, {})
        return next((index for index, level in levels.items() if level.style == style), 0)

    def count(self, number: str, level: int) -> str:
        """Count one paragraph of a list and return its number as shown, "" for bullets."""
        levels = self._levels.get(number, {})
        if level not in levels:
            return ""
        counters = self._counters.setdefault(self._group[number], {})
        if level in self._restarts.get(number, ()):
            self._restarts[number].discard(level)
            counters.pop(level, None)
        counters[level] = counters.get(level, levels[level].start - 1) + 1
        for above in range(level):
            # A level that was skipped counts as begun.
            counters.setdefault(above, levels[above].start if above in levels else 1)
        for deeper in [key for key in counters if key > level]:
            limit = levels[deeper].restart if deeper in levels else None
            if limit is None or level < limit:
                del counters[deeper]
        if levels[level].shape in ("bullet", "none"):
            return ""

        def shown(found: re.Match[str]) -> str:
            index = int(found[1]) - 1
            one = levels.get(index)
            if one is None:
                return ""
            is_digits = levels[level].is_legal and index != level
            return number_text(counters.get(index, one.start), "decimal" if is_digits else one.shape)

        return _PLACEHOLDER.sub(shown, levels[level].pattern).strip()


def number_text(value: int, shape: str) -> str:
    """Return a list number in one of Word's number formats; unknown ones count in digits."""
    if shape == "decimalZero":
        return f"{value:02d}"
    if not 1 <= value <= 9999:
        return str(value)
    if shape.endswith("Letter"):
        text = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
    elif shape.endswith("Roman"):
        text = ""
        for size, sign in _ROMAN:
            text += sign * (value // size)
            value %= size
    else:
        return str(value)
    return text.upper() if shape.startswith("upper") else text


def read_numbering(root: Node | None) -> Numbering:
    """Return the lists of a numbering part."""
    found = Numbering()
    if root is None:
        return found
    shared = {attribute(node, "abstractNumId"): node for node in root.iter(tag("w:abstractNum"))}
    by_style = {_value(node, "styleLink"): node for node in shared.values()}
    for node in root.iter(tag("w:num")):
        number, base = attribute(node, "numId"), _value(node, "abstractNumId")
        linked = _value(shared.get(base), "numStyleLink")
        levels = _read_levels(by_style.get(linked) if linked else shared.get(base))
        restarts: set[int] = set()
        for change in node.iter(tag("w:lvlOverride")):
            levels.update(_read_levels(change))
            start, index = _value(change, "startOverride"), attribute(change, "ilvl")
            if start.isdecimal() and index.isdecimal() and int(index) in levels:
                levels[int(index)] = levels[int(index)]._replace(start=int(start))
                restarts.add(int(index))
        found.add(number, base, levels, restarts)
    return found


def _value(parent: Node | None, name: str) -> str:
    return "" if parent is None else attribute(parent.find(tag(f"w:{name}")), "val")


def _is_on(mark: Node | None) -> bool:
    return mark is not None and attribute(mark, "val", "1") in ("1", "true", "on")


def _read_levels(parent: Node | None) -> dict[int, Level]:
    found: dict[int, Level] = {}
    for node in () if parent is None else parent:
        index = attribute(node, "ilvl")
        if local(node) == "lvl" and index.isdecimal() and int(index) <= _LAST_LEVEL:
            start, restart = _value(node, "start"), _value(node, "lvlRestart")
            found[int(index)] = Level(
                start=int(start) if start.isdecimal() else 1,
                shape=_value(node, "numFmt") or "decimal",
                pattern=_value(node, "lvlText"),
                style=_value(node, "pStyle"),
                is_legal=_is_on(node.find(tag("w:isLgl"))),
                restart=int(restart) if restart.isdecimal() else None,
            )
    return found
