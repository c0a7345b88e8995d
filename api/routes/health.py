"""Is it alive, is it ready, how is it doing."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, current_app
from prometheus_client import CONTENT_TYPE_LATEST

from api.auth import Scope, require
from api.errors import Forbidden
from api.metrics import exposition
from api.routes.current import services
from ingest.errors import StrataError
from retrieval.protocols import Collection

blueprint = APIBlueprint("health", __name__)


@blueprint.get("/healthz")
@blueprint.doc(summary="Liveness; asks nobody else")
def healthz() -> dict[str, str]:
    """Tell that this process answers."""
    return {"status": "ok"}


def _check(name: str) -> dict[str, str]:
    try:
        getattr(services(), f"ping_{name}")()
    except StrataError as error:
        return {"status": "failed", "code": error.code, "detail": error.detail}
    return {"status": "ok"}


@blueprint.get("/readyz")
@blueprint.doc(summary="Readiness; asks the ledger, the store and the broker", responses=[503])
def readyz() -> tuple[dict[str, Any], int]:
    """Tell whether work can be taken and questions answered."""
    checks = {name: _check(name) for name in ("ledger", "store", "broker")}
    ready = all(check["status"] == "ok" for check in checks.values())
    return {"status": "ok" if ready else "unavailable", "checks": checks}, 200 if ready else 503


@blueprint.get("/metrics")
@blueprint.doc(
    summary="Numbers for Prometheus; with an admin key that is bound to nobody",
    security="bearer",
    responses=[401, 403],
)
def metrics() -> Response:
    """Show documents by state, queues and times of requests, over all tenants together; none is named."""
    caller = require(Scope.ADMIN)
    if caller.user_id or caller.group_id:
        raise Forbidden("A key that is bound to a user or group does not see the numbers of all.")
    body = exposition(services(), current_app.extensions["strata_times"])
    return Response(body, content_type=CONTENT_TYPE_LATEST)


@blueprint.get("/api/v1/status")
@blueprint.doc(summary="Documents per state, and how much is in memory", security="bearer", responses=[401])
def status() -> dict[str, Any]:
    """Show the numbers of the caller's tenant; a key bound to a user or group sees only that part."""
    caller = require(Scope.READ)
    numbers = services().overview(caller.tenant, user_id=caller.user_id, group_id=caller.group_id)
    if caller.user_id or caller.group_id:
        # The store counts by tenant and document; what the ledger says of ready documents is the same.
        held = {layer.value: numbers[layer.value] for layer in Collection}
    else:
        held = {layer.value: services().store.count(layer, caller.tenant) for layer in Collection}
    return {**numbers, "memory": held}
