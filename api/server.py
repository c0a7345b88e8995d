"""The web server's worker, with what it refuses itself told as the API tells everything else."""

from __future__ import annotations

import json
import logging
import socket
from http import HTTPStatus
from typing import Any

from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

_LONGEST_DETAIL = 300
_STATUS: dict[type[Exception], HTTPStatus] = {
    errors.LimitRequestLine: HTTPStatus.REQUEST_URI_TOO_LONG,
    errors.LimitRequestHeaders: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    errors.ExpectationFailed: HTTPStatus.EXPECTATION_FAILED,
    errors.UnsupportedTransferCoding: HTTPStatus.NOT_IMPLEMENTED,
    errors.ForbiddenProxyRequest: HTTPStatus.FORBIDDEN,
    errors.ParseException: HTTPStatus.BAD_REQUEST,
    Exception: HTTPStatus.INTERNAL_SERVER_ERROR,
}
_CODES = {
    HTTPStatus.REQUEST_URI_TOO_LONG: "uri_too_long",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "headers_too_large",
    HTTPStatus.EXPECTATION_FAILED: "expectation_failed",
    HTTPStatus.NOT_IMPLEMENTED: "not_implemented",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal",
}
_ADVICE = {
    HTTPStatus.BAD_REQUEST: "Send HTTP/1.1 as a client library does, values in the address percent-encoded.",
    HTTPStatus.REQUEST_URI_TOO_LONG: "Send long values in the body, not in the address.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "Send fewer or shorter headers.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Try again; the server's log has the reason.",
}

log = logging.getLogger("strata.server")


def refusal(error: BaseException) -> bytes:
    """Return the whole answer to a request that did not become one, as a problem document."""
    kind = next((one for one in type(error).__mro__ if one in _STATUS), Exception)
    status = _STATUS[kind]
    known = status != HTTPStatus.INTERNAL_SERVER_ERROR
    code = _CODES[status]
    body = {
        "type": f"urn:strata:error:{code}",
        "title": status.phrase,
        "status": int(status),
        "detail": str(error)[:_LONGEST_DETAIL] or status.phrase
        if known
        else "Something went wrong on our side.",
        "instance": None,
        "code": code,
        "request_id": None,
        "next_step": _ADVICE.get(status, _ADVICE[HTTPStatus.BAD_REQUEST]),
    }
    sent = json.dumps(body).encode("ascii")
    head = (
        f"HTTP/1.1 {int(status)} {status.phrase}\r\nConnection: close\r\n"
        f"Content-Type: application/problem+json\r\nContent-Length: {len(sent)}\r\n\r\n"
    )
    return head.encode("ascii") + sent


class Worker(ThreadWorker):  # type: ignore[misc]  # the library has no types
    """Gunicorn's threads; what is no HTTP, or too long, is answered in the API's form instead of HTML."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:  # noqa: ANN401
        """Answer a request that could not be read or given to the application."""
        if isinstance(exc, errors.ParseException):
            log.warning("refused a request: %s", exc)
        else:
            log.error("a request ended unexpectedly", exc_info=exc)
        try:
            client.sendall(refusal(exc))
        except OSError as error:
            log.debug("the refusal was not sent: %s", error)
