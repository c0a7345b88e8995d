"""What a run is asked to do, and with it which questions are asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from api.evaluation.configurations import Configuration
from retrieval.evaluation.off_topic import evenly, nonsense
from retrieval.evaluation.sets import UNANSWERABLE, Question, QuestionSet

_NEGATIVES = 100


class Course(NamedTuple):
    """What a run is asked to do.

    Attributes:
        configurations: to compare.
        cutoffs: k of Recall@k; 5 and 10 are added.
        limit: questions per set, spread evenly; None for all.
        talks: talks per set, spread evenly; None for all.
        seed: of sampling and of the bootstrap.
        workdir: where memories and vectors are kept.
        reuse: what was taken in before is used as it is.
        folds: of the cross-fit; 0 for none.
    """

    configurations: tuple[Configuration, ...]
    cutoffs: tuple[int, ...]
    limit: int | None
    talks: int | None
    seed: int
    workdir: Path
    reuse: bool
    folds: int = 0

    @property
    def ks(self) -> tuple[int, ...]:
        """All cut-offs, ascending."""
        return tuple(sorted({*self.cutoffs, 5, 10}))


def narrowed(the_set: QuestionSet, talks: int | None, seed: int) -> QuestionSet:
    """Return a set of talks with some of them only, and the questions about those.

    Args:
        the_set: texts come back as they are.
        talks: how many, spread evenly; None for all.
        seed: of the sample.
    """
    if not the_set.talks or talks is None:
        return the_set
    kept = set(evenly(list(dict.fromkeys(one.scope for one in the_set.passages)), talks, seed))
    return the_set._replace(
        passages=tuple(one for one in the_set.passages if one.scope in kept),
        questions=tuple(one for one in the_set.questions if one.scope in kept),
    )


def fewer(the_set: QuestionSet, passages: int | None, seed: int) -> QuestionSet:
    """Return a set of texts with some of them only, and the questions they answer.

    Args:
        the_set: talks come back as they are.
        passages: how many, spread evenly; None for all.
        seed: of the sample.
    """
    if the_set.talks or passages is None:
        return the_set
    kept = evenly(the_set.passages, passages, seed)
    ids = {one.id for one in kept}
    return the_set._replace(
        passages=tuple(kept),
        questions=tuple(one for one in the_set.questions if one.answerable and ids.issuperset(one.gold)),
    )


def sampled(questions: Sequence[Question], course: Course, *, answerable: bool) -> list[Question]:
    """Return the questions to ask of those with, or of those without an answer."""
    fitting = [one for one in questions if one.answerable is answerable]
    return evenly(fitting, course.limit or len(fitting), course.seed)


def unanswered(the_set: QuestionSet, others: Sequence[QuestionSet], course: Course) -> list[Question]:
    """Return questions that memory does not answer: the set's own, nonsense, and those of other sets."""
    own = sampled(the_set.questions, course, answerable=False)
    negatives = [one._replace(kind=UNANSWERABLE, gold={}) for one in own]
    count = min(_NEGATIVES, course.limit or _NEGATIVES)
    elsewhere = [one.text for other in others for one in other.questions if one.answerable]
    groups = {
        "nonsense": nonsense(count, course.seed),
        "off-topic": evenly(list(dict.fromkeys(elsewhere)), count, course.seed),
    }
    places = cycle({one.memory: one for one in the_set.questions}.values())
    for group, texts in groups.items():
        negatives += [
            next(places)._replace(id=f"{group}-{number}", text=text, kind=group, gold={})
            for number, text in enumerate(texts)
        ]
    return negatives
