"""Spreadsheet number formats: what a stored number looks like to its reader.

A subset of ECMA-376 part 1, 18.8.31: sections, conditions, literals, digits, thousands, scaling, percent,
exponents, fractions and elapsed time. Dates and times come out in ISO 8601, whatever order the format asks
for, because "03/04/2024" has two readings and the ISO form has one.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from ingest.parsers.number_shapes import Tokens, render_date, render_number

# Formats every workbook knows by number without spelling them out (18.8.30).
BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm", 37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;-#,##0;-;@",
    42: "$#,##0;-$#,##0;$-;@", 43: "#,##0.00;-#,##0.00;-;@", 44: "$#,##0.00;-$#,##0.00;$-;@", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|[\\!](?P<escaped>.)|_.|\*.|\[(?P<bracket>[^\]]*)\]|(?P<exponent>e[-+](?=[0#?]))'
    r"|(?P<general>general)|(?P<ampm>am/pm|a/p|上午/下午)|(?P<date>y+|m+|d+|h+|s+|e+|g+|b+)|(?P<digit>[0#?])"
    r"|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<slash>/)|(?P<at>@)|(?P<next>;)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"([<>=]{1,2})\s*(-?[\d.]+)$")
_ELAPSED = re.compile(r"(h+|m+|s+)$", re.IGNORECASE)
_LITERALS = ("quoted", "escaped", "other")
_MAX_CODE = 512


class Shown(NamedTuple):
    """A value as shown; ``stored`` says more where the shown form says less."""

    value: str
    stored: str | None = None


class _Section(NamedTuple):
    tokens: Tokens
    kinds: frozenset[str]
    condition: tuple[str, float] | None

    @property
    def is_date(self) -> bool:
        return bool(self.kinds & {"date", "elapsed"}) and "general" not in self.kinds


def general(value: float) -> str:
    """Return a number as stored, without the noise of binary fractions."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.15g}"
    return format(Decimal(text), "f") if "e" in text and 1e-9 < abs(value) < 1e21 else text.upper()


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    parts: list[_Section] = []
    tokens: list[tuple[str, str]] = []
    condition: tuple[str, float] | None = None
    for found in _TOKEN.finditer(code[:_MAX_CODE]):
        kind = found.lastgroup or ""
        text = found[kind] if kind else ""
        if kind == "next":
            parts.append(_Section(tuple(tokens), frozenset(name for name, _ in tokens), condition))
            tokens, condition = [], None
        elif kind == "bracket":
            rule = _CONDITION.match(text)
            condition = (rule[1], float(rule[2])) if rule else condition
            tokens.extend(_bracket(text))
        elif kind:
            tokens.append(("literal" if kind in _LITERALS else kind, text))
    return (*parts, _Section(tuple(tokens), frozenset(name for name, _ in tokens), condition))


def _bracket(text: str) -> list[tuple[str, str]]:
    """Read "[$€-407]" (a currency sign) and "[h]" (elapsed time); colours say nothing."""
    if text.startswith("$"):
        sign = text[1:].partition("-")[0]
        return [("literal", sign)] if sign else []
    return [("elapsed", text)] if _ELAPSED.match(text) else []


def _holds(condition: tuple[str, float], value: float) -> bool:
    sign, bound = condition
    return (
        (value < bound and sign in ("<", "<=", "<>"))
        or (value > bound and sign in (">", ">=", "<>"))
        or (value == bound and sign in ("=", "<=", ">="))
    )


def _choose(sections: tuple[_Section, ...], value: float) -> tuple[_Section, bool]:
    """Return the section for a value, and whether a minus sign is still to be written."""
    if any(section.condition for section in sections):
        fitting = (one for one in sections if one.condition is None or _holds(one.condition, value))
        return next(fitting, sections[-1]), value < 0
    if value < 0 and len(sections) > 1:
        return sections[1], False
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], value < 0


@lru_cache(maxsize=4096)
def is_date_format(code: str) -> bool:
    """Return whether numbers under this format are dates or times."""
    return _sections(code)[0].is_date


def show_number(value: float, code: str, *, date_1904: bool = False) -> Shown:
    """Return a stored number as its reader sees it.

    Args:
        value: the number.
        code: the format code; "General" or "" for none.
        date_1904: the workbook counts days from 1904 instead of 1900.
    """
    if code in ("", "General", "@") or not math.isfinite(value):
        return Shown(general(value))
    return _show(value, code, date_1904)


@lru_cache(maxsize=65_536)
def _show(value: float, code: str, date_1904: bool) -> Shown:
    section, minus = _choose(_sections(code), value)
    if section.is_date:
        found = render_date(section.tokens, value, date_1904=date_1904)
        return Shown(*found) if found else Shown(general(value))
    plain = general(value)
    text = _render(section, abs(value))
    if not text or text == plain:
        return Shown(plain)
    signed = f"-{text}" if minus and any(char in "123456789" for char in text) else text
    return Shown(signed, None if signed == plain else plain)


def _render(section: _Section, value: float) -> str:
    """Return the shown form without sign, "" where the section shows nothing or cannot be followed."""
    if section.kinds & {"general", "at"}:
        shape = [general(value) if kind in ("general", "at") else text for kind, text in section.tokens]
        return " ".join("".join(shape).split())
    try:
        return " ".join(render_number(section.tokens, value).split())
    except (InvalidOperation, OverflowError):
        return ""
