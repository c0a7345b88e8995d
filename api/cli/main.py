"""The `strata` command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

import click

from api.cli.console import fail
from api.cli.state import Context
from ingest.errors import StrataError
from workers.settings import Settings

# Named, not imported: a command that only asks the server need not wait for the parts of the others.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "serve": "serve:serve",
        "stop": "serve:stop",
        "ingest": "files:ingest",
        "status": "files:status",
        "documents": "documents:documents",
        "delete": "documents:delete",
        "budget": "budget:budget",
        "remember": "remember:remember",
        "search": "search:search",
        "parse": "parse:parse",
        "demo": "demo:demo",
        "keys": "keys:keys",
        "migrate": "upkeep:migrate",
        "doctor": "upkeep:doctor",
        "eval": "evaluate:evaluate_command",
        "fit-fusion": "fit:fit_fusion",
    }
)


class _Group(click.Group):
    """Loads a command when it is asked for; turns our errors into a sentence, a next step and exit code 1."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, or None when there is none of this name."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"api.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> object:
        """Run the chosen command."""
        try:
            return super().invoke(context)
        except StrataError as error:
            fail(error, as_json=context.invoked_subcommand == "parse")


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="strata-memory")
@click.pass_context
def main(context: click.Context) -> None:
    """Layered memory for documents and conversations.

    Settings come from the environment; deploy/env.example lists them.
    """
    environ = dict(os.environ)
    context.obj = Context(settings=Settings.from_env(environ), environ=environ)


if __name__ == "__main__":
    main()
