"""Qdrant's filter JSON in the engine's types."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import qdrant_edge as edge

from retrieval.edge.fields import Fields, Refusal


def _exact(value: Any) -> edge.MatchType:  # noqa: ANN401  any JSON
    # Bindings 0.9.0 read true as the number 1, which matches nothing: an error is better than silence.
    if isinstance(value, bool):
        raise Refusal(400, "match.value: the embedded engine cannot compare true and false; store a word")
    return edge.MatchValue(value)


_MATCHES: dict[str, Callable[[Any], edge.MatchType]] = {
    "value": _exact,
    "any": edge.MatchAny,
    "except": edge.MatchExcept,
    "text": edge.MatchText,
    "text_any": edge.MatchTextAny,
    "phrase": edge.MatchPhrase,
    "prefix": edge.MatchPrefix,
}
_BOUNDS = ("gt", "gte", "lt", "lte")


def read_filter(value: Any, where: str = "filter") -> edge.Filter:  # noqa: ANN401  any JSON
    """Return a filter.

    Raises:
        Refusal: it holds something that is not understood.
    """
    with Fields(value, where) as fields:
        return edge.Filter(
            must=_conditions(fields, "must"),
            should=_conditions(fields, "should"),
            must_not=_conditions(fields, "must_not"),
            min_should=_min_should(fields.take("min_should"), f"{where}.min_should"),
        )


def optional_filter(fields: Fields, name: str = "filter") -> edge.Filter | None:
    """Return the filter in a field, or None where there is none."""
    value = fields.take(name)
    return None if value is None else read_filter(value, f"{fields.where}.{name}")


def read_ids(values: list[Any], where: str) -> list[edge.PointId]:
    """Return point ids: unsigned integers or UUIDs.

    Raises:
        Refusal: an id is neither a number nor text; the engine checks the rest.
    """
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise Refusal(400, f"{where}: {value!r} is no point id")
    return values


def _conditions(fields: Fields, name: str) -> list[edge.ConditionType] | None:
    values = fields.items(name)
    if values is None:
        return None
    return [_condition(value, f"{fields.where}.{name}[{at}]") for at, value in enumerate(values)]


def _condition(value: Any, where: str) -> edge.ConditionType:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        for name, read in _CONDITIONS.items():
            if name in value:
                with Fields(value, where) as fields:
                    return read(fields)
    return read_filter(value, where)


def _field(fields: Fields) -> edge.ConditionType:
    key = fields.need("key")
    return edge.FieldCondition(
        key,
        match=_match(fields.take("match"), f"{fields.where}.match"),
        range=_range(fields.take("range"), f"{fields.where}.range"),
        values_count=_values_count(fields.take("values_count"), f"{fields.where}.values_count"),
        is_empty=fields.take("is_empty"),
        is_null=fields.take("is_null"),
    )


def _match(value: Any, where: str) -> edge.MatchType | None:  # noqa: ANN401  any JSON
    if value is None:
        return None
    with Fields(value, where) as fields:
        for name, match in _MATCHES.items():
            if name in fields:
                return match(fields.take(name))
    raise Refusal(400, f"{where}: one of {', '.join(_MATCHES)} is expected")


def _range(value: Any, where: str) -> edge.RangeType | None:  # noqa: ANN401  any JSON
    if value is None:
        return None
    with Fields(value, where) as fields:
        bounds = {name: bound for name in _BOUNDS if (bound := fields.take(name)) is not None}
    if bounds and all(isinstance(bound, str) for bound in bounds.values()):
        return edge.RangeDateTime(**bounds)
    return edge.RangeFloat(**bounds)


def _values_count(value: Any, where: str) -> edge.ValuesCount | None:  # noqa: ANN401  any JSON
    if value is None:
        return None
    with Fields(value, where) as fields:
        return edge.ValuesCount(**{name: fields.take(name) for name in _BOUNDS})


def _min_should(value: Any, where: str) -> edge.MinShould | None:  # noqa: ANN401  any JSON
    if value is None:
        return None
    with Fields(value, where) as fields:
        return edge.MinShould(_conditions(fields, "conditions") or [], fields.need("min_count"))


def _key_of(value: Any, where: str) -> str:  # noqa: ANN401  any JSON
    with Fields(value, where) as fields:
        return str(fields.need("key"))


@lru_cache(maxsize=16)
def _has_id(ids: tuple[edge.PointId, ...]) -> edge.ConditionType:
    # The lanes of one search name the same hundreds of ids, and reading an id costs more than finding it.
    return edge.HasIdCondition(set(ids))


def _nested(fields: Fields) -> edge.ConditionType:
    with Fields(fields.take("nested"), f"{fields.where}.nested") as inner:
        return edge.NestedCondition(inner.need("key"), read_filter(inner.need("filter"), inner.where))


_CONDITIONS: dict[str, Callable[[Fields], edge.ConditionType]] = {
    "key": _field,
    "is_empty": lambda fields: edge.IsEmptyCondition(_key_of(fields.take("is_empty"), fields.where)),
    "is_null": lambda fields: edge.IsNullCondition(_key_of(fields.take("is_null"), fields.where)),
    "has_id": lambda fields: _has_id(tuple(read_ids(fields.array("has_id"), fields.where))),
    "has_vector": lambda fields: edge.HasVectorCondition(fields.take("has_vector")),
    "nested": _nested,
}
