"""Find, start and watch the local server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from api.cli.client import Address, find_server
from api.cli.console import err
from api.launcher.home import Home, Running
from api.launcher.serve import StartFailed, is_ready
from ingest.errors import StrataError
from workers.settings import Settings

_START_S = 100.0
_STOP_S = 60.0


def alive(one: Running) -> bool:
    """Tell whether a recorded process still runs."""
    try:
        process = psutil.Process(one.pid)
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - one.created) < 1.0
    except psutil.NoSuchProcess:
        return False


def start_detached(settings: Settings, environ: Mapping[str, str]) -> Address:
    """Start a server in the background and return when it is ready.

    Raises:
        StartFailed: it ended or was not ready within 100 s; with the launcher's own words where it left some.
    """
    home = Home(settings)
    home.prepare()
    log_path = home.logs / "launcher.log"
    with log_path.open("ab") as log:
        began = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", "serve"],
            env={**environ, "STRATA_HOME": str(home.root)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        found = find_server(settings, {})
        running = home.server()
        if found and running and running.launcher.pid == process.pid and is_ready(found.url):
            return found
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise _reason(log_path, began)


def _reason(log_path: Path, began: int) -> StrataError:
    """Return why the launcher ended: the error it wrote as its last line, else where to look."""
    with log_path.open("rb") as log:
        log.seek(began)
        lines = log.read().decode("utf-8", "replace").strip().splitlines()
    try:
        told = json.loads(lines[-1]) if lines else None
    except ValueError:
        told = None
    if not isinstance(told, dict) or not {"code", "detail", "next_step"} <= set(told):
        return StartFailed(f"The server did not become ready; see {log_path} and the logs beside it.")
    failed = StartFailed(told["detail"], next_step=told["next_step"])
    failed.code = told["code"]
    return failed


def ensure_server(settings: Settings, environ: Mapping[str, str]) -> Address:
    """Return the local server, started in the background when none is running."""
    running = Home(settings).server()
    found = find_server(settings, environ)
    if running and found and alive(running.launcher):
        deadline = time.monotonic() + _START_S
        while not is_ready(found.url) and alive(running.launcher) and time.monotonic() < deadline:
            time.sleep(0.2)
        return found
    err.print("Starting Strata in the background ...")
    return start_detached(settings, environ)
