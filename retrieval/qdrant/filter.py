"""From our small filter tree to Qdrant's conditions.

The tenant is not part of the tree: ``bound_filter`` puts it in front, and there is no other way to get a
whole filter out of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from qdrant_client import models

from retrieval.errors import InvalidQuery
from retrieval.filters import FIELDS, TIME_FIELDS, AllOf, AnyOf, AsOf, Compare, FilterExpr, NotOf, Operator
from retrieval.qdrant.payload import WORD_FIELDS, words_of

_NOTHING = models.HasIdCondition(has_id=[])


def bound_filter(
    tenant: str,
    where: FilterExpr | None = None,
    *,
    document_id: str | None = None,
    parents: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> models.Filter:
    """Return the filter of one call: this tenant's items, narrowed by everything else that is given.

    Where both ``parents`` and ``ids`` are given, an item passes by either.

    Raises:
        InvalidQuery: a field, operator or value that does not exist or does not fit.
    """
    must: list[models.Condition] = [keyword("tenant", tenant)]
    if where is not None:
        must.extend(_flat(where))
    if document_id is not None:
        must.append(keyword("document_id", document_id))
    narrowed: list[models.Condition] = []
    if parents is not None:
        narrowed.append(_any_of("episode_id", parents))
    if ids is not None:
        narrowed.append(models.HasIdCondition(has_id=list(ids)))
    must.extend([models.Filter(should=narrowed)] if len(narrowed) > 1 else narrowed)
    return models.Filter(must=must)


def filter_json(
    tenant: str,
    where: FilterExpr | None = None,
    *,
    parents: tuple[str, ...] | None = None,
    ids: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Return ``bound_filter`` as JSON."""
    found = bound_filter(tenant, where, parents=parents, ids=ids)
    return found.model_dump(mode="json", exclude_none=True)


def keyword(field: str, value: str) -> models.FieldCondition:
    """Return the condition that a payload field is, or holds, exactly this text."""
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _any_of(field: str, values: Sequence[str]) -> models.Condition:
    if not values:
        return _NOTHING
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def _flat(where: FilterExpr) -> list[models.Condition]:
    """Conditions that all hold, side by side: every nested filter costs time at every point it looks at."""
    if isinstance(where, AllOf):
        return [condition for part in where.parts for condition in _flat(part)]
    return [_compiled(where)]


def _compiled(where: FilterExpr) -> models.Condition:
    match where:
        case AllOf():
            return models.Filter(must=_flat(where))
        case AnyOf(parts=parts):
            return models.Filter(should=[_compiled(part) for part in parts])
        case NotOf(part=AllOf(parts=())):
            return _NOTHING
        case NotOf(part=part):
            return models.Filter(must_not=[_compiled(part)])
        case AsOf(moment=moment):
            return _as_of(moment)
        case Compare():
            return _compared(where)


def _as_of(moment: datetime | None) -> models.Condition:
    if moment is None:
        return models.IsEmptyCondition(is_empty=models.PayloadField(key="superseded_by"))
    # An item without the field passes, so what must not hold is asked for.
    begins_later = models.FieldCondition(key="valid_from", range=models.DatetimeRange(gt=moment))
    ended = models.FieldCondition(key="valid_to", range=models.DatetimeRange(lte=moment))
    return models.Filter(must_not=[begins_later, ended])


def _compared(where: Compare) -> models.Condition:
    if where.field not in FIELDS:
        raise InvalidQuery(f"There is no field {where.field!r} to filter by; there are {', '.join(FIELDS)}.")
    if (where.operator is Operator.IN) != isinstance(where.value, tuple):
        raise InvalidQuery(f"{where.field}: a list of values goes with 'in', a single value with the others.")
    compile_one = _time if where.field in TIME_FIELDS else _text
    return compile_one(where, FIELDS[where.field])


def _text(where: Compare, field: str) -> models.Condition:
    values = [_as_text(where, value) for value in _values(where)]
    match where.operator:
        case Operator.EQ:
            return keyword(field, values[0])
        case Operator.NE:
            return models.Filter(must_not=[keyword(field, values[0])])
        case Operator.IN:
            return _any_of(field, values)
        case Operator.CONTAINS:
            return _contains(where, field, values[0])
        case _:
            raise InvalidQuery(f"{where.field} is text and has no order; use eq, ne, in or contains.")


def _contains(where: Compare, field: str, text: str) -> models.Condition:
    if field not in WORD_FIELDS:
        raise InvalidQuery(f"{where.field} is compared as a whole; use eq, ne or in.")
    words = words_of((text,))
    if not words:
        raise InvalidQuery(f"{where.field}: 'contains' needs at least one word.")
    return models.Filter(must=[keyword(f"words.{field}", word) for word in words])


_RANGES: dict[Operator, Callable[[datetime], models.DatetimeRange]] = {
    Operator.EQ: lambda when: models.DatetimeRange(gte=when, lte=when),
    Operator.NE: lambda when: models.DatetimeRange(gte=when, lte=when),
    Operator.IN: lambda when: models.DatetimeRange(gte=when, lte=when),
    Operator.GT: lambda when: models.DatetimeRange(gt=when),
    Operator.GTE: lambda when: models.DatetimeRange(gte=when),
    Operator.LT: lambda when: models.DatetimeRange(lt=when),
    Operator.LTE: lambda when: models.DatetimeRange(lte=when),
}


def _time(where: Compare, field: str) -> models.Condition:
    if where.operator not in _RANGES:
        raise InvalidQuery(f"{where.field} is a time; use eq, ne, in, gt, gte, lt or lte.")
    to_range = _RANGES[where.operator]
    found: list[models.Condition] = [
        models.FieldCondition(key=field, range=to_range(_as_time(where, value))) for value in _values(where)
    ]
    if where.operator is Operator.NE:
        return models.Filter(must_not=found)
    return models.Filter(should=found) if found else _NOTHING


def _values(where: Compare) -> tuple[object, ...]:
    return where.value if isinstance(where.value, tuple) else (where.value,)


def _as_text(where: Compare, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidQuery(f"{where.field} is compared with text, not with {value!r}.")
    return value


def _as_time(where: Compare, value: object) -> datetime:
    """Read an ISO 8601 time or milliseconds since 1970; a time without an offset is taken as UTC."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000, UTC)
        if isinstance(value, datetime):
            return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidQuery(f"{where.field}: {value!r} is no time.") from error
    raise InvalidQuery(f"{where.field}: {value!r} is no time.")
