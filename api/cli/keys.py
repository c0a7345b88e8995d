"""`strata keys`: make, list and revoke API keys, straight in the ledger."""

from __future__ import annotations

import click

from api.auth import Scope
from api.cli.console import out, print_json
from api.cli.state import Context
from api.wiring import open_ledger


@click.group()
def keys() -> None:
    """Make, list and revoke API keys."""


@keys.command()
@click.argument("name")
@click.option("--tenant", default="default", show_default=True)
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.WRITE.value,
    show_default=True,
)
@click.option("--user", "user_id", help="Bind the key to this user.")
@click.option("--group", "group_id", help="Bind the key to this group.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def create(
    context: Context,
    name: str,
    tenant: str,
    scope: str,
    user_id: str | None,
    group_id: str | None,
    as_json: bool,
) -> None:
    """Make a key called NAME and print it; it is shown this once and kept only as a hash."""
    secret, key = open_ledger(context.settings).keys.create(
        name, tenant, (scope,), user_id=user_id, group_id=group_id
    )
    if as_json:
        print_json({"key": secret, **key.model_dump(mode="json")})
    else:
        out.print(secret, markup=False)


@keys.command("list")
@click.option("--tenant", default="default", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_keys(context: Context, tenant: str, as_json: bool) -> None:
    """List the keys, without their secrets."""
    found = open_ledger(context.settings).keys.list(tenant)
    if as_json:
        print_json([key.model_dump(mode="json") for key in found])
        return
    for key in found:
        bound = key.user_id or key.group_id or "everyone"
        state = "revoked" if key.revoked_at else "active"
        out.print(
            f"{key.id}  {key.name}  {key.tenant}  {bound}  {','.join(key.scopes)}  {state}", markup=False
        )


@keys.command()
@click.argument("key_id")
@click.option("--tenant", default="default", show_default=True)
@click.pass_obj
def revoke(context: Context, key_id: str, tenant: str) -> None:
    """Make the key KEY_ID useless."""
    open_ledger(context.settings).keys.revoke(tenant, key_id)
    out.print("Revoked.")
