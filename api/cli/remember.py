"""`strata remember`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import click

from api.cli.console import Exit, out, print_json
from api.cli.files import show_batch, wait_for
from api.cli.state import Context

_PER_REQUEST = 500
_BYTES_PER_REQUEST = 4 * 2**20


def read_messages(stream: IO[str]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a file of JSON lines.

    Raises:
        click.BadParameter: a line is no JSON object; names it.
    """
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            raise click.BadParameter(f"line {number} is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise click.BadParameter(f"line {number} is not a JSON object")
        yield message


def portions(messages: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Split messages into requests of bounded count and size."""
    for some in iter(lambda: list(islice(messages, _PER_REQUEST)), []):
        held: list[dict[str, Any]] = []
        size = 0
        for message in some:
            bytes_ = len(json.dumps(message))
            if held and size + bytes_ > _BYTES_PER_REQUEST:
                yield held
                held, size = [], 0
            held.append(message)
            size += bytes_
        yield held


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--user", "user_id", help="Whose memory the messages enter.")
@click.option("--group", "group_id", help="The group whose memory they enter.")
@click.option("--session", "session_id", help="The session they belong to.")
@click.option("--flush", is_flag=True, help="End the open episode: read everything now.")
@click.option("--wait/--no-wait", default=False, help="With --flush: return when it is in memory.")
@click.option("--timeout", type=float, help="Most seconds to wait.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def remember(
    context: Context, file: Path, user_id: str | None, group_id: str | None, session_id: str | None,
    flush: bool, wait: bool, timeout: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Remember the messages of FILE, one JSON object a line ("-": standard input).

    Each has sender_id, timestamp (milliseconds or ISO 8601), content, and perhaps message_id, sender_name and
    role. Sending a file again changes nothing.

    Exit codes: 0 all well, 1 error, 3 some stretches failed (with --wait).
    """
    if user_id is None and group_id is None:
        raise click.UsageError("name whose memory it is: --user or --group")
    if wait and not flush:
        raise click.UsageError("--wait goes with --flush: without it messages wait for more to come")
    named = {"user_id": user_id, "group_id": group_id, "session_id": session_id}
    owner = {key: value for key, value in named.items() if value}
    client = context.client()
    totals: Counter[str] = Counter()
    with click.open_file(str(file), encoding="utf-8") as stream:
        for some in portions(read_messages(stream)):
            answer = client.call("POST", "/api/v1/memories", json={**owner, "messages": some})
            totals.update({key: answer[key] for key in ("accepted", "updated", "unchanged")})
    result: dict[str, Any] = {key: totals[key] for key in ("accepted", "updated", "unchanged")}
    state = None
    if flush:
        result |= client.call("POST", "/api/v1/memories/flush", json=owner)
        if wait and result["batch_id"]:
            state = result["batch"] = wait_for(client, result["batch_id"], timeout)
    if as_json:
        print_json(result)
    else:
        out.print(", ".join(f"{totals[key]} {key}" for key in ("accepted", "updated", "unchanged")))
        if not flush and totals["accepted"] + totals["updated"]:
            out.print("Answers show them as they are until the talk has paused; --flush reads them now.")
        if state is not None:
            show_batch(state)
    if state is not None and any(row.get("error") for row in state["documents"]):
        sys.exit(Exit.SOME_FAILED)
