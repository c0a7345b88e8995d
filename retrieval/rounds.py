"""``agentic``: search, read, ask what is missing, search again; and one list of what all rounds found."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from retrieval.answering import Items
from retrieval.bridges import Reading
from retrieval.deadline import Deadline, Overdue
from retrieval.errors import JudgeFailed
from retrieval.extra_knobs import AgenticKnobs
from retrieval.judging import Judge, TextJudge, Verdict
from retrieval.model import Degraded, RoundTrace
from retrieval.passes import Found

_K = 10
_LATER = 0.8  # a vote of a later round, where one of the first counts 1
_KEPT = 3  # results of the first round that keep their places; half of them where fewer are wanted
_LEADERS = 5  # results of a further question that get a vote
_READ = 12

Ask = Callable[[str, int], Sequence[Found]]


class Gathered(NamedTuple):
    """What all rounds found, best first, and how they went.

    Attributes:
        found: the results.
        rounds: what was asked in each.
        stopped: why no further one began.
        judge_s: seconds spent judging.
        degraded: a judge that failed.
    """

    found: list[Found]
    rounds: tuple[RoundTrace, ...]
    stopped: str
    judge_s: float
    degraded: Degraded | None


class Rounds:
    """Runs rounds until results suffice, nothing more comes to mind, or a bound is met.

    Args:
        judge: says what is missing; the results' own names when None.
        knobs: the bounds; the default ones when None.
        clock: seconds; tests hand in their own.
    """

    def __init__(
        self,
        judge: Judge | None = None,
        knobs: AgenticKnobs | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._judge: Judge = judge or TextJudge()
        self._knobs = knobs or AgenticKnobs()
        self._clock = clock
        self._deadline = Deadline()

    def run(self, question: str, language: str, count: int, ask: Ask, items: Items) -> Gathered:
        """Return what the rounds found.

        Args:
            question: the caller's.
            language: it is written in.
            count: results wanted.
            ask: searches for a question and returns so many results.
            items: where results are read from.
        """
        began = self._clock()
        course = _Course(self._judge, question, ask(question, count))
        stopped = "rounds"
        for number in range(2, self._knobs.rounds + 1):
            left = self._knobs.seconds - (self._clock() - began)
            verdict = self._verdict(course, language, items, left)
            if isinstance(verdict, str):
                stopped = verdict
                break
            if not self._round(course, number, verdict, lambda: self._clock() - began, ask, count):
                stopped = "nothing new"
                break
        merged = interleave(course.lists, count)
        return Gathered(merged, tuple(course.rounds), stopped, course.judge_s, course.degraded)

    def _round(
        self,
        course: _Course,
        number: int,
        verdict: Verdict,
        spent_s: Callable[[], float],
        ask: Ask,
        count: int,
    ) -> bool:
        """Ask further questions as long as there is time; return whether they brought anything new."""
        known = course.ids()
        asked: list[str] = []
        for further in verdict.questions:
            if spent_s() > self._knobs.seconds:
                break
            asked.append(further)
            course.lists.append([_of_round(one, number, further) for one in ask(further, count)[:_LEADERS]])
        course.asked += asked
        fresh = len(course.ids() - known)
        course.rounds.append(
            RoundTrace(questions=tuple(asked), judge=course.judge.name, found=fresh, tokens=verdict.tokens)
        )
        return fresh > 0

    def _verdict(self, course: _Course, language: str, items: Items, left_s: float) -> Verdict | str:
        """Return what to ask next, or why nothing is asked."""
        if left_s <= 0:
            return "time"
        leaders = _leaders(course.lists)
        items.load(leaders)
        readings = [Reading(items.title(one), items.text(one)) for one in leaders if items.known(one)]
        if course.tokens + course.judge.cost(course.asked[0], readings) > self._knobs.tokens > 0:
            return "tokens"
        verdict = self._judged(course, language, readings, left_s)
        course.tokens += verdict.tokens
        if verdict.enough:
            return "enough"
        return verdict if verdict.questions else "no further question"

    def _judged(self, course: _Course, language: str, readings: Sequence[Reading], left_s: float) -> Verdict:
        """Return the verdict; the text's where the model gives none."""
        began = self._clock()
        question, asked, most = course.asked[0], tuple(course.asked), self._knobs.questions
        try:
            return self._deadline.run(
                lambda: course.judge.judge(question, language, readings, asked, most), left_s
            )
        except (JudgeFailed, Overdue) as error:
            said = error.detail if isinstance(error, JudgeFailed) else f"The judge gave {error}."
            course.degraded = Degraded(part="judge", reason=f"{said} Names in the results were asked about.")
            course.judge = TextJudge()
            return course.judge.judge(question, language, readings, asked, most)
        finally:
            course.judge_s += self._clock() - began


class _Course:
    """How the rounds have gone so far: what was asked, and what each question found."""

    def __init__(self, judge: Judge, question: str, found: Sequence[Found]) -> None:
        self.judge = judge
        self.asked = [question]
        self.lists = [[_of_round(one, 1, question) for one in found]]
        self.rounds = [RoundTrace(questions=(question,), judge="caller", found=len(found))]
        self.tokens = 0
        self.judge_s = 0.0
        self.degraded: Degraded | None = None

    def ids(self) -> set[str]:
        return {one.id for found in self.lists for one in found}


def _of_round(one: Found, number: int, question: str) -> Found:
    return one._replace(trace=one.trace.model_copy(update={"round": number, "question": question}))


def _leaders(lists: Sequence[Sequence[Found]]) -> list[Found]:
    """The results to be read: those of the last questions first, one of each in turn."""
    turns = lists[1:] or lists
    order = [one for place in range(_READ) for found in turns for one in found[place : place + 1]]
    return list({one.id: one for one in (*order, *lists[0])}.values())[:_READ]


def interleave(lists: Sequence[Sequence[Found]], count: int) -> list[Found]:
    """Return one list of several, up to ``count``.

    The best of the caller's own question keep their places; the rest follows by reciprocal ranks (Cormack,
    Clarke & Büttcher 2009). No episode stands beside its own fact: it hands its votes to the best of them,
    unless it is one of those that keep their places. Scores are those of the results themselves, dealt out in
    the new order: the best place keeps the best score, and no further question scores higher than the
    caller's own.
    """
    votes: defaultdict[str, float] = defaultdict(float)
    best: dict[str, Found] = {}
    for number, found in enumerate(lists):
        for rank, one in enumerate(found, 1):
            votes[one.id] += (_LATER if number else 1.0) / (_K + rank)
            best.setdefault(one.id, one)
    kept = list(lists[0][: min(_KEPT, count // 2)]) if lists else []
    rest = [best[id_] for id_ in _without_parents(votes, best, {one.id for one in kept})]
    chosen = [*kept, *rest][:count]
    ceiling = max((one.score for one in lists[0]), default=0.0) if lists else 0.0
    scores = sorted((min(one.score, ceiling) for one in chosen), reverse=True)
    return [one._replace(score=score) for one, score in zip(chosen, scores, strict=True)]


def _without_parents(votes: defaultdict[str, float], best: dict[str, Found], kept: set[str]) -> list[str]:
    """Return the ids that are not kept by votes; of an episode and its facts either it or they."""
    speaker: dict[str, str] = {}
    for id_ in sorted(votes, key=lambda id_: (-votes[id_], id_)):
        if (parent := best[id_].parent) is not None:
            speaker.setdefault(parent, id_)
    for parent, id_ in speaker.items():
        if parent not in kept:
            votes[id_] += votes.pop(parent, 0.0)
    left = [id_ for id_ in votes if id_ not in kept and best[id_].parent not in kept]
    return sorted(left, key=lambda id_: (-votes[id_], id_))
