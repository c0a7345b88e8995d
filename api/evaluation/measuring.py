"""Ask every question of a set in every configuration and judge what comes back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from api.evaluation.configurations import BASELINE, DEFAULT, Configuration
from api.evaluation.search import Ask, Found
from retrieval.evaluation.judging import Hit, Level, gold_of, measure, ranking, within
from retrieval.evaluation.metrics import auroc
from retrieval.evaluation.report import Abstention, ConfigurationReport, Context, EqualContext
from retrieval.evaluation.sets import Question
from retrieval.evaluation.tally import Tally, spread

# The budget of the comparison at equal context: what the default returns in its first hits.
_BUDGET_HITS = 5
_SHOWN = ("recall@5", "recall@10", "mrr@10", "ndcg@10", "hit@5")


class Rules(NamedTuple):
    """How answers are judged.

    Attributes:
        cutoffs: the k of Recall@k and so on, ascending, 5 and 10 among them.
        units: the episode (or document) of each passage.
        seed: of the bootstrap.
    """

    cutoffs: tuple[int, ...]
    units: Mapping[str, str]
    seed: int


class _Course:
    """What one configuration has answered so far."""

    def __init__(self, rules: Rules) -> None:
        self.tally = Tally(seed=rules.seed)
        self.equal = Tally(seed=rules.seed)
        self.took: list[float] = []
        self.characters: list[list[int]] = []
        self.tokens: list[list[int]] = []
        self.top: dict[str, list[float]] = defaultdict(list)
        self.degraded: Counter[str] = Counter()
        self._rules = rules

    def judge(self, question: Question, found: Found, budget: int | None) -> None:
        """Take an answer to an answerable question."""
        units, cutoffs = self._rules.units, self._rules.cutoffs
        measured = {
            level: measure(ranking(found.hits, level, units), gold_of(question.gold, level, units), cutoffs)
            for level in Level
        }
        self.tally.add(question.kind, measured)
        self.took.append(found.took_ms)
        self.degraded.update(found.degraded)
        self.characters.append([sum(hit.characters for hit in found.hits[:k]) for k in cutoffs])
        self.tokens.append([sum(hit.tokens for hit in found.hits[:k]) for k in cutoffs])
        self.top[""].append(_top(found.hits))
        if budget is not None:
            used = within(found.hits, question.gold, budget)
            self.equal.add(question.kind, {Level.EVIDENCE: used._asdict()})

    def report(self, set_name: str, one: Configuration, baseline: _Course | None) -> ConfigurationReport:
        """Return the figures."""
        ahead = self.tally.ahead_of(baseline.tally, Level.EVIDENCE) if baseline not in (None, self) else {}
        names = [str(k) for k in self._rules.cutoffs]
        means = [np.mean(rows, axis=0) if rows else [] for rows in (self.characters, self.tokens)]
        equal = self.equal.figures(Level.EVIDENCE)
        return ConfigurationReport(
            set_name=set_name,
            name=one.name,
            about=one.about,
            levels={level: self.tally.figures(level) for level in Level},
            ahead=ahead,
            context=Context(
                characters=dict(zip(names, map(float, means[0]), strict=False)),
                tokens=dict(zip(names, map(float, means[1]), strict=False)),
            ),
            equal_context=EqualContext(budget_of=DEFAULT, hits=_BUDGET_HITS, figures=equal)
            if equal
            else None,
            latency_ms=spread(self.took),
            abstention=self._abstention(),
            degraded=dict(self.degraded),
        )

    def _abstention(self) -> dict[str, Abstention]:
        answerable = self.top[""]
        if not answerable:
            return {}
        return {
            group: Abstention(
                auroc=auroc(answerable, scores),
                questions=len(scores),
                score_p50=float(np.median(scores)),
                answerable_p50=float(np.median(answerable)),
            )
            for group, scores in self.top.items()
            if group
        }


def measure_all(
    set_name: str,
    asks: Sequence[tuple[Configuration, Ask]],
    questions: Sequence[Question],
    negatives: Iterable[Question],
    rules: Rules,
    between: Callable[[], None],
) -> list[ConfigurationReport]:
    """Ask everything and return the report of each configuration.

    Args:
        set_name: for the report.
        asks: configurations and how each is asked.
        questions: answerable ones.
        negatives: questions without an answer; their kinds are told apart.
        rules: how answers are judged.
        between: called before each question.
    """
    courses = {one.name: _Course(rules) for one, _ in asks}
    for question in questions:
        between()
        found = {one.name: ask(question) for one, ask in asks}
        budget = None
        if DEFAULT in found:
            budget = sum(hit.characters for hit in found[DEFAULT].hits[:_BUDGET_HITS])
        for name, course in courses.items():
            course.judge(question, found[name], budget)
    for negative in negatives:
        between()
        for one, ask in asks:
            courses[one.name].top[negative.kind].append(_top(ask(negative).hits))
    return [courses[one.name].report(set_name, one, courses.get(BASELINE)) for one, _ in asks]


def _top(hits: Sequence[Hit]) -> float:
    return hits[0].score if hits else 0.0
