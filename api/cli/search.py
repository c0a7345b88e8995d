"""`strata search`."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import click

from api.cli.console import out, print_json
from api.cli.state import Context

_ENTRIES = 3  # of a profile
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
    for episode in answer["episodes"]:
        out.print(f"[bold blue]{episode['score']:.2f}[/]  [bold]episode[/] ", end="")
        out.print(f"{episode['title']}: {shorten(episode['summary'], _SUMMARY)}", markup=False)
        out.print(f"      {episode['document']['name']}", style="dim", markup=False)
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


@click.command()
@click.argument("query")
@click.option("--user", "user_id", help="Whose memory to search.")
@click.option("--group", "group_id", help="The group whose memory to search.")
@click.option("--method", type=click.Choice(["keyword", "vector", "hybrid", "agentic"]), default="hybrid")
@click.option("--top-k", type=click.IntRange(1, 100), default=5)
@click.option("--trace", is_flag=True, help="Ask why each hit stands where it stands.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.pass_obj
def search(
    context: Context, query: str, user_id: str | None, group_id: str | None, method: str, top_k: int,
    trace: bool, as_json: bool,
) -> None:  # fmt: skip
    """Ask a question."""
    named = {"user_id": user_id, "group_id": group_id}
    body = {
        "query": query,
        "method": method,
        "top_k": top_k,
        "filters": {key: value for key, value in named.items() if value},
        "include": ["trace"] if trace else [],
    }
    answer = context.client().call("POST", "/api/v1/memories/search", json=body)
    if as_json:
        print_json(answer)
    else:
        show_answer(answer)
