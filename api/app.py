"""The application factory: everything it needs is handed in."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from apiflask import APIFlask
from flask import Response, g, request
from flask.json.provider import DefaultJSONProvider

from api import errors
from api.auth import Principal, principal
from api.metrics import RequestTimes
from api.parts import ApiState
from api.routes import batches, contents, documents, health, items, memories, search, usage
from api.routes.current import settings as settings_now
from workers.services import Services
from workers.settings import Settings
from workers.texts import is_storable

_REQUEST_ID = re.compile(r"^[A-Za-z0-9._:-]{1,128}$")
Authenticate = Callable[[str | None], Principal | None]


def _stamp_request() -> None:
    # A caller's id is taken over only when it cannot break a log line.
    given = request.headers.get("X-Request-ID", "")
    g.request_id = given if _REQUEST_ID.match(given) else uuid.uuid4().hex


def _ask_for_the_key() -> None:
    # Before anything of the body is looked at: a stranger learns nothing and costs nothing.
    if request.path.startswith("/api/"):
        principal()


_KEEP_HALVES = frozenset({"/api/v1/memories"})


def _bound_json() -> None:
    # Far below what uploads may have: a body of JSON is held in memory as a whole, several times over.
    if request.is_json:
        request.max_content_length = settings_now().conversation.request_bytes
    # Half a character can be said in JSON and nowhere else. In what was said to somebody it is no reason to
    # lose the message; in a question, a filter or an id it means nothing.
    suspect = request.is_json and request.path not in _KEEP_HALVES and _may_hold_halves(request.get_data())
    if suspect and not is_storable(request.get_json(silent=True)):
        raise errors.BadRequest("The request holds half a character (a lone surrogate) or a NUL.")


def _may_hold_halves(body: bytes) -> bool:
    told = body.lower()
    return b"\\ud" in told or b"\\u0000" in told


def _stamp_response(response: Response) -> Response:
    response.headers["X-Request-ID"] = g.get("request_id", "")
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def create_app(services: Services, settings: Settings, authenticate: Authenticate) -> APIFlask:
    """Build the web application.

    Args:
        services: the concrete parts, or fakes of them.
        settings: limits of uploads; the parts have their own already.
        authenticate: turns a presented key (or None) into a caller, or None when it is not known.
    """
    app = APIFlask("strata", title="Strata", version="0.1.0", docs_path="/docs", spec_path="/openapi.json")
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_upload_bytes + 2**20,
        MAX_FORM_PARTS=settings.max_files_per_upload + 50,
        DESCRIPTION="Layered memory for documents and conversations.",
        OPENAPI_VERSION="3.1.0",
    )
    assert isinstance(app.json, DefaultJSONProvider)
    app.json.sort_keys = False
    app.json.ensure_ascii = False
    app.security_schemes = {"bearer": {"type": "http", "scheme": "bearer"}}
    app.extensions["strata"] = ApiState(services, settings)
    app.extensions["strata_authenticate"] = authenticate
    times = RequestTimes()
    times.watch(app)
    app.extensions["strata_times"] = times
    app.before_request(_stamp_request)
    app.before_request(_ask_for_the_key)
    app.before_request(_bound_json)
    app.after_request(_stamp_response)
    errors.register(app)
    for blueprint in (
        documents.blueprint,
        contents.blueprint,
        batches.blueprint,
        memories.blueprint,
        items.blueprint,
        search.blueprint,
        usage.blueprint,
        health.blueprint,
    ):
        app.register_blueprint(blueprint)
    return app
