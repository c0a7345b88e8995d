"""`strata fit-fusion`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from api.cli.console import err, out, print_json
from api.cli.state import Context

if TYPE_CHECKING:
    from retrieval.fitting.validation import Validation
    from retrieval.protocols import Embedder, VectorStore

_WIDTH = 200


@click.command(name="fit-fusion")
@click.option(
    "--data", "folders", multiple=True, required=True, type=click.Path(exists=True, path_type=Path),
    help="A question set, or a folder of sets; may be given several times.",
)  # fmt: skip
@click.option("--out", "target", type=click.Path(path_type=Path), default=Path("fusion-weights.json"),
              show_default=True, help="The weights file to write.")  # fmt: skip
@click.option("--limit", type=click.IntRange(10), default=1000, show_default=True,
              help="Questions per set, spread evenly.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2, 20), default=5, show_default=True,
              help="Fits that judge questions they have not seen.")  # fmt: skip
@click.option("--workdir", type=click.Path(path_type=Path), help="Keep vectors here between runs.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON document.")
@click.pass_obj
def fit_fusion(
    context: Context, folders: tuple[Path, ...], target: Path, limit: int, folds: int, workdir: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Fit the ranking to question sets, for the encoder of the settings.

    Shows how flat fusion and the fitted ranking do on questions the fit has not seen, and writes the weights;
    name the file in MRAG_LR_WEIGHTS to use it. Needs scikit-learn (pip install 'strata-memory[fit]').
    """
    # Imported here: the other commands should not wait for what only this one needs.
    from api.evaluation.ground import ground
    from api.evaluation.sets import find_sets
    from retrieval.fitting.fit import fit_weights
    from retrieval.fitting.lessons import lessons
    from retrieval.fitting.validation import validate

    sets = find_sets(folders, ())
    with ExitStack() as held:
        folder = (
            workdir or Path(held.enter_context(tempfile.TemporaryDirectory(prefix="strata-fit-")))
        ).absolute()

        @contextmanager
        def room(name: str) -> Iterator[tuple[VectorStore, Embedder]]:
            with (
                tempfile.TemporaryDirectory(prefix=f"strata-fit-{name}-") as home,
                ground(context.settings, Path(home), folder / "vectors.sqlite", context.environ) as made,
            ):
                encoders.append(made.embedder.fingerprint)
                yield made.store, made.embedder

        encoders: list[str] = []
        known = lessons(room, sets, context.settings.mrag, limit, _say)
    found = validate(known, encoders[0], folds)
    weights = fit_weights(known, encoders[0])
    target.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json({"weights": str(target), "encoder": weights.encoder, **found.model_dump(mode="json")})
        return
    # Where no terminal says how wide it is, figures must not be cut to fit.
    page = out if out.is_terminal else Console(width=_WIDTH)
    page.print(_table(found))
    out.print(f"Weights for {weights.encoder} written to {target}.", markup=False)


def _say(line: str) -> None:
    err.print(line, style="dim", markup=False)


def _table(found: Validation) -> Table:
    table = Table(title=f"Flat fusion and the fitted ranking, {found.folds} fits on unseen questions")
    for name in ("set", "questions of type"):
        table.add_column(name)
    for name in ("n", "R@5", "fitted", "R@10", "fitted", "hit@5", "fitted", "MRR@10", "fitted"):
        table.add_column(name, justify="right")
    for row in found.rows:
        pairs = zip(row.before.model_dump().values(), row.after.model_dump().values(), strict=True)
        figures = [f"{value:.3f}" for pair in pairs for value in pair]
        table.add_row(row.set_name, row.kind, str(row.questions), *figures)
    told = ", ".join(f"{name} {value:.3f}" for name, value in found.auroc.items())
    table.caption = f"AUROC of the top score against questions about nothing in memory: {told or 'none'}"
    return table
