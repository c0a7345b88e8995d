"""Usage: what the calls of models have cost."""

from __future__ import annotations

from apiflask import APIBlueprint

from api.auth import Scope, require
from api.routes.current import services
from api.schemas.usage import UsageQuery, UsageResponse, usage_day, usage_out
from workers.usage import UsageFilter

blueprint = APIBlueprint("usage", __name__, url_prefix="/api/v1/usage")


@blueprint.get("")
@blueprint.input(UsageQuery, location="query", arg_name="asked")
@blueprint.output(UsageResponse)
@blueprint.doc(
    summary="Tokens and price by day, model and stage", security="bearer", responses=[401, 403, 422]
)
def show(asked: UsageQuery) -> UsageResponse:
    """Show what the caller's tenant has spent; a key bound to a user or group sees only that part."""
    caller = require(Scope.READ)
    narrow = UsageFilter(
        tenant=caller.tenant,
        user_id=caller.user_id,
        group_id=caller.group_id,
        first=asked.first,
        last=asked.last,
    )
    usages = services().ledger.usages
    rows = [usage_day(row) for row in usages.table(narrow)]
    return UsageResponse(total=usage_out(usages.of_days(narrow)), rows=rows)
