"""`strata migrate` and `strata doctor`."""

from __future__ import annotations

import sys

import click

from api.cli.console import Exit, out, print_json
from api.cli.state import Context
from workers.doctor import examine, repair


@click.command()
@click.pass_obj
def migrate(context: Context) -> None:
    """Bring the ledger's tables and the store's collections up to date; safe to repeat."""
    services = context.services()
    services.ledger.migrate()
    services.store.prepare()
    out.print("The ledger and the store are up to date.")


@click.command()
@click.option("--repair", "mend", is_flag=True, help="Remove orphans and read damaged documents anew.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def doctor(context: Context, mend: bool, as_json: bool) -> None:
    """Compare ledger, store, bytes and artifacts; exit 3 when something is wrong and was not put right."""
    services = context.services()
    found = examine(services)
    mended = [repair(services, finding) for finding in found.findings] if mend else []
    if as_json:
        print_json({**found.model_dump(mode="json"), "repaired": mended})
    else:
        states = ", ".join(f"{count} {state}" for state, count in found.states.items())
        out.print(f"documents: {states or 'none'}", markup=False)
        out.print(f"points: {found.episodes} episodes, {found.facts} facts; blobs: {found.blobs}")
        for finding in found.findings:
            out.print(f"{finding.trouble}  {finding.tenant} {finding.id}  {finding.detail}", markup=False)
        out.print("Nothing is wrong." if not found.findings else f"{sum(mended)} put right.")
    if len(found.findings) > sum(mended):
        sys.exit(Exit.SOME_FAILED)
