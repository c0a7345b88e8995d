"""The embedded store: the Qdrant engine in a process of its own, behind the part of Qdrant's REST we use.

Run by ``strata serve``: ``python -m retrieval.edge.server --data DIR --port N`` with the key in the variable
STRATA_STORE_KEY. Exit codes: 0 stopped in order, 2 wrong use, 65 a collection is damaged, 69 the port is
taken, 75 the data directory is in use.
"""

from __future__ import annotations

import argparse
import gc
import ipaddress
import logging
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from waitress import create_server

from retrieval.edge.catalog import Catalog, CollectionDamaged, DirectoryInUse, exclusive
from retrieval.edge.keeper import Keeper
from retrieval.edge.wsgi import MAX_BODY, StoreApp

KEY_VARIABLE = "STRATA_STORE_KEY"
EXIT_USAGE = 2
EXIT_DAMAGED = 65
EXIT_PORT = 69
EXIT_IN_USE = 75

logger = logging.getLogger("retrieval.edge")


def main(arguments: list[str] | None = None) -> int:
    """Serve a data directory until SIGTERM or SIGINT; return the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=options.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    key = os.environ.pop(KEY_VARIABLE, "")
    # It warns whenever a request waits for a free thread, which is what the queue is for.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    if not key:
        logger.error("%s is not set: the store is not served without a key.", KEY_VARIABLE)
        return EXIT_USAGE
    try:
        with exclusive(options.data):
            return _serve(options, key)
    except DirectoryInUse as error:
        logger.error("%s Stop it first, or choose another directory.", error)
        return EXIT_IN_USE
    except CollectionDamaged as error:
        logger.error("%s Put back a copy, or move it away and index its documents again.", error)
        return EXIT_DAMAGED


def _spare_the_collector() -> None:
    """Let Python look for garbage less often.

    A search makes thousands of small objects, none in a ring, beside hundreds of thousands that are
    remembered; looking through all of them again and again took a fifth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def _serve(options: argparse.Namespace, key: str) -> int:
    catalog = Catalog(options.data)
    keeper = Keeper(catalog)
    try:
        server = _listen(options, StoreApp(catalog, key, keeper.healthy))
    except OSError as error:
        logger.error("%s:%s cannot be listened on: %s.", options.host, options.port, error)
        catalog.close()
        return EXIT_PORT
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    keeper.start()
    _spare_the_collector()
    logger.info("serving %s on %s:%s", options.data, options.host, server.effective_port)
    try:
        server.run()
    finally:
        server.close()
        keeper.stop()
        catalog.close()
        logger.info("stopped")
    return 0


def _listen(options: argparse.Namespace, app: StoreApp) -> Any:  # noqa: ANN401  the library has no types
    return create_server(
        app,
        host=options.host,
        port=options.port,
        threads=options.threads,
        ident="strata-store",
        max_request_body_size=MAX_BODY,
        # Requests and answers stay in memory instead of going through temporary files.
        inbuf_overflow=MAX_BODY,
        outbuf_overflow=MAX_BODY,
    )


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _loopback(value: str) -> str:
    if not ipaddress.ip_address(value).is_loopback:
        raise argparse.ArgumentTypeError("only loopback addresses: the connection is not encrypted")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m retrieval.edge.server", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="data directory, made if missing")
    parser.add_argument("--host", type=_loopback, default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument("--port", type=int, required=True, help="port to listen on, 0 for any")
    parser.add_argument("--threads", type=int, default=4, help="requests read and answered at a time")
    parser.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"])
    return parser


if __name__ == "__main__":
    sys.exit(main())
