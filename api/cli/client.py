"""The API from the outside: what the client commands talk to."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from api.launcher.home import Home
from ingest.errors import StrataError
from workers.settings import Settings

_TIMEOUT_S = 120.0


class ServerUnreachable(StrataError):
    """No Strata server answers."""

    code = "server_unreachable"
    advice = "Start one with `strata serve`, or set STRATA_URL and STRATA_API_KEY."


class ServerError(StrataError):
    """The server refused the request."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(str(body.get("detail") or body.get("title")), next_step=body.get("next_step"))
        self.code = str(body.get("code", "http_error"))


def under(collection: str, ident: str, *more: str) -> str:
    """Return the path of one thing of a collection; whatever its id holds stays one part of the path."""
    return "/".join(("/api/v1", collection, quote(ident, safe=""), *more))


class LocalFile(NamedTuple):
    """A file to hand in: where it is, and the name it gets (its path below the folder given)."""

    path: Path
    name: str


class Address(NamedTuple):
    """Where the server is and the key for it."""

    url: str
    key: str | None


def find_server(settings: Settings, environ: Mapping[str, str]) -> Address | None:
    """Return STRATA_URL with STRATA_API_KEY, else the instance running on STRATA_HOME, else None."""
    if environ.get("STRATA_URL"):
        return Address(environ["STRATA_URL"].rstrip("/"), environ.get("STRATA_API_KEY"))
    home = Home(settings)
    running = home.server()
    if running is None:
        return None
    return Address(running.url, environ.get("STRATA_API_KEY") or home.api_key())


class Client:
    """A thin client of the HTTP API; every method raises ServerUnreachable or ServerError.

    Args:
        address: where the server is.
        transport: how requests get there; over the network when None.
    """

    def __init__(self, address: Address, transport: httpx.BaseTransport | None = None) -> None:
        self._transport = transport
        self._headers = {"Authorization": f"Bearer {address.key}"} if address.key else {}
        self.url = address.url

    def call(self, method: str, path: str, **options: Any) -> Any:  # noqa: ANN401  JSON, and httpx's options
        """Send a request and return the JSON answer."""
        try:
            # Proxies of the environment are for the outside world, not for our own server on this machine.
            # Loading the list of certificates takes longer than most requests; plain HTTP needs none.
            with httpx.Client(
                headers=self._headers,
                timeout=_TIMEOUT_S,
                transport=self._transport,
                trust_env=False,
                verify=self.url.startswith("https:"),
            ) as http:
                response = http.request(method, self.url + path, **options)
        except httpx.HTTPError as error:
            raise ServerUnreachable(f"No answer from {self.url}: {error or type(error).__name__}.") from error
        if response.is_error:
            is_json = "json" in response.headers.get("content-type", "")
            raise ServerError(response.json() if is_json else {"detail": response.text[:500]})
        return response.json() if response.content else None

    def upload(
        self, files: Sequence[LocalFile], owner: Mapping[str, str], batch_id: str | None
    ) -> dict[str, Any]:
        """Hand in files as one request; ``batch_id`` adds them to a batch that exists."""
        data = {**owner, **({"batch_id": batch_id} if batch_id else {})}
        with ExitStack() as stack:
            parts = [
                (
                    "files",
                    (
                        file.name,
                        stack.enter_context(file.path.open("rb")),
                        mimetypes.guess_type(file.name)[0] or "application/octet-stream",
                    ),
                )
                for file in files
            ]
            answer: dict[str, Any] = self.call("POST", "/api/v1/documents", data=data, files=parts)
        return answer

    def follow(self, batch_id: str, timeout_s: float | None = None) -> Iterator[dict[str, Any]]:
        """Yield the state of a batch until it is done: twice a second at first, every two seconds later.

        Raises:
            StrataError: code ``wait_timeout`` when it is not done after ``timeout_s``.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = 0.5
        while True:
            state: dict[str, Any] = self.call("GET", under("batches", batch_id))
            yield state
            if state["done"]:
                return
            if deadline is not None and time.monotonic() > deadline:
                raise WaitTimeout(f"The batch {batch_id} is not done after {timeout_s:.0f} s.")
            pause_s = min(2.0, pause_s * 1.1)
            time.sleep(pause_s)


class WaitTimeout(StrataError):
    """The documents are still being worked on."""

    code = "wait_timeout"
    advice = "The work goes on; look with `strata status BATCH`."
