"""Documents: hand in, look at, run again, cancel, delete."""

from __future__ import annotations

import json
from typing import Any

from apiflask import APIBlueprint
from flask import Response, jsonify, request, url_for
from pydantic import JsonValue, ValidationError
from werkzeug.datastructures import FileStorage

from api.auth import Scope, adding_for, owner_for, require
from api.errors import BadRequest, Forbidden
from api.idempotency import fingerprint, once
from api.routes.batches import refuse_strangers
from api.routes.current import services, settings
from api.schemas.documents import (
    DeletedResponse,
    DocumentListQuery,
    DocumentOut,
    DocumentPage,
    UploadResponse,
)
from api.schemas.usage import BudgetIn, usage_out
from api.shown import document_out
from api.uploads import Intake, incoming, take
from ingest.model import Owner
from workers.errors import NotFound
from workers.ledger.listing import DocumentFilter
from workers.model import DocumentRecord, State
from workers.texts import is_storable
from workers.usage import Budget

blueprint = APIBlueprint("documents", __name__, url_prefix="/api/v1/documents")

_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "user_id": {"type": "string"},
                        "group_id": {"type": "string"},
                        "session_id": {"type": "string"},
                        "metadata": {"type": "string", "description": "a JSON object kept with each file"},
                        "replace": {
                            "type": "boolean",
                            "description": "take the place of older files of the same name and owner",
                        },
                        "batch_id": {"type": "string", "description": "add to this batch of yours"},
                        "budget": {"type": "number", "description": "most this new batch may cost"},
                        "budget_tokens": {"type": "integer", "description": "the same in tokens"},
                    },
                }
            }
        },
    }
}


def _form_owner() -> Owner:
    caller = require(Scope.WRITE)
    form = request.form
    try:
        owner = owner_for(
            caller, form.get("user_id") or None, form.get("group_id") or None, form.get("session_id") or None
        )
    except ValidationError as error:
        said = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise BadRequest(f"Whose memory is it? {said[:1].upper()}{said[1:]}.") from error
    return adding_for(caller, owner)


def _form_metadata() -> dict[str, JsonValue]:
    try:
        value = json.loads(request.form.get("metadata") or "{}")
    except ValueError as error:
        raise BadRequest("metadata is not valid JSON.") from error
    if not isinstance(value, dict):
        raise BadRequest("metadata has to be a JSON object.")
    if not is_storable(value):
        raise BadRequest("metadata holds half a character or a NUL, which no database keeps.")
    return value


def _form_budget() -> Budget | None:
    told = {name: value for name in ("budget", "budget_tokens") if (value := request.form.get(name))}
    if not told:
        return None
    if request.form.get("batch_id"):
        raise BadRequest("The budget of a batch that is there is set by PUT /api/v1/batches/{id}/budget.")
    try:
        asked = BudgetIn.model_validate(told)
    except ValidationError as error:
        raise BadRequest(f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}.") from error
    return Budget(price=asked.budget, tokens=asked.budget_tokens)


def _form_flag(name: str) -> bool:
    value = request.form.get(name, "").strip().lower()
    if value not in ("", "true", "false", "1", "0", "yes", "no"):
        raise BadRequest(f"{name} has to be true or false.")
    return value in ("true", "1", "yes")


@blueprint.post("")
@blueprint.doc(summary="Hand in files", security="bearer", responses=[401, 403, 413, 422, 503])
@blueprint.output(UploadResponse, status_code=202)
def upload() -> Response:
    """Take 1..n files; a zip is unpacked. They are stored and recorded before this returns."""
    require(Scope.WRITE)
    if not request.form and not request.files:
        raise BadRequest("There is no form in the request; send multipart/form-data with the field 'files'.")
    owner = _form_owner()
    metadata = _form_metadata()
    files = request.files.getlist("files")
    if not files:
        raise BadRequest("There is no file in the field 'files'.")
    kept = services().ledger.idempotency
    replace = _form_flag("replace")

    def hash_request() -> str:
        fields = {
            "owner": owner.model_dump(), "metadata": metadata, "batch": request.form.get("batch_id"),
            **({"replace": True} if replace else {}),
        }  # fmt: skip
        return fingerprint(fields, [(file.filename or "", file.stream) for file in files])

    body, status = once(kept, owner.tenant, hash_request, lambda: (_take_all(owner, metadata, files), 202))
    answer = jsonify(body)
    answer.status_code = status
    answer.headers["Location"] = url_for("batches.show", batch_id=body["batch_id"])
    return answer


def _take_all(owner: Owner, metadata: dict[str, JsonValue], files: list[FileStorage]) -> dict[str, Any]:
    budget = _form_budget()
    batch_id = request.form.get("batch_id")
    if batch_id:
        refuse_strangers(require(Scope.WRITE), services().ledger.batches.status(owner.tenant, batch_id))
    else:
        batch_id = services().ledger.batches.create(owner.tenant, budget)
    intake = Intake(
        services(), owner, batch_id, metadata, settings().parse.max_file_bytes, _form_flag("replace")
    )
    rows = [take(intake, one) for one in incoming(files, settings().parse)]
    services().enqueue()
    return UploadResponse(batch_id=batch_id, documents=rows).model_dump(mode="json", exclude_none=True)


@blueprint.get("")
@blueprint.input(DocumentListQuery, location="query", arg_name="asked")
@blueprint.output(DocumentPage)
@blueprint.doc(summary="List documents, newest first", security="bearer", responses=[401, 403, 422])
def listing(asked: DocumentListQuery) -> DocumentPage:
    """List the caller's documents, a page at a time."""
    caller = require(Scope.READ)
    for bound, named in ((caller.user_id, asked.user_id), (caller.group_id, asked.group_id)):
        if bound and named and bound != named:
            raise Forbidden("This key is bound to another owner.")
    narrow = DocumentFilter(
        user_id=asked.user_id or caller.user_id,
        group_id=asked.group_id or caller.group_id,
        states=(asked.status,) if asked.status else (),
    )
    page = services().ledger.listing.page(caller.tenant, narrow, asked.limit, asked.cursor)
    documents = [document_out(record) for record in page.documents]
    return DocumentPage(documents=documents, cursor=page.next_cursor, has_more=page.next_cursor is not None)


def visible(document_id: str, scope: Scope = Scope.READ) -> DocumentRecord:
    """Return a document the caller may see.

    Raises:
        NotFound: there is none, or it is somebody else's: the two look the same from outside.
    """
    caller = require(scope)
    record = services().ledger.documents.get(caller.tenant, document_id)
    for bound, has in ((caller.user_id, record.owner.user_id), (caller.group_id, record.owner.group_id)):
        if bound is not None and bound != has:
            raise NotFound("There is no such document.")
    return record


@blueprint.get("/<document_id>")
@blueprint.output(DocumentOut)
@blueprint.doc(summary="Show a document", security="bearer", responses=[401, 404])
def show(document_id: str) -> DocumentOut:
    """Show how far a document is, what came of it and what it cost."""
    shown = document_out(visible(document_id))
    shown.usage = usage_out(services().ledger.usages.of_document(document_id))
    return shown


@blueprint.post("/<document_id>/retry")
@blueprint.output(DocumentOut, status_code=202)
@blueprint.doc(
    summary="Run a failed or cancelled document again", security="bearer", responses=[401, 404, 409]
)
def retry(document_id: str) -> DocumentOut:
    """Run a document again; what was done already is kept."""
    record = visible(document_id, Scope.WRITE)
    again = services().ledger.documents.requeue(record.owner.tenant, record.id)
    services().enqueue()
    return document_out(again)


@blueprint.post("/<document_id>/cancel")
@blueprint.output(DocumentOut)
@blueprint.doc(summary="Stop work on a document", security="bearer", responses=[401, 404, 409])
def cancel(document_id: str) -> DocumentOut:
    """Stop a document that is under way; a worker that is on it notices within seconds."""
    record = visible(document_id, Scope.WRITE)
    return document_out(services().ledger.documents.cancel(record.owner.tenant, record.id))


@blueprint.delete("/<document_id>")
@blueprint.output(DeletedResponse, status_code=202)
@blueprint.doc(summary="Delete a document and all that came of it", security="bearer", responses=[401, 404])
def delete(document_id: str) -> DeletedResponse:
    """Hide a document at once and remove its episodes, facts and bytes in the background."""
    record = visible(document_id, Scope.WRITE)
    going = services().ledger.documents.mark_deleting(record.owner.tenant, record.id)
    services().enqueue()
    return DeletedResponse(document_id=record.id, status=State.DELETING, documents=len(going))
