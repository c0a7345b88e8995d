"""`strata documents` and `strata delete`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from api.cli.client import Client, under
from api.cli.console import out, print_json
from api.cli.state import Context

_PAGE = 100


def listed(client: Client, narrow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield documents, newest first, page by page."""
    cursor: str | None = None
    while True:
        asked = {**narrow, "limit": _PAGE, **({"cursor": cursor} if cursor else {})}
        page = client.call("GET", "/api/v1/documents", params=asked)
        yield from page["documents"]
        cursor = page["cursor"]
        if cursor is None:
            return


@click.command()
@click.option("--user", "user_id", help="Only the documents of this user.")
@click.option("--group", "group_id", help="Only the documents of this group.")
@click.option("--status", help="Only those in this state, for example ready or failed.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Most to list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def documents(
    context: Context, user_id: str | None, group_id: str | None, status: str | None, limit: int, as_json: bool
) -> None:
    """List documents, newest first."""
    named = {"user_id": user_id, "group_id": group_id, "status": status}
    narrow = {key: value for key, value in named.items() if value}
    found = list(islice(listed(context.running_client(), narrow), limit + 1))
    if as_json:
        return print_json({"documents": found[:limit], "has_more": len(found) > limit})
    # Lines, not a table: an id that is cut to fit the terminal is of no use.
    for one in found[:limit]:
        whose = " / ".join(name for name in (one["user_id"], one["group_id"]) if name)
        numbers = f"{one['status']:<10} {one['facts']:>6} facts  {one['received_at'][:19]}"
        newer = f"  (superseded by {one['superseded_by']})" if one["superseded_by"] else ""
        out.print(f"{one['id']}  {numbers}  {whose}  {one['name']}{newer}", markup=False)
    if not found:
        out.print("There are no documents.")
    if len(found) > limit:
        out.print("There are more: raise --limit.")


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def delete(context: Context, ids: tuple[str, ...], as_json: bool) -> None:
    """Delete documents by their ids, with all that came of them.

    They are out of every answer at once; what was found inside them goes with them. An older version that a
    deleted one had superseded does not come back by itself: hand it in again. `strata documents` lists the
    ids. An unknown id ends the command; what stands before it is deleted.
    """
    client = context.running_client()
    gone = [client.call("DELETE", under("documents", one)) for one in ids]
    if as_json:
        print_json(gone)
    else:
        out.print(f"Deleted: {sum(one['documents'] for one in gone)}, what was found inside them included.")
