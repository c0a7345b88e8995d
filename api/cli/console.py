"""How the command line speaks: people read text, programs read JSON, exit codes mean something."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from typing import Any, NoReturn

import click
from rich.console import Console

from ingest.errors import StrataError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Exit(IntEnum):
    """What the exit code of a command means."""

    OK = 0
    ERROR = 1
    USAGE = 2
    SOME_FAILED = 3  # the command worked, but documents ended failed


def print_json(value: Any) -> None:  # noqa: ANN401  anything JSON can hold
    """Print one JSON document to standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def fail(error: StrataError, as_json: bool = False) -> NoReturn:
    """Print an error and exit 1: a sentence on a terminal, a line of JSON for programs.

    Args:
        error: what happened.
        as_json: end with the line of JSON on a terminal too.
    """
    if err.is_terminal:
        err.print(f"{error.code}: {error.detail}", style="red", markup=False)
        err.print(f"  {error.next_step}", markup=False)
    if as_json or not err.is_terminal:
        body = {"code": error.code, "detail": error.detail, "next_step": error.next_step}
        click.echo(json.dumps(body, ensure_ascii=False), err=True)
    sys.exit(Exit.ERROR)
