"""`strata serve` and `strata stop`."""

from __future__ import annotations

import click
import psutil

from api.cli.console import out
from api.cli.server import alive, start_detached
from api.cli.state import Context
from api.launcher.children import end_leftovers
from api.launcher.home import Home
from api.launcher.serve import serve as run_server

_STOP_S = 60.0


@click.command()
@click.option("--detach", is_flag=True, help="Start in the background and return when it is ready.")
@click.pass_obj
def serve(context: Context, detach: bool) -> None:
    """Run the whole of Strata on this machine: store, broker, worker and API."""
    settings, environ = context.settings, context.environ
    home = Home(settings)
    if detach:
        out.print(f"Strata is ready at {start_detached(settings, environ).url}  (stop: strata stop)")
        return

    def tell(url: str) -> None:
        out.print(f"Strata is ready at {url}")
        out.print(f"  API docs   {url}/docs")
        out.print(f"  API key    in {home.key_file} (the strata command finds it by itself)")
        out.print("  Stop       Ctrl-C, or `strata stop`")

    run_server(settings, environ, tell)


@click.command()
@click.pass_obj
def stop(context: Context) -> None:
    """Stop the server running on STRATA_HOME."""
    home = Home(context.settings)
    running = home.server()
    if running is None:
        out.print("Nothing is running.")
        return
    if alive(running.launcher):
        process = psutil.Process(running.launcher.pid)
        process.terminate()
        try:
            process.wait(timeout=_STOP_S)
        except psutil.TimeoutExpired:
            process.kill()
    end_leftovers(running.children)
    home.forget_server()
    out.print("Stopped.")
