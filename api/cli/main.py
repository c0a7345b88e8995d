"""The `strata` command."""

from __future__ import annotations

import os

import click

from api.cli import budget, demo, evaluate, files, fit, keys, parse, remember, search, serve, upkeep
from api.cli.console import fail
from api.cli.state import Context
from ingest.errors import StrataError
from workers.settings import Settings


class _Group(click.Group):
    """Turns our errors into a sentence, a next step and exit code 1."""

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


COMMANDS = (
    serve.serve,
    serve.stop,
    files.ingest,
    files.status,
    budget.budget,
    remember.remember,
    search.search,
    parse.parse,
    demo.demo,
    keys.keys,
    upkeep.migrate,
    upkeep.doctor,
    evaluate.evaluate_command,
    fit.fit_fusion,
)
for command in COMMANDS:
    main.add_command(command)

if __name__ == "__main__":
    main()
