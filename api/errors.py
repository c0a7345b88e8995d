"""What a caller sees when something is wrong: RFC 9457 problem documents.

    StrataError
    └── ApiError
        ├── Unauthorized        401
        ├── Forbidden           403
        ├── BadRequest          422
        └── TooMuch             413

One table maps error classes to HTTP statuses; routes raise and never catch.
"""

from __future__ import annotations

from http import HTTPStatus

from apiflask import APIFlask
from apiflask.exceptions import HTTPError
from flask import Response, current_app, g, jsonify, request
from gunicorn.http.errors import ParseException

from ingest.errors import FileTooLarge, IngestError, StrataError, TransientError, UnsupportedFile
from retrieval.errors import FingerprintMismatch, InvalidQuery
from workers.errors import BadCursor, KeyInFlight, KeyReused, NotFound, StateConflict


class ApiError(StrataError):
    """The request cannot be served."""

    code = "api"


class Unauthorized(ApiError):
    """This call needs an API key."""

    code = "unauthorized"
    advice = "Send `Authorization: Bearer KEY`; `strata keys create` makes one."


class Forbidden(ApiError):
    """The API key may not do this."""

    code = "forbidden"
    advice = "Use a key with the needed scope, or one bound to this user."


class BadRequest(ApiError):
    """The request is not understood."""

    code = "invalid_request"
    advice = "Compare the request with the schema at /docs."


class TooMuch(ApiError):
    """The request holds more than one may."""

    code = "too_much"
    advice = "Send it in several requests, or raise the CONVERSATION_ limit."


STATUS: dict[type[StrataError], int] = {
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    StateConflict: 409,
    KeyInFlight: 409,
    FingerprintMismatch: 409,
    FileTooLarge: 413,
    TooMuch: 413,
    UnsupportedFile: 415,
    BadRequest: 422,
    BadCursor: 422,
    KeyReused: 422,
    InvalidQuery: 422,
    IngestError: 422,
    TransientError: 503,
}


def status_of(error: StrataError) -> int:
    """Return the HTTP status of an error: that of its nearest listed ancestor, else 500."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(
    status: int,
    code: str,
    detail: str,
    next_step: str | None = None,
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return an ``application/problem+json`` response."""
    body: dict[str, object] = {
        "type": f"urn:strata:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": request.path,
        "code": code,
        "request_id": g.get("request_id"),
    }
    if next_step:
        body["next_step"] = next_step
    if errors:
        body["errors"] = errors
    response = jsonify(body)
    response.status_code = status
    response.content_type = "application/problem+json"
    response.headers.update(headers or {})
    return response


def _from_strata(error: StrataError) -> Response:
    status = status_of(error)
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    if isinstance(error, TransientError):
        headers["Retry-After"] = str(max(1, round(error.retry_after_s or 2)))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # A part that is away fails every request: its reason is told; where the code stood tells nothing.
        shown = None if isinstance(error, TransientError) else error
        reason = error.__cause__ or "no further reason"
        current_app.logger.error("%s: %s (%s)", error.code, error.detail, reason, exc_info=shown)
    return problem(status, error.code, error.detail, error.next_step, headers=headers)


_HTTP_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_HTTP_ADVICE = {
    404: "See /docs for every path.",
    405: "See /docs for the methods of this path.",
    413: "Send less at once, or raise MAX_UPLOAD_BYTES (files) or CONVERSATION_REQUEST_BYTES (messages).",
}


def _from_http(error: HTTPError) -> Response:
    """What the framework refuses: bodies that do not fit their schema, unknown paths, too much at once."""
    status = error.status_code
    if status != HTTPStatus.UNPROCESSABLE_ENTITY:
        code = _HTTP_CODES.get(status, "http_error")
        is_json = status == HTTPStatus.BAD_REQUEST and request.method == "POST" and not request.files
        detail = "The body is not valid JSON in UTF-8." if is_json else error.message or code
        return problem(status, code, detail, _HTTP_ADVICE.get(status, BadRequest.advice))
    listed = [
        {"field": str(field), "location": str(location), "detail": str(text)}
        for location, fields in (error.detail or {}).items()
        for field, texts in (fields.items() if isinstance(fields, dict) else [("", fields)])
        for text in (texts if isinstance(texts, list) else [texts])
    ]
    detail = "; ".join(f"{one['field']}: {one['detail']}" for one in listed[:3]) or str(error.message)
    return problem(status, BadRequest.code, detail, BadRequest.advice, listed)


def _from_recursion(error: RecursionError) -> Response:
    """Thousands of brackets in each other: somebody tries what happens."""
    return problem(400, "bad_request", "The body is nested too deeply.", BadRequest.advice)


def _from_broken(error: ParseException) -> Response:
    """A body that breaks off or is chunked wrongly: the server finds out when the application reads it."""
    return problem(400, "bad_request", f"The request cannot be read: {error}.", BadRequest.advice)


def _from_unknown(error: Exception) -> Response:
    current_app.logger.error("unexpected error", exc_info=error)
    return problem(500, "internal", "Something went wrong on our side.", StrataError.advice)


def register(app: APIFlask) -> None:
    """Turn every error an app can raise into a problem document."""
    app.register_error_handler(StrataError, _from_strata)
    app.register_error_handler(RecursionError, _from_recursion)
    app.register_error_handler(ParseException, _from_broken)
    app.register_error_handler(Exception, _from_unknown)
    app.error_processor(_from_http)
