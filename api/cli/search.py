"""`strata search`."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import click

from api.cli.client import ServerError
from api.cli.console import out, print_json
from api.cli.state import Context
from api.cli.wording import table_said

_ENTRIES = 3  # of a profile
_WHOSE = "name whose memory to search: --user or --group"
_SUMMARY = 160  # characters of a summary shown on a terminal


def show_answer(answer: dict[str, Any]) -> None:
    """Print an answer for people: facts with their places first, then episodes."""
    if answer.get("relevant") is False and (answer["facts"] or answer["episodes"]):
        out.print("Nothing relevant found; this is the nearest there is.", style="yellow")
    for fact in answer["facts"]:
        place = ", ".join(anchor["label"] for anchor in fact["anchors"][:2])
        out.print(f"[bold green]{fact['score']:.2f}[/]  ", end="")
        out.print(fact["atomic_fact"], markup=False)
        out.print(f"      {fact['document']['name']} · {place}", style="dim", markup=False)
        _show_trace(fact)
    for episode in answer["episodes"]:
        out.print(f"[bold blue]{episode['score']:.2f}[/]  [bold]episode[/] ", end="")
        out.print(f"{episode['title']}: {shorten(episode['summary'], _SUMMARY)}", markup=False)
        out.print(f"      {episode['document']['name']}", style="dim", markup=False)
        _show_trace(episode)
    for who in answer["profiles"]:
        for entry in (*who["attributes"], *who["preferences"])[:_ENTRIES]:
            out.print("[bold magenta]known[/] ", end="")
            out.print(f"{who['subject']}: {shorten(entry['text'], _SUMMARY)}", markup=False)
    for message in answer["raw_messages"]:
        said = f"{message['sender_name'] or message['sender_id']}: {shorten(message['content'], _SUMMARY)}"
        out.print(f"[bold yellow]new[/]   {message['timestamp']}  ", end="")
        out.print(said, markup=False)
    for part in answer.get("degraded", []):
        out.print(f"degraded: {part['part']}: {part['reason']}", style="yellow", markup=False)
    if not answer["facts"] and not answer["episodes"] and not answer["raw_messages"]:
        out.print("Nothing found.")
    _show_course(answer.get("trace"))


def _show_course(trace: dict[str, Any] | None) -> None:
    if trace is None:
        return
    parts = {name: value for name, value in trace.items() if name not in ("lanes", "agentic")}
    out.print(f"search: {table_said(parts)}", style="dim", markup=False)
    for row in (*trace["lanes"], *(trace["agentic"] or ())):
        out.print(f"        {table_said(row)}", style="dim", markup=False)


def _show_trace(hit: dict[str, Any]) -> None:
    if trace := hit.get("trace"):
        out.print(f"      why: {table_said(trace)}", style="dim", markup=False)


@click.command()
@click.argument("query")
@click.option("--user", "user_id", help="Whose memory to search.")
@click.option("--group", "group_id", help="The group whose memory to search.")
@click.option("--method", type=click.Choice(["keyword", "vector", "hybrid", "agentic"]), default="hybrid")
@click.option("--top-k", type=click.IntRange(1, 100), default=5)
@click.option(
    "--trace", is_flag=True, help="Show why each hit stands where it stands, and how the search went."
)
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.pass_obj
def search(
    context: Context, query: str, user_id: str | None, group_id: str | None, method: str, top_k: int,
    trace: bool, as_json: bool,
) -> None:  # fmt: skip
    """Ask a question."""
    # A key of one's own may be bound to a memory; the local server's is not.
    if user_id is None and group_id is None and not context.environ.get("STRATA_API_KEY"):
        raise click.UsageError(_WHOSE)
    named = {"user_id": user_id, "group_id": group_id}
    body = {
        "query": query,
        "method": method,
        "top_k": top_k,
        "filters": {key: value for key, value in named.items() if value},
        "include": ["trace"] if trace else [],
    }
    client = context.client()
    try:
        answer = client.call("POST", "/api/v1/memories/search", json=body)
    except ServerError as error:
        if "user_id or group_id is required" in error.detail:
            raise click.UsageError(_WHOSE) from error
        raise
    if as_json:
        print_json(answer)
    else:
        show_answer(answer)
