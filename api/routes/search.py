"""Searching memories."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, jsonify

from api.auth import Scope, require
from api.errors import Forbidden
from api.routes.current import services, settings
from api.schemas.search import QueryOut, SearchRequest, SearchResponse
from extract.chat.errand import Errand, running
from retrieval.errors import InvalidQuery
from retrieval.filters import AllOf, Compare, NotOf, Operator
from retrieval.model import SearchMethod, SearchQuery
from retrieval.query_parse import parse_filters
from workers.fresh import fresh_messages

blueprint = APIBlueprint("memories", __name__, url_prefix="/api/v1/memories")


@blueprint.post("/search")
@blueprint.input(SearchRequest, arg_name="asked")
@blueprint.output(SearchResponse)
@blueprint.doc(summary="Search a memory", security="bearer", responses=[401, 403, 422, 503])
def search(asked: SearchRequest) -> Response:
    """Answer a question from one owner's memory."""
    caller = require(Scope.READ)
    for bound, name in ((caller.user_id, "user_id"), (caller.group_id, "group_id")):
        asked_for = asked.filters.get(name)
        if bound and isinstance(asked_for, str) and asked_for != bound:
            raise Forbidden(f"This key is bound to the {name} '{bound}'.")
    if asked.method is SearchMethod.AGENTIC:
        raise InvalidQuery("The method 'agentic' is not built yet; ask with 'hybrid'.")
    where = parse_filters(asked.filters, user_id=caller.user_id, group_id=caller.group_id)
    # A deleted document is hidden from this moment on, although its points are removed in the background.
    hidden = services().ledger.documents.hidden_ids(caller.tenant)
    if hidden:
        gone = Compare(field="document_id", operator=Operator.IN, value=tuple(hidden))
        where = AllOf(parts=(*where.parts, NotOf(part=gone)))
    query = SearchQuery(
        text=asked.query,
        tenant=caller.tenant,
        where=where,
        method=asked.method,
        memory_types=tuple(asked.memory_types),
        top_k=asked.top_k,
        radius=asked.radius,
        as_of=asked.as_of,
        include=tuple(asked.include),
        include_original_data=asked.include_original_data,
    )
    # Asked first: what enters memory in between is then seen twice, not never.
    fresh = fresh_messages(services().ledger, query, settings().conversation.raw_messages)
    with running(Errand(caller.tenant, stage="search")):
        answer = services().searcher.search(query)
    shown = QueryOut(text=asked.query, method=asked.method, filters_applied=asked.filters)
    return jsonify(SearchResponse.of(answer, shown, fresh).public())
