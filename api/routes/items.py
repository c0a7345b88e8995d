"""Memories one by one or page by page: look at them, delete them."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime

from apiflask import APIBlueprint

from api.auth import Principal, Scope, require
from api.routes.current import services
from api.routes.memories import owner_of
from api.routes.narrowing import where_of, without_hidden
from api.schemas.items import (
    DeleteFilters,
    DeleteRequest,
    DeleteResponse,
    EpisodeItem,
    FactItem,
    GetRequest,
    GetResponse,
    ItemType,
)
from api.schemas.memories import RawMessageOut
from retrieval.filters import AllOf, AsOf, Compare, Operator
from retrieval.matching import matches, owner_values
from retrieval.model import IndexedEpisode, IndexedFact
from retrieval.protocols import Collection
from workers.conversation import KnownMessage
from workers.errors import BadCursor
from workers.forgetting import forget, valid_ids
from workers.fresh import message_fields

blueprint = APIBlueprint("items", __name__, url_prefix="/api/v1/memories")

_LAYERS = {ItemType.EPISODE: Collection.EPISODES, ItemType.FACT: Collection.FACTS}
# Messages that do not pass the filters are read past, this many in a request.
_READ_PAST = 5000


@blueprint.post("/get")
@blueprint.input(GetRequest, arg_name="asked")
@blueprint.output(GetResponse)
@blueprint.doc(summary="Show memories by id or by owner", security="bearer", responses=[401, 403, 422, 503])
def get(asked: GetRequest) -> GetResponse:
    """Show memories: by their ids, or all of one type, a page at a time."""
    caller = require(Scope.READ)
    if asked.ids:
        return _by_ids(caller, asked.ids)
    where = where_of(caller, asked.filters)
    if asked.memory_type is ItemType.MESSAGE:
        return _message_page(caller, where, asked)
    assert asked.memory_type is not None
    layer = _LAYERS[asked.memory_type]
    start = asked.cursor
    if start is not None and not valid_ids([start]):
        raise BadCursor
    # What a newer version has replaced is no memory of today.
    shown = AllOf(parts=(without_hidden(caller, where), AsOf()))
    page = services().store.page(layer, caller.tenant, shown, asked.limit, start)
    return GetResponse(
        episodes=[EpisodeItem.of(one) for one in page.items if isinstance(one, IndexedEpisode)],
        facts=[FactItem.of(one) for one in page.items if isinstance(one, IndexedFact)],
        cursor=page.following,
        has_more=page.following is not None,
    )


@blueprint.post("/delete")
@blueprint.input(DeleteRequest, arg_name="asked")
@blueprint.output(DeleteResponse, status_code=202)
@blueprint.doc(summary="Delete memories", security="bearer", responses=[401, 403, 422, 503])
def delete(asked: DeleteRequest) -> DeleteResponse:
    """Delete single episodes, facts and messages, or everything of an owner or a session.

    What was deleted by its id stays away when its source is read again. Deleting twice is no error.
    """
    caller = require(Scope.WRITE)
    if asked.filters is not None:
        return _delete_all(asked.filters)
    bound = {"user_id": caller.user_id, "group_id": caller.group_id}
    forgot = forget(services(), caller.tenant, asked.ids, **bound)
    services().enqueue()
    return DeleteResponse(
        episodes=forgot.episodes,
        facts=forgot.facts,
        messages=forgot.messages,
        insights=forgot.insights,
        unknown=list(forgot.unknown),
    )


def _delete_all(filters: DeleteFilters) -> DeleteResponse:
    owner = owner_of(filters)
    named = owner.model_dump(exclude={"tenant"})
    going = services().ledger.documents.mark_all_deleting(owner.tenant, kind=filters.kind, **named)
    services().enqueue()
    return DeleteResponse(documents=len(going))


def _by_ids(caller: Principal, ids: list[str]) -> GetResponse:
    bound = [
        Compare(field=name, operator=Operator.EQ, value=value)
        for name, value in (("user_id", caller.user_id), ("group_id", caller.group_id))
        if value is not None
    ]
    hidden = set(services().ledger.documents.hidden_ids(caller.tenant))
    store, asked = services().store, valid_ids(ids)
    items = [
        one for layer in Collection for one in store.fetch(layer, caller.tenant, asked).values()
        if _visible(one, bound, hidden)
    ]  # fmt: skip
    owner = {"user_id": caller.user_id, "group_id": caller.group_id}
    messages = services().ledger.messages.by_ids(caller.tenant, ids, **owner)
    answer = GetResponse(
        episodes=[EpisodeItem.of(one) for one in items if isinstance(one, IndexedEpisode)],
        facts=[FactItem.of(one) for one in items if isinstance(one, IndexedFact)],
        raw_messages=[RawMessageOut.of(one) for one in messages],
    )
    found = {one.id for one in answer.episodes} | {one.id for one in answer.facts}
    found |= {one.id for one in answer.raw_messages}
    answer.unknown = [one for one in dict.fromkeys(ids) if one not in found]
    return answer


def _visible(item: IndexedEpisode | IndexedFact, bound: list[Compare], hidden: set[str]) -> bool:
    own = item.episode if isinstance(item, IndexedEpisode) else item.fact
    mine = all(getattr(own.owner, one.field) == one.value for one in bound)
    return mine and own.document_id not in hidden


def _message_page(caller: Principal, where: AllOf, asked: GetRequest) -> GetResponse:
    owners = {field: owner_values(where, field) for field in ("user_id", "group_id")}
    place = _read_cursor(asked.cursor) if asked.cursor else None
    found: list[KnownMessage] = []
    looked_at = 0
    while looked_at < _READ_PAST:
        some = services().ledger.messages.before(caller.tenant, asked.limit + 1, place, **owners)
        for at, one in enumerate(some[: asked.limit]):
            place = (one.message.sent_at, one.id)
            found += [one] if matches(where, message_fields(one)) else []
            if len(found) == asked.limit:
                return _messages(found, place if at + 1 < len(some) else None)
        looked_at += asked.limit
        if len(some) <= asked.limit:
            return _messages(found, None)
    return _messages(found, place)


def _messages(found: list[KnownMessage], place: tuple[datetime, str] | None) -> GetResponse:
    cursor = _write_cursor(place) if place else None
    shown = [RawMessageOut.of(one) for one in found]
    return GetResponse(raw_messages=shown, cursor=cursor, has_more=cursor is not None)


def _write_cursor(place: tuple[datetime, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([place[0].isoformat(), place[1]]).encode()).decode()


def _read_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        moment, identity = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
        read = datetime.fromisoformat(moment)
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadCursor from error
    if read.tzinfo is None or not isinstance(identity, str):
        raise BadCursor
    return read, identity
