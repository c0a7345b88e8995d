"""The part of Qdrant's REST interface that is served, as a WSGI application."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from hmac import compare_digest
from http import HTTPStatus
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from retrieval.edge.catalog import Catalog
from retrieval.edge.fields import Refusal
from retrieval.edge.routes import ROUTES

logger = logging.getLogger(__name__)

# The release of Qdrant whose interface is followed; clients compare it with their own.
PROTOCOL = "1.20.0"
MAX_BODY = 64 * 2**20

_OPEN_PATHS = frozenset({"/", "/healthz", "/livez", "/readyz"})
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


class StoreApp:
    """Checks the key, finds the route, answers in Qdrant's envelope.

    Args:
        catalog: what is served.
        key: what callers have to show as ``api-key`` or bearer token.
        healthy: says whether changes can be made safe at the moment.
    """

    def __init__(self, catalog: Catalog, key: str, healthy: Callable[[], bool]) -> None:
        self._catalog = catalog
        self._key = key.encode()
        self._healthy = healthy
        self._routes = [(method, _pattern(path), path, handler) for method, path, handler in ROUTES]
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "strata_store_request_seconds", "Time to answer, by route.", ["route"], registry=self._registry
        )
        self._refused = Counter(
            "strata_store_refused", "Requests answered with an error, by status.", ["status"],
            registry=self._registry,
        )  # fmt: skip
        self._points = Gauge(
            "strata_store_points", "Points of a collection.", ["collection"], registry=self._registry
        )

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        began = time.perf_counter()
        try:
            status, kind, content = self._answer(environ, began)
        except Refusal as refusal:
            status, kind, content = self._failed(refusal.status, refusal.reason, began)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            # A panic of the engine arrives as a BaseException and must not end the thread.
            logger.exception("%s %s failed", environ["REQUEST_METHOD"], environ["PATH_INFO"])
            status, kind, content = self._failed(500, "Service internal error; see the store's log", began)
        line = f"{status} {HTTPStatus(status).phrase}"
        start_response(line, [("Content-Type", kind), ("Content-Length", str(len(content)))])
        return [content]

    def _answer(self, environ: WSGIEnvironment, began: float) -> tuple[int, str, bytes]:
        # WSGI hands over the decoded path as latin-1.
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace") or "/"
        if path not in _OPEN_PATHS:
            self._check_key(environ)
        if environ["REQUEST_METHOD"] == "GET" and (plain := self._plain(path)) is not None:
            return plain
        handler, name, route = self._found(environ["REQUEST_METHOD"], path)
        result = handler(self._catalog, name, _body(environ))
        self._seconds.labels(route).observe(time.perf_counter() - began)
        answer = {"result": result, "status": "ok", "time": time.perf_counter() - began}
        return 200, _JSON, orjson.dumps(answer)

    def _plain(self, path: str) -> tuple[int, str, bytes] | None:
        if path == "/":
            about = {"title": "strata store, Qdrant REST subset", "version": PROTOCOL, "commit": ""}
            return 200, _JSON, orjson.dumps(about)
        if path in _OPEN_PATHS:
            if self._healthy():
                return 200, _TEXT, b"ok"
            return 503, _TEXT, b"the last write to disk failed; see the store's log"
        if path == "/metrics":
            for name, shard in self._catalog.shards():
                self._points.labels(name).set(shard.info()["points_count"])
            return 200, _TEXT, generate_latest(self._registry)
        return None

    def _found(self, method: str, path: str) -> tuple[Callable[..., Any], tuple[str, ...], str]:
        allowed = []
        for known, pattern, route, handler in self._routes:
            if match := pattern.fullmatch(path):
                if known == method:
                    return handler, match.groups(), f"{method} {route}"
                allowed.append(known)
        if allowed:
            raise Refusal(405, f"{method} {path} is not served; use {', '.join(allowed)}")
        raise Refusal(404, f"{path} is not served here")

    def _check_key(self, environ: WSGIEnvironment) -> None:
        shown = environ.get("HTTP_API_KEY") or environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        if not compare_digest(shown.encode("latin-1", "replace"), self._key):
            raise Refusal(401, "Must provide an API key")

    def _failed(self, status: int, reason: str, began: float) -> tuple[int, str, bytes]:
        self._refused.labels(status).inc()
        took = time.perf_counter() - began
        return status, _JSON, orjson.dumps({"status": {"error": reason}, "result": None, "time": took})


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "([^/]+)", path))


def _body(environ: WSGIEnvironment) -> Any:  # noqa: ANN401  any JSON
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > MAX_BODY:
        raise Refusal(413, f"the request is larger than {MAX_BODY} bytes")
    raw = environ["wsgi.input"].read(length) if length else b""
    try:
        return orjson.loads(raw) if raw else {}
    except orjson.JSONDecodeError as error:
        raise Refusal(400, f"Format error in JSON body: {error}") from error
