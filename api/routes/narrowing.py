"""From a caller and its filters to the condition that is put to the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from api.auth import Principal
from api.errors import Forbidden
from api.routes.current import services
from retrieval.filters import AllOf, AnyOf, Compare, FilterExpr, NotOf, Operator
from retrieval.query_parse import parse_filters


def where_of(caller: Principal, filters: Mapping[str, JsonValue]) -> AllOf:
    """Return the condition of a caller's filters, its own owner included.

    Raises:
        Forbidden: the filters ask for somebody the key is not bound to, alone, in a list or in a branch.
        InvalidQuery: the filters are not understood, or name no owner.
    """
    where = parse_filters(filters, user_id=caller.user_id, group_id=caller.group_id)
    bound = {"user_id": caller.user_id, "group_id": caller.group_id}
    for field, value in _named(where):
        if bound.get(field) not in (None, value):
            raise Forbidden(f"This key is bound to the {field} '{bound[field]}'.")
    return where


def _named(expr: FilterExpr) -> Iterator[tuple[str, object]]:
    """Yield each field and value that a condition asks for; what it excludes is not asked for."""
    if isinstance(expr, AllOf | AnyOf):
        for part in expr.parts:
            yield from _named(part)
    elif isinstance(expr, Compare) and expr.operator in (Operator.EQ, Operator.IN):
        for value in expr.value if isinstance(expr.value, tuple) else (expr.value,):
            yield expr.field, value


def without_hidden(caller: Principal, where: AllOf) -> AllOf:
    """Return a condition that leaves out what was deleted, although its points go in the background."""
    hidden = services().ledger.documents.hidden_ids(caller.tenant)
    if not hidden:
        return where
    gone = Compare(field="document_id", operator=Operator.IN, value=tuple(hidden))
    return AllOf(parts=(*where.parts, NotOf(part=gone)))
