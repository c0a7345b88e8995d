"""The filters of a search applied to what is not in the store yet; they mean the same as there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from retrieval.filters import AllOf, AnyOf, AsOf, Compare, FilterExpr, NotOf, Operator, Scalar
from retrieval.tokenizer import tokenize

Values = Sequence[str | datetime]
# API name of a field -> its values, none where the thing has no such field. A function is asked when needed.
Fields = Mapping[str, Values | Callable[[], Values]]


def matches(where: FilterExpr, fields: Fields) -> bool:
    """Tell whether a thing with these fields passes a filter. ``AsOf`` lets everything pass."""
    match where:
        case AllOf(parts=parts):
            return all(matches(part, fields) for part in parts)
        case AnyOf(parts=parts):
            return any(matches(part, fields) for part in parts)
        case NotOf(part=part):
            return not matches(part, fields)
        case AsOf():
            return True
        case Compare():
            return _compared(where, fields)


def owner_values(where: FilterExpr, field: str) -> tuple[str, ...] | None:
    """Return the values a field has to be one of by conditions that always apply; None for any."""
    if isinstance(where, AllOf):
        found = [values for part in where.parts if (values := owner_values(part, field)) is not None]
        return tuple(set(found[0]).intersection(*found[1:])) if found else None
    if not isinstance(where, Compare) or where.field != field:
        return None
    if where.operator is Operator.EQ:
        return (str(where.value),)
    if where.operator is Operator.IN and isinstance(where.value, tuple):
        return tuple(map(str, where.value))
    return None


def _compared(where: Compare, fields: Fields) -> bool:
    held = fields.get(where.field, ())
    values = held() if callable(held) else held
    wanted = where.value if isinstance(where.value, tuple) else (where.value,)
    match where.operator:
        case Operator.EQ | Operator.IN:
            return any(_same(one, other) for one in values for other in wanted)
        case Operator.NE:
            return not any(_same(one, wanted[0]) for one in values)
        case Operator.CONTAINS:
            return set(tokenize(str(wanted[0]))) <= {word for one in values for word in tokenize(str(one))}
        case _:
            return any(_ordered(one, wanted[0], where.operator) for one in values)


def _same(held: str | datetime, value: Scalar) -> bool:
    return held == value


def _ordered(held: str | datetime, value: Scalar, operator: Operator) -> bool:
    if not isinstance(held, datetime) or not isinstance(value, datetime):
        return False
    match operator:
        case Operator.GT:
            return held > value
        case Operator.GTE:
            return held >= value
        case Operator.LT:
            return held < value
        case _:
            return held <= value
