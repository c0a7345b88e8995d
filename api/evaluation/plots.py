"""The report as pictures."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from api.evaluation.errors import Unavailable
from retrieval.evaluation.judging import Level
from retrieval.evaluation.report import EvaluationReport, SetReport
from retrieval.evaluation.tally import ALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = ("recall@5", "recall@10", "mrr@10")


def draw(report: EvaluationReport, folder: Path) -> list[Path]:
    """Draw each set's figures into PNG files and return them.

    Args:
        report: what was measured.
        folder: where the files go; it exists.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise Unavailable(
            "Plots need matplotlib, which is not installed.",
            next_step="Install it with `pip install 'strata-memory[plots]'`.",
        ) from error
    # No screen is needed, and none must be looked for.
    pyplot.switch_backend("agg")
    made = []
    for one in report.sets:
        for name, drawn in (("measures", _measures), ("types", _types), ("context", _context)):
            figure = drawn(pyplot, one)
            path = folder / f"{one.name}-{name}.png"
            figure.savefig(path, dpi=120)
            pyplot.close(figure)
            made.append(path)
    return made


def _measures(pyplot: ModuleType, one: SetReport) -> Figure:
    """Evidence measures of every configuration with their intervals."""
    height = 1.0 + 0.42 * len(one.configurations)
    figure: Figure
    figure, axes = pyplot.subplots(1, len(_MEASURES), figsize=(13, height), sharey=True, layout="constrained")
    names = [own.name for own in one.configurations][::-1]
    for axis, measure in zip(axes, _MEASURES, strict=True):
        values = [own.levels[Level.EVIDENCE][ALL].values[measure] for own in one.configurations][::-1]
        means = [value.mean for value in values]
        reach = [[v.mean - v.low for v in values], [v.high - v.mean for v in values]]
        axis.barh(names, means, xerr=reach, color="#4477aa", ecolor="#222222", capsize=2)
        axis.set_xlim(0, 1)
        axis.set_title(measure)
        axis.grid(axis="x", alpha=0.3)
    figure.suptitle(f"{one.name}: evidence, {one.questions} questions, 95 % intervals")
    return figure


def _types(pyplot: ModuleType, one: SetReport) -> Figure:
    """Recall@5 by type of question."""
    kinds = list(one.configurations[0].levels[Level.EVIDENCE])
    figure: Figure
    figure, axis = pyplot.subplots(figsize=(12, 4.5), layout="constrained")
    width = 0.8 / len(one.configurations)
    for at, own in enumerate(one.configurations):
        means = [own.levels[Level.EVIDENCE][kind].values["recall@5"].mean for kind in kinds]
        axis.bar([place + at * width for place in range(len(kinds))], means, width, label=own.name)
    axis.set_xticks([place + 0.4 - width / 2 for place in range(len(kinds))], kinds)
    axis.set_ylim(0, 1)
    axis.set_title(f"{one.name}: evidence recall@5 by type of question")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=7, ncols=2, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _context(pyplot: ModuleType, one: SetReport) -> Figure:
    """What an answer costs to read against what it holds, at each cut-off."""
    figure: Figure
    figure, axis = pyplot.subplots(figsize=(10, 6), layout="constrained")
    for own in one.configurations:
        sizes = list(own.context.characters.values())
        found = [own.levels[Level.EVIDENCE][ALL].values[f"recall@{k}"].mean for k in own.context.characters]
        axis.plot(sizes, found, marker="o", markersize=3, label=own.name)
    axis.set_xscale("log")
    axis.set_ylim(0, 1)
    axis.set_xlabel("characters returned")
    axis.set_ylabel("evidence recall")
    axis.set_title(f"{one.name}: recall against the size of what is returned")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
