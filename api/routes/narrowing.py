"""From a caller and its filters to the condition that is put to the store."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from api.auth import Principal
from api.errors import Forbidden
from api.routes.current import services
from retrieval.filters import AllOf, Compare, NotOf, Operator
from retrieval.query_parse import parse_filters


def where_of(caller: Principal, filters: Mapping[str, JsonValue]) -> AllOf:
    """Return the condition of a caller's filters, its own owner included.

    Raises:
        Forbidden: the key is bound to somebody else.
        InvalidQuery: the filters are not understood, or name no owner.
    """
    for bound, name in ((caller.user_id, "user_id"), (caller.group_id, "group_id")):
        asked_for = filters.get(name)
        if bound and isinstance(asked_for, str) and asked_for != bound:
            raise Forbidden(f"This key is bound to the {name} '{bound}'.")
    return parse_filters(filters, user_id=caller.user_id, group_id=caller.group_id)


def without_hidden(caller: Principal, where: AllOf) -> AllOf:
    """Return a condition that leaves out what was deleted, although its points go in the background."""
    hidden = services().ledger.documents.hidden_ids(caller.tenant)
    if not hidden:
        return where
    gone = Compare(field="document_id", operator=Operator.IN, value=tuple(hidden))
    return AllOf(parts=(*where.parts, NotOf(part=gone)))
