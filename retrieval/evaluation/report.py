"""The report of an evaluation, and its one JSON form."""

from __future__ import annotations

from pydantic import JsonValue

from ingest.anchors import Frozen
from retrieval.evaluation.judging import Level
from retrieval.evaluation.tally import ALL, Figures


class Context(Frozen):
    """How much text an answer returns, on average, at each cut-off."""

    characters: dict[str, float]
    tokens: dict[str, float]


class EqualContext(Frozen):
    """A list read only as far as it returns no more text than another configuration's first hits.

    Attributes:
        budget_of: that configuration.
        hits: its first so many hits make the budget.
        figures: by type of question: recall and hit within the budget, and the characters used.
    """

    budget_of: str
    hits: int
    figures: dict[str, Figures]


class Abstention(Frozen):
    """Whether the top score tells questions that memory answers from those it does not.

    Attributes:
        auroc: 1 when every answerable question scores above every other one, 0.5 for chance.
        questions: how many of this group were asked.
        score_p50, answerable_p50: median top scores.
    """

    auroc: float
    questions: int
    score_p50: float
    answerable_p50: float


class ConfigurationReport(Frozen):
    """One configuration on one set.

    Attributes:
        levels: figures by level and type of question.
        ahead: by how much evidence measures are ahead of the flat baseline, paired, by type.
        latency_ms: p50 and p95; without encoding the question where ``encode_ms`` of the set tells that.
        abstention: by group of questions that have no answer.
        degraded: answers for which a part did not work, by part.
    """

    set_name: str
    name: str
    about: str
    levels: dict[Level, dict[str, Figures]]
    ahead: dict[str, Figures]
    context: Context
    equal_context: EqualContext | None
    latency_ms: dict[str, float]
    abstention: dict[str, Abstention]
    degraded: dict[str, int]

    def public(self) -> dict[str, JsonValue]:
        """Return the JSON form; the evidence figures over all questions stand at the top too."""
        at_level: dict[str, JsonValue] = {
            level: {kind: one.public() for kind, one in kinds.items()} for level, kinds in self.levels.items()
        }
        headline = self.levels[Level.EVIDENCE].get(ALL)
        means: dict[str, JsonValue] = {}
        if headline is not None:
            means = {name: value.mean for name, value in headline.values.items()}
        equal = self.equal_context
        return {
            "set": self.set_name,
            "name": self.name,
            "about": self.about,
            **means,
            "levels": at_level,
            "ahead_of_baseline": {kind: one.public() for kind, one in self.ahead.items()},
            "context": self.context.model_dump(mode="json"),
            "equal_context": None
            if equal is None
            else {
                "budget_of": equal.budget_of,
                "hits": equal.hits,
                "figures": {kind: one.public() for kind, one in equal.figures.items()},
            },
            "latency_ms": dict(self.latency_ms),
            "abstention": {group: one.model_dump(mode="json") for group, one in self.abstention.items()},
            "degraded": dict(self.degraded),
        }


class SetReport(Frozen):
    """What was asked of one set and on what.

    Attributes:
        questions: asked and answerable.
        unanswerable: asked to measure abstention.
        scope: what a question is searched in.
        ingest: what taking the set in did.
        baseline_texts: chunks the flat baseline encoded that memory did not hold.
        encode_ms: p50 and p95 of encoding a question; empty where the server does it.
        tokens: language models read and wrote for all searches.
    """

    name: str
    passages: int
    questions: int
    unanswerable: int
    scope: str
    ingest: dict[str, JsonValue]
    baseline_texts: int | None
    encode_ms: dict[str, float]
    tokens: int
    configurations: tuple[ConfigurationReport, ...]


class EvaluationReport(Frozen):
    """Everything one run measured.

    Attributes:
        made_at: ISO 8601.
        place: where memory was: in this process, or the URL of a server.
        encoder: fingerprint of the one in this process.
        limit, talks: questions and talks per set; None for all.
        seed: of sampling and of the bootstrap.
        baseline: the configuration others are compared with.
    """

    version: str
    made_at: str
    place: str
    encoder: str
    extractor: str
    limit: int | None
    talks: int | None
    seed: int
    cutoffs: tuple[int, ...]
    baseline: str
    sets: tuple[SetReport, ...]

    def public(self) -> dict[str, JsonValue]:
        """Return the JSON form: ``sets`` as asked, ``configurations`` with their figures."""
        return {
            "strata": self.version,
            **self.model_dump(mode="json", exclude={"version", "sets"}),
            "sets": [one.model_dump(mode="json", exclude={"configurations"}) for one in self.sets],
            "configurations": [own.public() for one in self.sets for own in one.configurations],
        }
