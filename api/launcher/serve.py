"""Run an embedded instance: start the children, keep them alive, stop them cleanly."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING

import httpx
import psutil

from api.launcher.children import Child, end_leftovers
from api.launcher.home import Home, Running, ServerFile
from ingest.errors import StrataError
from workers.settings import Settings, SettingsError

if TYPE_CHECKING:
    from api.launcher.parts import Plan

_POLL_S = 0.2
_START_S = 90.0
_LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")

log = logging.getLogger("strata.launcher")


class StartFailed(StrataError):
    """The server did not become ready."""

    code = "start_failed"
    advice = "Look at the logs named in the message."


def check_exposure(settings: Settings) -> None:
    """Refuse to serve without keys on an address that others can reach.

    Raises:
        SettingsError: STRATA_AUTH=open on an address other than loopback.
    """
    if settings.strata_auth == "open" and settings.strata_host not in _LOOPBACK_HOSTS:
        raise SettingsError("STRATA_AUTH=open is allowed only with STRATA_HOST=127.0.0.1.")


def check_port(settings: Settings) -> None:
    """Refuse to start where another program listens already.

    Raises:
        StartFailed: the port is taken.
    """
    family = socket.AF_INET6 if ":" in settings.strata_host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.strata_host, settings.strata_port))
        except OSError as error:
            where = f"{settings.strata_host}:{settings.strata_port}"
            raise StartFailed(
                f"Cannot listen on {where}: {error.strerror}.",
                next_step="Stop the program that listens there, or set STRATA_PORT (0 takes a free port).",
            ) from error


def is_ready(url: str) -> bool:
    """Tell whether the API answers and everything behind it does."""
    try:
        return httpx.get(f"{url}/readyz", timeout=2.0, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def me(name: str) -> Running:
    """Return this process as the server file names it."""
    return Running(name=name, pid=os.getpid(), created=psutil.Process().create_time())


class _Stop:
    """Set by SIGTERM or SIGINT."""

    def __init__(self) -> None:
        self.asked = False
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._ask)

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self.asked = True


def _record(home: Home, made: Plan, children: list[Child]) -> None:
    running = tuple(one for child in children if (one := child.running()) is not None)
    home.write_server(ServerFile(url=made.url, launcher=me("launcher"), children=running, parts=made.parts))


def _run(home: Home, made: Plan, on_ready: Callable[[str], None]) -> None:
    stop = _Stop()
    children = [Child(spec, home.logs / f"{spec.name}.log") for spec in made.children]
    told = False
    deadline = time.monotonic() + _START_S
    try:
        for child in children:
            child.start()
        _record(home, made, children)
        while not stop.asked:
            if any([child.tend() for child in children]):
                _record(home, made, children)
            if not told and is_ready(made.url):
                told = True
                on_ready(made.url)
            if not told and time.monotonic() > deadline:
                raise StartFailed(f"Not ready after {_START_S:.0f} s; the logs are in {home.logs}.")
            time.sleep(_POLL_S)
    finally:
        for child in reversed(children):
            child.stop()
        home.forget_server()


def serve(settings: Settings, environ: Mapping[str, str], on_ready: Callable[[str], None]) -> None:
    """Run until SIGTERM or SIGINT. ``on_ready`` is called once with the URL.

    Raises:
        AlreadyRunning: another instance holds the folder.
        SettingsError: the settings would serve the open network without keys.
        StartFailed: the port is taken, or not ready within 90 s.
    """
    # Only who serves needs these: other commands ask this module whether a server answers.
    from api.launcher.parts import plan
    from api.wiring import prepare_ledger

    check_exposure(settings)
    home = Home(settings)
    home.prepare()
    with home.lock():
        check_port(settings)
        before = home.server()
        if before is not None:
            for name in end_leftovers(before.children):
                log.warning("ended a %s that an earlier run left behind", name)
        prepare_ledger(settings, home)
        _run(home, plan(settings, home, environ), on_ready)
