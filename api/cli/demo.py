"""`strata demo`: the whole thing on the sample files, with three questions and their answers."""

from __future__ import annotations

import sys
import time
from importlib.resources import as_file, files
from pathlib import Path

import click

from api.cli.console import Exit, out
from api.cli.files import collect, hand_in, show_batch, wait_for
from api.cli.search import show_answer
from api.cli.state import Context

USER = "demo"
QUESTIONS = (
    "what did we decide about the Q2 deadline?",
    "how long are patient letters kept?",
    "客户门户什么时候上线？",
    "Which budget item was approved on 12 March 2026 and how much is it?",
)
_WAIT_S = 150.0


@click.command()
@click.pass_obj
def demo(context: Context) -> None:
    """Start Strata, read the sample files and ask a few questions."""
    started = time.monotonic()
    client = context.client()
    out.print(f"Strata runs at {client.url}", style="bold")
    with as_file(files("api") / "samples") as folder:
        samples = list(collect([Path(folder)]))
        out.print(f"\nReading {len(samples)} sample files, English and Chinese, for the user '{USER}' ...")
        batch_id, _ = hand_in(client, samples, {"user_id": USER})
        state = wait_for(client, batch_id, _WAIT_S)
    show_batch(state)
    for question in QUESTIONS:
        out.print(f"\n> {question}", style="bold", markup=False)
        body = {"query": question, "top_k": 3, "filters": {"user_id": USER}}
        show_answer(client.call("POST", "/api/v1/memories/search", json=body))
    out.print(f"\nThat took {time.monotonic() - started:.0f} s. Strata keeps running:", style="bold")
    out.print(f'  ask more    strata search "who is on call in April?" --user {USER}')
    out.print("  your files  strata ingest FOLDER --user YOU --wait")
    out.print(f"  the API     {client.url}/docs")
    out.print("  stop        make stop, or strata stop   (the command lives in .venv/bin)")
    if any(row.get("error") for row in state["documents"]):
        sys.exit(Exit.SOME_FAILED)
