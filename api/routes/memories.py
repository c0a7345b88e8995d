"""Conversations: add messages, end what is open."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from apiflask import APIBlueprint
from flask import Response, jsonify, request, url_for
from pydantic import ValidationError

from api.auth import Scope, adding_for, owner_for, require
from api.errors import BadRequest, TooMuch
from api.idempotency import once
from api.routes.current import services, settings
from api.schemas.memories import AddRequest, AddResponse, FlushResponse, MessageIn, OwnerIn, Warned
from ingest.model import Owner
from workers.conversation import ConversationKnobs, Fate

blueprint = APIBlueprint("conversations", __name__, url_prefix="/api/v1/memories")


@blueprint.post("")
@blueprint.input(AddRequest, arg_name="asked")
@blueprint.output(AddResponse, status_code=202)
@blueprint.doc(summary="Remember messages", security="bearer", responses=[401, 403, 409, 413, 422, 503])
def add(asked: AddRequest) -> Response:
    """Take messages of a conversation, in any order and as often as you like.

    They are kept when this returns. A message with a known id and other words is a new version of it.
    """
    owner = adding_for(require(Scope.WRITE), owner_of(asked))
    knobs = settings().conversation
    _refuse_too_much(asked.messages, knobs)

    def hash_request() -> str:
        told = json.dumps(request.get_json(), sort_keys=True)
        parts = "\x1f".join((request.path, owner.model_dump_json(), told))
        return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()

    body, status = once(
        services().ledger.idempotency, owner.tenant, hash_request, lambda: (_add(owner, asked, knobs), 202)
    )
    answer = jsonify(body)
    answer.status_code = status
    return answer


@blueprint.post("/flush")
@blueprint.input(OwnerIn, arg_name="asked")
@blueprint.output(FlushResponse, status_code=202)
@blueprint.doc(summary="End what is open and read it now", security="bearer", responses=[401, 403, 422, 503])
def flush(asked: OwnerIn) -> Response:
    """End the open stretches of a session, or of all sessions of an owner when none is named."""
    owner = owner_of(asked)
    ledger = services().ledger
    named = owner.model_dump(exclude={"tenant"})
    flushed = ledger.conversations.flush(owner.tenant, **named)
    batch_id = ledger.batches.of_documents(owner.tenant, flushed) if flushed else None
    services().enqueue()
    answer = jsonify(FlushResponse(batch_id=batch_id, document_ids=flushed).model_dump())
    answer.status_code = 202
    if batch_id is not None:
        answer.headers["Location"] = url_for("batches.show", batch_id=batch_id)
    return answer


def owner_of(asked: OwnerIn) -> Owner:
    """Return the owner a request names, within what the caller's key is bound to.

    Raises:
        Forbidden: the key may not write, or is bound to somebody else.
        BadRequest: no owner is named.
    """
    caller = require(Scope.WRITE)
    try:
        return owner_for(caller, asked.user_id, asked.group_id, asked.session_id)
    except ValidationError as error:
        said = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise BadRequest(f"Whose memory is it? {said[:1].upper()}{said[1:]}.") from error


def _refuse_too_much(messages: list[MessageIn], knobs: ConversationKnobs) -> None:
    if len(messages) > knobs.request_messages:
        raise TooMuch(f"There are {len(messages)} messages; a request holds {knobs.request_messages}.")
    for at, message in enumerate(messages):
        if len(message.content) > knobs.message_characters:
            most = knobs.message_characters
            raise TooMuch(
                f"messages[{at}].content has {len(message.content)} characters; {most} are allowed.",
                next_step="Hand in long texts as files at /api/v1/documents.",
            )


def _add(owner: Owner, asked: AddRequest, knobs: ConversationKnobs) -> dict[str, Any]:
    taken = services().ledger.conversations.add(owner, [one.message(knobs.zone) for one in asked.messages])
    services().enqueue()
    fates = Counter(one.fate for one in taken)
    naive = sum(one.is_naive for one in asked.messages)
    detail = f"{naive} times have no offset; they were read as {knobs.timezone}."
    return AddResponse(
        accepted=fates[Fate.ACCEPTED],
        updated=fates[Fate.UPDATED],
        unchanged=fates[Fate.UNCHANGED],
        messages=taken,
        document_ids=list(dict.fromkeys(one.document_id for one in taken)),
        warnings=[Warned(code="naive_time", detail=detail)] if naive else [],
    ).model_dump(mode="json")
