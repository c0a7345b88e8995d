"""`strata ingest` and `strata status`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from api.cli.client import Client, LocalFile, ServerError, under
from api.cli.console import Exit, err, out, print_json
from api.cli.state import Context
from api.cli.wording import said

_FILES_PER_REQUEST = 50
_BYTES_PER_REQUEST = 64 * 2**20
_FINAL = {"ready", "failed", "cancelled"}


def collect(paths: Iterable[Path]) -> Iterator[LocalFile]:
    """Yield the files below these paths, named by their path below the one given; dot files are skipped."""
    for path in paths:
        if path.is_file():
            yield LocalFile(path, _sayable(path.name))
            continue
        for found in sorted(path.rglob("*")):
            below = found.relative_to(path)
            if found.is_file() and not any(part.startswith(".") for part in below.parts):
                yield LocalFile(found, _sayable(below.as_posix()))


def _sayable(name: str) -> str:
    """Return a name that can be sent: bytes of it that are no UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")


def portions(files: Sequence[LocalFile]) -> Iterator[list[LocalFile]]:
    """Split files into requests of bounded count and size; a larger file goes alone."""
    held: list[LocalFile] = []
    size = 0
    for file in files:
        bytes_ = file.path.stat().st_size
        if held and (len(held) >= _FILES_PER_REQUEST or size + bytes_ > _BYTES_PER_REQUEST):
            yield held
            held, size = [], 0
        held.append(file)
        size += bytes_
    if held:
        yield held


def hand_in(
    client: Client, files: Sequence[LocalFile], fields: dict[str, str]
) -> tuple[str, list[dict[str, Any]]]:
    """Upload all files as one batch; return its id and a row per file."""
    batch_id: str | None = None
    rows: list[dict[str, Any]] = []
    with Progress(
        TextColumn("uploading"), BarColumn(), MofNCompleteColumn(), console=err, transient=True
    ) as bar:
        task = bar.add_task("upload", total=len(files))
        for portion in portions(files):
            answer = client.upload(portion, fields, batch_id)
            batch_id = answer["batch_id"]
            # The first request has made the batch with its budget.
            fields = {name: value for name, value in fields.items() if not name.startswith("budget")}
            rows += answer["documents"]
            bar.advance(task, len(portion))
    return str(batch_id), rows


def wait_for(client: Client, batch_id: str, timeout_s: float | None) -> dict[str, Any]:
    """Show the progress of a batch until it is done; return its last state."""
    state: dict[str, Any] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        for state in client.follow(batch_id, timeout_s):
            busy = ", ".join(f"{n} {name}" for name, n in state["counts"].items() if name not in _FINAL and n)
            put_off = "".join(f"; {len(rows)} wait ({code})" for code, rows in put_off_rows(state).items())
            shown = (busy or "done") + put_off
            bar.update(task, total=state["total"], completed=state["finished"], description=shown)
    return state


def put_off_rows(state: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the documents of a batch that are put off, by the code of what they wait for."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in state["documents"]:
        if row["waiting"]:
            found.setdefault(row["waiting"]["code"], []).append(row)
    return found


def usage_line(spent: dict[str, Any]) -> str:
    """Return what models cost in one line; empty when none was asked."""
    if not spent["calls"] and not spent["cached"]:
        return ""
    words = [f"{spent['calls']} model calls ({spent['cached']} more cached, {spent['failed']} failed)"]
    words.append(f"{spent['prompt_tokens']:,} tokens in, {spent['completion_tokens']:,} out")
    if spent["price"]:
        words.append(f"price {spent['price']:g}")
    return ", ".join(words)


def show_batch(state: dict[str, Any]) -> None:
    """Print a batch for people: counts, and every file that failed with what to do."""
    counts = Counter(state["counts"])
    out.print(f"{state['total']} documents: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n))
    for code, rows in put_off_rows(state).items():
        told = rows[0]["waiting"]
        out.print(f"{len(rows)} wait ({code}): {told['detail']} {told['next_step']}", markup=False)
    if cost := usage_line(state["usage"]):
        out.print(cost, markup=False)
    doubled = [row["filename"] for row in state["documents"] if row.get("duplicate_of")]
    if doubled:
        more = f" and {len(doubled) - 3} more" if len(doubled) > 3 else ""
        out.print(f"there already, by content: {', '.join(doubled[:3])}{more}", markup=False)
    failed = [row for row in state["documents"] if row.get("error")]
    if failed:
        table = Table("file", "code", "what happened", "what to do", box=None, header_style="bold")
        for row in failed:
            error = row["error"]
            table.add_row(row["filename"], error["code"], error["detail"], error.get("next_step") or "")
        out.print(table)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--user", "user_id", help="Whose memory the files enter.")
@click.option("--group", "group_id", help="The group whose memory they enter.")
@click.option("--session", "session_id", help="The session they belong to.")
@click.option("--wait/--no-wait", default=False, help="Return when every file is ready or failed.")
@click.option("--replace", is_flag=True, help="Take the place of older files of the same name.")
@click.option("--budget", type=click.FloatRange(min=0), help="Most the models may cost; then the work waits.")
@click.option("--timeout", type=float, help="Most seconds to wait.")
@click.option(
    "--estimate", "only_estimate", is_flag=True, help="Tell what it would cost, and hand nothing in."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def ingest(
    context: Context,
    paths: tuple[Path, ...],
    user_id: str | None,
    group_id: str | None,
    session_id: str | None,
    wait: bool,
    replace: bool,
    budget: float | None,
    timeout: float | None,
    only_estimate: bool,
    as_json: bool,
) -> None:
    """Hand in files and folders.

    Exit codes: 0 all well, 1 error, 3 some files failed (with --wait).
    """
    if only_estimate:
        from api.cli.estimate import estimate, show_estimate

        found = estimate(list(collect(paths)), context.settings)
        return print_json(found) if as_json else show_estimate(found)
    if user_id is None and group_id is None:
        raise click.UsageError("name whose memory it is: --user or --group")
    named = {"user_id": user_id, "group_id": group_id, "session_id": session_id, "budget": budget}
    fields = {key: str(value) for key, value in named.items() if value}
    if replace:
        fields["replace"] = "true"
    files = list(collect(paths))
    if not files:
        raise click.UsageError("there are no files below these paths")
    client = context.client()
    batch_id, rows = hand_in(client, files, fields)
    if not wait:
        if as_json:
            print_json({"batch_id": batch_id, "documents": rows})
        else:
            out.print(f"{len(rows)} files accepted as batch {batch_id}\nLook with: strata status {batch_id}")
        return
    state = wait_for(client, batch_id, timeout)
    if as_json:
        print_json(state)
    else:
        show_batch(state)
    if any(row.get("error") for row in state["documents"]):
        sys.exit(Exit.SOME_FAILED)


def show_values(state: dict[str, Any]) -> None:
    """Print a document, or the numbers of the server, for people."""
    for key, value in state.items():
        if key != "usage":
            out.print(f"{key.replace('_', ' ')}: {said(value)}", markup=False)
    spent = state.get("usage") or {}
    for name, one in spent.items() if "calls" not in spent else [("in all", spent)]:
        if cost := usage_line(one):
            out.print(f"models, {name}: {cost}", markup=False)


def find_by_id(client: Client, ident: str) -> dict[str, Any]:
    """Return the document, or else the batch, with this id."""
    try:
        found: dict[str, Any] = client.call("GET", under("documents", ident))
    except ServerError as error:
        if error.code != "not_found":
            raise
        found = client.call("GET", under("batches", ident))
    return found


@click.command()
@click.argument("ident", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def status(context: Context, ident: str | None, as_json: bool) -> None:
    """Show a batch or a document by its id, or the server when none is given."""
    client = context.running_client()
    state = client.call("GET", "/api/v1/status") if ident is None else find_by_id(client, ident)
    if as_json:
        print_json(state)
    elif "batch_id" in state:
        show_batch(state)
    else:
        show_values(state)
