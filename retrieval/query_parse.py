"""The ``filters`` of a search request, from JSON to a ``FilterExpr`` with the owner in it.

    {"user_id": "u1",
     "timestamp": {"gte": "2024-03-01", "lt": 1711929600000},
     "OR": [{"topic": "budget"}, {"participants": {"contains": "alice"}}],
     "NOT": {"language": "zh"}}

Keys beside each other all have to hold. A bare value means ``eq``. Times are ISO 8601 (UTC when no offset
is given) or milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from retrieval.errors import InvalidQuery
from retrieval.filters import FIELDS, TIME_FIELDS, AllOf, AnyOf, Compare, FilterExpr, NotOf, Operator, Scalar

_MAX_DEPTH = 8
_MAX_CONDITIONS = 256
_MAX_TEXT = 1024
_OWNERS = ("user_id", "group_id")
_OPERATORS = frozenset(operator.value for operator in Operator)
_ORDERED = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})


def parse_filters(
    filters: Mapping[str, JsonValue] | None, *, user_id: str | None = None, group_id: str | None = None
) -> AllOf:
    """Return the condition of a search, owner included.

    Args:
        filters: the request's ``filters``.
        user_id: the user the caller's key is bound to; always required of every hit when given.
        group_id: the group the caller's key is bound to; likewise.

    Raises:
        InvalidQuery: an unknown field or operator, a value of the wrong type, too many or too deeply nested
            conditions, or no owner. Names the place ("OR[1].topic.like").
    """
    bound = {"user_id": user_id, "group_id": group_id}
    owner = [
        Compare(field=field, operator=Operator.EQ, value=value)
        for field, value in bound.items()
        if value is not None
    ]
    asked = _all_of(filters or {}, "", 1)
    if sum(1 for _ in _compares(asked)) > _MAX_CONDITIONS:
        raise InvalidQuery(f"filters: more than {_MAX_CONDITIONS} conditions.")
    if not owner and not _names_owner(asked):
        raise InvalidQuery(
            "filters: user_id or group_id is required, as a condition that always applies.",
            next_step='Add "user_id": "…" at the top level of filters; inside OR or NOT it does not count.',
        )
    return AllOf(parts=(*owner, *asked.parts))


def _compares(expr: FilterExpr) -> Iterator[Compare]:
    if isinstance(expr, Compare):
        yield expr
    elif isinstance(expr, NotOf):
        yield from _compares(expr.part)
    elif isinstance(expr, AllOf | AnyOf):
        for part in expr.parts:
            yield from _compares(part)


def _names_owner(expr: FilterExpr) -> bool:
    if isinstance(expr, AllOf):
        return any(_names_owner(part) for part in expr.parts)
    return (
        isinstance(expr, Compare)
        and expr.field in _OWNERS
        and expr.operator in (Operator.EQ, Operator.IN)
        and expr.value != ()
    )


def _all_of(node: JsonValue | Mapping[str, JsonValue], place: str, depth: int) -> AllOf:
    if depth > _MAX_DEPTH:
        raise InvalidQuery(f"filters: nested deeper than {_MAX_DEPTH}.")
    if not isinstance(node, Mapping):
        raise InvalidQuery(f"filters: {place or 'the whole'} must be an object.")
    parts: list[FilterExpr] = []
    for key, value in node.items():
        here = f"{place}.{key}" if place else key
        parts.extend(_branch(key, value, here, depth) if key in _BRANCHES else _field(key, value, here))
    return AllOf(parts=tuple(parts))


_BRANCHES = ("AND", "OR", "NOT")


def _branch(key: str, value: JsonValue, here: str, depth: int) -> list[FilterExpr]:
    nodes: Sequence[JsonValue] = value if isinstance(value, list) else [value]
    if not nodes or (key == "OR" and not isinstance(value, list)):
        raise InvalidQuery(f"filters: {here} must be a list with at least one object.")
    indexed = isinstance(value, list)
    parts = [
        _all_of(node, f"{here}[{index}]" if indexed else here, depth + 1) for index, node in enumerate(nodes)
    ]
    if any(not part.parts for part in parts):
        raise InvalidQuery(f"filters: {here} holds an empty object.")
    if key == "AND":
        return list(parts)
    return [AnyOf(parts=tuple(parts))] if key == "OR" else [NotOf(part=part) for part in parts]


def _field(field: str, value: JsonValue, here: str) -> list[FilterExpr]:
    if field not in FIELDS:
        raise InvalidQuery(f"filters: unknown field {here}; known are {', '.join(FIELDS)}, AND, OR, NOT.")
    if not isinstance(value, Mapping):
        return [_compare(field, Operator.EQ, value, here)]
    if not value:
        raise InvalidQuery(f"filters: {here} names no operator.")
    found: list[FilterExpr] = []
    for name, operand in value.items():
        if name not in _OPERATORS:
            raise InvalidQuery(f"filters: unknown operator {here}.{name}; known are {', '.join(Operator)}.")
        found.append(_compare(field, Operator(name), operand, f"{here}.{name}"))
    return found


def _compare(field: str, operator: Operator, operand: JsonValue, here: str) -> Compare:
    timed = field in TIME_FIELDS
    if operator in _ORDERED and not timed:
        raise InvalidQuery(f"filters: {here}: {operator} is for {', '.join(sorted(TIME_FIELDS))} only.")
    if operator is Operator.CONTAINS and timed:
        raise InvalidQuery(f"filters: {here}: contains is for text only.")
    read = _time if timed else _text
    if operator is not Operator.IN:
        return Compare(field=field, operator=operator, value=read(operand, here))
    if not isinstance(operand, list) or not 1 <= len(operand) <= _MAX_CONDITIONS:
        raise InvalidQuery(f"filters: {here} must be a list of 1 to {_MAX_CONDITIONS} values.")
    values: tuple[Scalar, ...] = tuple(read(item, f"{here}[{index}]") for index, item in enumerate(operand))
    return Compare(field=field, operator=operator, value=values)


def _text(value: JsonValue, here: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidQuery(f"filters: {here} must be a text that is not empty.")
    if len(value) > _MAX_TEXT:
        raise InvalidQuery(f"filters: {here} is longer than {_MAX_TEXT} characters.")
    return value


def _time(value: JsonValue, here: str) -> datetime:
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidQuery(f"filters: {here} is not a time: {error}.") from error
    raise InvalidQuery(f"filters: {here} must be an ISO 8601 time or milliseconds since 1970.")
