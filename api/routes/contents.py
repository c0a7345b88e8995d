"""What a document holds: its bytes, elements, episodes and facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

from apiflask import APIBlueprint
from flask import Response, send_file
from pydantic import BaseModel

from api.routes.current import services
from api.routes.documents import visible
from api.schemas.documents import FactsQuery, PageQuery
from extract.model import Extraction
from ingest.artifacts import artifact_dir, read_jsonl
from ingest.model import Element
from workers.errors import BadCursor
from workers.forgetting import without
from workers.model import Kind

blueprint = APIBlueprint("contents", __name__, url_prefix="/api/v1/documents/<document_id>")


_LAST_ITEM = 2**31


def _page(items: Iterable[BaseModel | dict[str, Any]], asked: PageQuery) -> dict[str, Any]:
    """Return one page of a list that stands on disk; the cursor is how many items were shown."""
    try:
        start = int(asked.cursor or 0)
    except ValueError as error:
        raise BadCursor("cursor is not one this list gave out.") from error
    if not 0 <= start <= _LAST_ITEM:
        raise BadCursor("cursor is not one this list gave out.")
    rows = list(islice(items, start, start + asked.limit + 1))
    shown = [row if isinstance(row, dict) else row.model_dump(mode="json") for row in rows[: asked.limit]]
    more = len(rows) > asked.limit
    return {"items": shown, "cursor": str(start + asked.limit) if more else None, "has_more": more}


def _elements(document_id: str) -> Iterator[dict[str, Any]]:
    path = artifact_dir(services().artifacts, document_id) / "elements.jsonl"
    if path.exists():
        for element in read_jsonl(path, Element):
            yield {**element.model_dump(mode="json"), "place": element.anchor.label()}


def _extractions(document_id: str) -> Iterator[Extraction]:
    path = artifact_dir(services().artifacts, document_id) / "extractions.jsonl"
    if path.exists():
        yield from without(read_jsonl(path, Extraction), services().ledger.forgotten.of(document_id))


@blueprint.get("/content")
@blueprint.doc(summary="The original bytes", security="bearer", responses=[401, 404])
def content(document_id: str) -> Response:
    """Return the file as it was handed in, always as a download: it may be hostile.

    Of a conversation: its messages, one JSON object a line.
    """
    record = visible(document_id)
    if record.kind is Kind.CONVERSATION:
        known = services().ledger.messages.of_document(record.owner.tenant, record.id)
        lines = "".join(one.message.model_dump_json() + "\n" for one in known)
        return Response(
            lines,
            mimetype="application/octet-stream",
            headers={"Content-Disposition": 'attachment; filename="messages.jsonl"'},
        )
    held = ExitStack()
    response = send_file(
        held.enter_context(services().blobs.open(record.sha256)),
        mimetype="application/octet-stream",
        as_attachment=True,
        download_name=record.name.rsplit("/", 1)[-1],
    )
    response.call_on_close(held.close)
    return response


@blueprint.get("/elements")
@blueprint.input(PageQuery, location="query", arg_name="asked")
@blueprint.doc(summary="What was read, piece by piece", security="bearer", responses=[401, 404])
def elements(document_id: str, asked: PageQuery) -> dict[str, Any]:
    """List the elements of a document with their places."""
    return _page(_elements(visible(document_id).id), asked)


@blueprint.get("/episodes")
@blueprint.input(PageQuery, location="query", arg_name="asked")
@blueprint.doc(summary="The episodes of a document", security="bearer", responses=[401, 404])
def episodes(document_id: str, asked: PageQuery) -> dict[str, Any]:
    """List the episodes of a document in order."""
    return _page((one.episode for one in _extractions(visible(document_id).id)), asked)


@blueprint.get("/facts")
@blueprint.input(FactsQuery, location="query", arg_name="asked")
@blueprint.doc(summary="The facts of a document", security="bearer", responses=[401, 404])
def facts(document_id: str, asked: FactsQuery) -> dict[str, Any]:
    """List the facts of a document in order, those kept out of the search included."""
    found = (fact for one in _extractions(visible(document_id).id) for fact in one.facts)
    return _page((fact for fact in found if asked.grounded in (None, fact.grounded)), asked)
