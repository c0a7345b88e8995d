"""Fills the places of a number format with digits, or turns a day count into ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Tokens: TypeAlias = tuple[tuple[str, str], ...]  # (kind, text) in order

_PLAIN_SHAPE = re.compile(r"[#,]*0(?:\.0+)?")
_LAST_DAY = 2_958_465  # 9999-12-31
_MAX_DENOMINATOR_DIGITS = 4


class _Places(NamedTuple):
    """Token positions of the digits of a format: before the point, after it, after the exponent."""

    whole: list[int]
    decimals: list[int]
    power: list[int]
    shift: int  # decimal places to move the point: percent signs up, commas behind the whole digits down
    grouped: bool
    is_fraction: bool
    around: tuple[str, str] | None  # what stands before and behind, in the common case of "0.00" inside


@lru_cache(maxsize=1024)
def _find_places(tokens: Tokens) -> _Places:
    point = next((at for at, (kind, _) in enumerate(tokens) if kind == "point"), len(tokens))
    power = next((at for at, (kind, _) in enumerate(tokens) if kind == "exponent"), len(tokens))
    digits = [at for at, (kind, _) in enumerate(tokens) if kind == "digit"]
    whole = [at for at in digits if at < min(point, power)]
    commas = [at for at, (kind, _) in enumerate(tokens) if kind == "comma"]
    last = whole[-1] if whole else -1
    decimals = [at for at in digits if point < at < power]
    percents = sum(1 for kind, _ in tokens if kind == "percent")
    return _Places(
        whole,
        decimals,
        [at for at in digits if at > power],
        2 * percents - 3 * (sum(1 for at in commas if at > last) if whole else 0),
        any(whole[0] < at < last for at in commas) if whole else False,
        any(kind == "slash" for kind, _ in tokens),
        _around(tokens, whole, decimals) if power == len(tokens) else None,
    )


def _around(tokens: Tokens, whole: list[int], decimals: list[int]) -> tuple[str, str] | None:
    """Return what stands around the digits, None where they need to be filled in one by one."""
    inside = tokens[whole[0] : max((*whole, *decimals)) + 1] if whole else ()
    shape = "".join(text for _, text in inside)
    if not _PLAIN_SHAPE.fullmatch(shape) or any(kind == "literal" for kind, _ in inside):
        return None
    before, after = tokens[: whole[0]], tokens[whole[0] + len(inside) :]
    outer = [[text for kind, text in part if kind != "comma"] for part in (before, after)]
    return "".join(outer[0]), "".join(outer[1])


def render_number(tokens: Tokens, value: float) -> str:
    """Return a number that is not negative in the shape of a format section."""
    places = _find_places(tokens)
    if places.is_fraction:
        return _render_fraction(tokens, value)
    number = Decimal(repr(value)).scaleb(places.shift) if places.shift else Decimal(repr(value))
    power = 0
    if places.power and number:
        power = number.adjusted() - max(len(places.whole) - 1, 0)
        number = number.scaleb(-power)
    exact = number.quantize(Decimal(1).scaleb(-len(places.decimals)), ROUND_HALF_UP)
    if places.around:
        return f"{places.around[0]}{exact:{',' if places.grouped else ''}f}{places.around[1]}"
    whole, _, decimals = format(exact, "f").partition(".")
    filled = _fill_whole(tokens, places, whole) | _fill_decimals(tokens, places.decimals, decimals)
    filled |= _fill_power(tokens, places.power, power)
    has_decimals = any(filled[at] for at in places.decimals)
    pieces: list[str] = []
    for at, (kind, text) in enumerate(tokens):
        if kind == "digit":
            pieces.append(filled[at])
        elif kind == "point":
            pieces.append("." if has_decimals else "")
        elif kind == "exponent":
            pieces.append("E-" if power < 0 else "E+" if text.endswith("+") else "E")
        elif kind != "comma":
            pieces.append(text)
    return "".join(pieces)


def _fill_whole(tokens: Tokens, places: _Places, whole: str) -> dict[int, str]:
    if not places.whole:
        return {}
    first_zero = next((at for at, place in enumerate(places.whole) if tokens[place][1] == "0"), None)
    least = 0 if first_zero is None else len(places.whole) - first_zero
    digits = whole.lstrip("0").rjust(least, "0")
    if places.grouped:
        shown = f"{int(digits):,}" if digits and len(digits.lstrip("0")) >= least else digits
        return {**dict.fromkeys(places.whole, ""), places.whole[0]: shown}
    later = places.whole[1:]
    kept = digits[len(digits) - len(later) :] if len(digits) >= len(later) else digits.rjust(len(later), "\0")
    filled = {place: char.replace("\0", "") for place, char in zip(later, kept, strict=True)}
    return {**filled, places.whole[0]: digits[: max(len(digits) - len(later), 0)]}


def _fill_decimals(tokens: Tokens, places: list[int], decimals: str) -> dict[int, str]:
    kept = max((at + 1 for at, place in enumerate(places) if tokens[place][1] == "0"), default=0)
    kept = max(kept, len(decimals.rstrip("0")))
    return {place: decimals[at] if at < kept else "" for at, place in enumerate(places)}


def _fill_power(tokens: Tokens, places: list[int], power: int) -> dict[int, str]:
    if not places:
        return {}
    least = sum(1 for place in places if tokens[place][1] == "0")
    return {**dict.fromkeys(places, ""), places[0]: str(abs(power)).rjust(least, "0")}


def _render_fraction(tokens: Tokens, value: float) -> str:
    slash = next(at for at, (kind, _) in enumerate(tokens) if kind == "slash")
    after = [(kind, text) for kind, text in tokens[slash + 1 :] if kind == "digit" or text.isdigit()]
    fixed = "".join(text for kind, text in after if kind != "digit")
    width = min(len(after), _MAX_DENOMINATOR_DIGITS)
    whole, part = divmod(Fraction(value), 1)
    if fixed.strip("0"):
        over = int(fixed[:_MAX_DENOMINATOR_DIGITS])
        top = round(part * over)
    else:
        near = part.limit_denominator(10**width - 1 if width else 9)
        top, over = near.numerator, near.denominator
    if top == over:
        whole, top = whole + 1, 0
    if not top:
        return str(whole)
    return f"{whole} {top}/{over}" if whole else f"{top}/{over}"


def render_date(tokens: Tokens, value: float, *, date_1904: bool) -> tuple[str, str | None] | None:
    """Return a day count in ISO form, and the full instant where the format shows only a part of it.

    None when the count is no date (negative, or after the year 9999): spreadsheets show no date either.
    """
    if not 0 <= value <= _LAST_DAY:
        return None
    if any(kind == "elapsed" for kind, _ in tokens):
        seconds = round(value * 86_400)
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}", None
    has_date, has_time = _parts_shown(tokens)
    moment = _moment(value, date_1904=date_1904)
    clock = moment.strftime("%H:%M:%S") + (f".{moment.microsecond // 1000:03d}" if moment.microsecond else "")
    no_date, no_time = value < 1 and not date_1904, moment.time() == datetime.min.time()
    if no_date or not has_date:
        full = None if no_date else f"{moment:%Y-%m-%d} {clock}"
        return clock, full
    day = f"{moment.year:04d}-{moment:%m-%d}"
    if has_time:
        return f"{day} {clock}", None
    return day, None if no_time else f"{day} {clock}"


def _parts_shown(tokens: Tokens) -> tuple[bool, bool]:
    """Return whether a format shows a date, and whether it shows a time ("m" is both month and minute)."""
    letters = [
        text[0].lower() if kind == "date" else "h" for kind, text in tokens if kind in ("date", "ampm")
    ]
    has_date, has_time = False, False
    for at, letter in enumerate(letters):
        before, after = letters[at - 1] if at else "", letters[at + 1] if at + 1 < len(letters) else ""
        is_minute = letter == "m" and (before == "h" or after == "s")
        has_time = has_time or letter in "hs" or is_minute
        has_date = has_date or (letter in "ydegbm" and not is_minute)
    return has_date, has_time


def _moment(value: float, *, date_1904: bool) -> datetime:
    """Return the instant of a day count; before March 1900 spreadsheets count a 29 February too many."""
    days = int(value)
    milliseconds = round((value - days) * 86_400_000)
    start = datetime(1904, 1, 1) if date_1904 else datetime(1899, 12, 31 if days < 60 else 30)
    return start + timedelta(days=days, milliseconds=milliseconds)
