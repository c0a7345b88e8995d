"""Searching memories."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, jsonify

from api.auth import Scope, require
from api.routes.current import services, settings
from api.routes.narrowing import where_of, without_hidden
from api.schemas.search import QueryOut, SearchRequest, SearchResponse
from extract.chat.errand import Errand, running
from retrieval.model import Include, SearchQuery
from workers.evidence import evidence
from workers.fresh import fresh_messages
from workers.learnt import learnt
from workers.originals import originals

blueprint = APIBlueprint("memories", __name__, url_prefix="/api/v1/memories")


@blueprint.post("/search")
@blueprint.input(SearchRequest, arg_name="asked")
@blueprint.output(SearchResponse)
@blueprint.doc(summary="Search a memory", security="bearer", responses=[401, 403, 422, 503])
def search(asked: SearchRequest) -> Response:
    """Answer a question from one owner's memory."""
    caller = require(Scope.READ)
    where = where_of(caller, asked.filters)
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
    narrowed = query.model_copy(update={"where": without_hidden(caller, where)})
    with running(Errand(caller.tenant, stage="search")):
        answer = services().searcher.search(narrowed)
    shown = QueryOut(text=asked.query, method=asked.method, filters_applied=asked.filters)
    response = SearchResponse.of(answer, shown, fresh, learnt(services().ledger, query))
    if asked.include_original_data:
        response.show_originals(originals(services().artifacts, answer))
    if Include.EVIDENCE in asked.include:
        response.show_evidence(evidence(services().artifacts, answer))
    return jsonify(response.public())
