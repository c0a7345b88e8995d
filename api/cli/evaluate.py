"""`strata eval`."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from api.cli.client import Address, Client
from api.cli.console import err, out, print_json
from api.cli.state import Context

if TYPE_CHECKING:
    from retrieval.evaluation.report import EvaluationReport

_WIDTH = 200


def _split(_context: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _cutoffs(context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in _split(context, option, value))
    except ValueError as error:
        raise click.BadParameter("numbers divided by commas, such as 1,5,10") from error
    if any(not 1 <= k <= 100 for k in found):
        raise click.BadParameter("each from 1 to 100")
    return found


@click.command(name="eval")
@click.argument("folders", metavar="DIR...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--sets", callback=_split, default="", help="Only these sets, divided by commas.")
@click.option("--configs", callback=_split, default="", help="Only these configurations, divided by commas.")
@click.option("--limit", type=click.IntRange(1), help="So many questions per set, spread evenly.")
@click.option("--talks", type=click.IntRange(1), help="So many talks of a set of talks, spread evenly.")
@click.option("--k", "cutoffs", callback=_cutoffs, default="1,3,5,10", help="Cut-offs; 5 and 10 are added.")
@click.option("--seed", type=int, default=0, help="Of the sample and of the bootstrap.")
@click.option(
    "--out", "out_dir", type=click.Path(path_type=Path), help="Folder for the report and its plots."
)
@click.option("--workdir", type=click.Path(path_type=Path), help="Keep memories and vectors here.")
@click.option("--reuse", is_flag=True, help="Use what stands in the workdir instead of taking it in again.")
@click.option(
    "--cross-fit",
    "folds",
    is_flag=False,
    flag_value="5",
    type=click.IntRange(2, 20),
    help="Also rank by weights fitted without the conversation asked, in so many folds (5).",
)
@click.option("--url", help="Measure the server there (key in STRATA_API_KEY).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@click.option("--list", "listing", is_flag=True, help="List the configurations and end.")
@click.pass_obj
def evaluate_command(
    context: Context, folders: tuple[Path, ...], sets: tuple[str, ...], configs: tuple[str, ...],
    limit: int | None, talks: int | None, cutoffs: tuple[int, ...], seed: int, out_dir: Path | None,
    workdir: Path | None, reuse: bool, folds: int | None, url: str | None, as_json: bool, listing: bool,
) -> None:  # fmt: skip
    """Measure search on question sets, beside the baselines and with parts left out.

    DIR is a set (docs.jsonl, queries.jsonl, qrels.jsonl) or a folder of sets. Everything runs in a folder of
    its own with the encoder and the knobs of the settings; your memory is not touched. With --url a server is
    measured instead: sets are taken in under users named eval-…, and what only its settings could change is
    left out.
    """
    # Imported here: the other commands should not wait for what only this one needs.
    from api.evaluation.configurations import ALL, Means, chosen
    from api.evaluation.course import Course
    from api.evaluation.place import here, there
    from api.evaluation.run import evaluate
    from api.evaluation.sets import find_sets
    from api.evaluation.table import tables

    if listing:
        for one in ALL:
            out.print(f"{one.name:15} {one.about}", markup=False)
        return
    if not folders:
        raise click.UsageError("Name a question set, or a folder of question sets.")
    if reuse and workdir is None and url is None:
        raise click.UsageError("--reuse needs --workdir or --url: without them nothing is kept.")
    reranks = context.settings.rerank.by != "off"
    means = Means(remote=url is not None, crossed=folds is not None, reranks=reranks)
    configurations = tuple(chosen(configs, means))
    found = find_sets(folders, sets)
    with ExitStack() as held:
        if workdir is None:
            workdir = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="strata-eval-")))
        course = Course(configurations, cutoffs, limit, talks, seed, workdir.absolute(), reuse, folds or 0)
        if url is None:
            opened = here(context.settings, course.workdir, context.environ)
        else:
            key = context.environ.get("STRATA_API_KEY")
            opened = there(Client(Address(url.rstrip("/"), key)), context.settings, course.workdir)
        report = evaluate(found, course, opened, context.settings.extractor, _say)
    if as_json:
        print_json(report.public())
    else:
        page = out if out.is_terminal else Console(width=_WIDTH)
        for table in tables(report, page.width):
            page.print(table)
    if out_dir is not None:
        _keep(report, out_dir)


def _say(line: str) -> None:
    err.print(line, style="dim", markup=False)


def _keep(report: EvaluationReport, folder: Path) -> None:
    from api.evaluation.plots import draw
    from api.evaluation.table import tables

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report.public(), ensure_ascii=False, indent=2)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "report.txt").open("w", encoding="utf-8") as file:
        page = Console(file=file, width=_WIDTH)
        for table in tables(report, _WIDTH):
            page.print(table)
    for path in draw(report, folder):
        _say(f"wrote {path}")
