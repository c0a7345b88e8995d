"""`strata budget`: what a batch may cost."""

from __future__ import annotations

import click

from api.cli.client import under
from api.cli.console import print_json
from api.cli.files import show_batch
from api.cli.state import Context


@click.command()
@click.argument("batch_id")
@click.option("--price", type=click.FloatRange(min=0), default=0.0, help="Most it may cost; 0: no bound.")
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="The same in tokens; 0: no bound.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def budget(context: Context, batch_id: str, price: float, tokens: int, as_json: bool) -> None:
    """Set what BATCH_ID may cost; work that waits for it goes on by itself."""
    asked = {"budget": price, "budget_tokens": tokens}
    state = context.running_client().call("PUT", under("batches", batch_id, "budget"), json=asked)
    if as_json:
        print_json(state)
    else:
        show_batch(state)
