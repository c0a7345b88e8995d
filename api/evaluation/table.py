"""The report as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table

from retrieval.evaluation.judging import Level
from retrieval.evaluation.report import ConfigurationReport, EvaluationReport, SetReport
from retrieval.evaluation.tally import ALL

_EVIDENCE = ("recall@5", "recall@10", "hit@5", "mrr@10", "ndcg@10", "all@10")
_WIDE = 160
_EPISODE = ("recall@5", "mrr@10")


def tables(report: EvaluationReport, width: int) -> Iterator[Table]:
    """Yield the tables of each set: configurations, types of questions, and what answers cost.

    Args:
        report: what was measured.
        width: of the page in characters; intervals are shown where it is wide enough.
    """
    for one in report.sets:
        yield _main(one, sure=width >= _WIDE)
        yield _by_type(one, "recall@5")
        yield _rest(one)


def _main(one: SetReport, *, sure: bool) -> Table:
    title = f"{one.name}: {one.questions} questions, searched in {one.scope}"
    names = ["configuration", *_EVIDENCE, *(f"episode {name}" for name in _EPISODE)]
    return _table(title, names, (_main_row(own, sure=sure) for own in one.configurations))


def _main_row(own: ConfigurationReport, *, sure: bool) -> list[str]:
    figures = [(Level.EVIDENCE, name) for name in _EVIDENCE] + [(Level.EPISODE, name) for name in _EPISODE]
    cells = []
    for level, name in figures:
        value = own.levels[level][ALL].values[name]
        interval = f" {_short(value.low)}–{_short(value.high)}" if sure else ""
        cells.append(f"{_short(value.mean)}{interval}")
    return [own.name, *cells]


def _by_type(one: SetReport, measure: str) -> Table:
    kinds = list(one.configurations[0].levels[Level.EVIDENCE])
    counts = one.configurations[0].levels[Level.EVIDENCE]
    names = ["configuration", *(f"{kind} ({counts[kind].questions})" for kind in kinds)]
    rows = (
        [own.name, *(_short(own.levels[Level.EVIDENCE][kind].values[measure].mean) for kind in kinds)]
        for own in one.configurations
    )
    return _table(f"{one.name}: evidence {measure} by type", names, rows)


def _rest(one: SetReport) -> Table:
    groups = sorted({group for own in one.configurations for group in own.abstention})
    names = [
        "configuration", "characters@5", "tokens@5", "hit, equal context", "recall, equal context",
        "p50 ms", "p95 ms", *(f"AUROC {group}" for group in groups),
    ]  # fmt: skip
    encode = "".join(f", {name} {value:.0f} ms" for name, value in one.encode_ms.items())
    title = f"{one.name}: size, time{f' (encoding the question{encode} more)' if encode else ''}, abstention"
    return _table(title, names, (_rest_row(own, groups) for own in one.configurations))


def _rest_row(own: ConfigurationReport, groups: Iterable[str]) -> list[str]:
    equal = own.equal_context.figures[ALL].values if own.equal_context else None
    return [
        own.name,
        f"{own.context.characters.get('5', 0):.0f}",
        f"{own.context.tokens.get('5', 0):.0f}",
        *((_short(equal[name].mean) if equal else "–") for name in ("hit", "recall")),
        *(f"{own.latency_ms.get(name, 0):.0f}" for name in ("p50", "p95")),
        *(_short(own.abstention[group].auroc) if group in own.abstention else "–" for group in groups),
    ]


def _table(title: str, names: Iterable[str], rows: Iterable[list[str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in names:
        table.add_column(name, justify="left" if name == "configuration" else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if 0 <= value < 1 else f"{value:.3f}"
