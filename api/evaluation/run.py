"""A whole evaluation: sets into memory, questions through every configuration, one report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from pydantic import JsonValue

from api.evaluation.configurations import BASELINE, Configuration
from api.evaluation.course import Course, narrowed, sampled, unanswered
from api.evaluation.crossfit import Folds, cross_fit
from api.evaluation.errors import Unavailable
from api.evaluation.ingest import Coverage, Ingested, coverage, listed, put, tokens_spent
from api.evaluation.measuring import Rules, measure_all
from api.evaluation.place import Open, Place
from api.evaluation.search import Ask, flat_search
from retrieval.evaluation.flat import Chunk, FlatIndex, single, windows
from retrieval.evaluation.report import EvaluationReport, SetReport
from retrieval.evaluation.sets import EVERYWHERE, Passage, QuestionSet
from retrieval.evaluation.tally import spread
from retrieval.fitting.samples import Sample

Tell = Callable[[str], None]


def evaluate(
    sets: Sequence[QuestionSet], course: Course, opened: Open, extractor: str, tell: Tell
) -> EvaluationReport:
    """Run everything, one set after the other.

    Args:
        sets: to ask.
        course: what to do.
        opened: opens the place where a set is measured.
        extractor: for the report.
        tell: told in a line what is going on.

    Raises:
        EvaluationError: a set cannot be taken in or asked.
    """
    reports = []
    encoder = where = ""
    sets = [narrowed(one, course.talks, course.seed) for one in sets]
    taken, folds = learned(sets, course, opened, tell) if course.folds else ({}, None)
    for the_set in sets:
        with opened(the_set.name) as place:
            others = [one for one in sets if one is not the_set]
            known = taken.get(the_set.name)
            now = course if known is None else course._replace(reuse=True)
            report = measure_set(the_set, others, now, place, tell, folds)
            reports.append(report if known is None else report.model_copy(update={"ingest": known}))
            encoder, where = place.embedder.fingerprint, place.name
    return EvaluationReport(
        version=version("strata-memory"),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        place=where,
        encoder=encoder,
        extractor=extractor,
        limit=course.limit,
        talks=course.talks,
        seed=course.seed,
        cutoffs=course.ks,
        baseline=BASELINE,
        sets=tuple(reports),
    )


def learned(
    sets: Sequence[QuestionSet], course: Course, opened: Open, tell: Tell
) -> tuple[dict[str, dict[str, JsonValue]], Folds]:
    """Take all sets in and fit weights that have not seen what they will rank.

    Returns:
        What taking in each set did, and the weights.

    Raises:
        Unavailable: on a server.
        FitImpossible: nothing can be learned.
    """
    known: list[Sample] = []
    taken: dict[str, dict[str, JsonValue]] = {}
    encoder = ""
    for the_set in sets:
        with opened(the_set.name) as place:
            if place.school is None:
                raise Unavailable("Weights are fitted in this process only.")
            shown, done = take_in(the_set, course, place, tell)
            taken[the_set.name] = done.model_dump(mode="json")
            others = [one for one in sets if one is not the_set]
            tell(f"{the_set.name}: taking samples to learn from")
            known += place.school.samples(the_set, others, shown, course.seed)
            encoder = place.embedder.fingerprint
    return taken, cross_fit(known, encoder, course.folds, tell)


def measure_set(
    the_set: QuestionSet,
    others: Sequence[QuestionSet],
    course: Course,
    place: Place,
    tell: Tell,
    folds: Folds | None = None,
) -> SetReport:
    """Take one set in and ask it everything.

    Args:
        the_set: the set.
        others: their questions are off topic here.
        course: what to do.
        place: what it is measured on.
        tell: told in a line what is going on.
        folds: weights by fold, for the configuration that is ranked by them.
    """
    shown, ingested = take_in(the_set, course, place, tell)
    before = place.encoder.texts
    asks = searches(the_set, course, place, shown, folds)
    questions = sampled(the_set.questions, course, answerable=True)
    negatives = unanswered(the_set, others, course)
    place.embedder.forget()
    steps = _counted(the_set.name, len(questions) + len(negatives), place, tell)
    rules = Rules(course.ks, shown.units, course.seed)
    figures = measure_all(the_set.name, asks, questions, negatives, rules, steps)
    encode_ms = {name: value * 1000 for name, value in spread(place.embedder.seconds).items()}
    return SetReport(
        name=the_set.name,
        passages=len(the_set.passages),
        questions=len(questions),
        unanswerable=len(negatives),
        scope="one talk" if the_set.talks else "one language" if the_set.parallel else EVERYWHERE,
        ingest=ingested.model_dump(mode="json"),
        baseline_texts=place.encoder.texts - before,
        encode_ms={} if place.remote else encode_ms,
        tokens=tokens_spent(place.client) - ingested.tokens,
        configurations=tuple(figures),
    )


def take_in(the_set: QuestionSet, course: Course, place: Place, tell: Tell) -> tuple[Coverage, Ingested]:
    """Put a set into memory, unless it is there, and find out which passages things show."""
    started = time.perf_counter()
    told = _paced(lambda done: tell(f"{the_set.name}: {done} steps of taking it in"))
    if not course.reuse:
        put(place.client, the_set, place.finish(told), place.prefix)
    rows = listed(
        place.client, dict.fromkeys(place.prefix + the_set.memory_of(one) for one in the_set.passages)
    )
    shown = coverage(place.client, the_set, rows)
    done = Ingested(
        documents=len(rows),
        episodes=sum(row["episodes"] for row in rows),
        facts=sum(row["facts"] for row in rows),
        texts_embedded=None if place.remote else place.encoder.texts,
        tokens=tokens_spent(place.client),
        seconds=time.perf_counter() - started,
    )
    tell(
        f"{the_set.name}: {done.documents} documents, {done.episodes} episodes, {done.facts} facts"
        f" in {done.seconds:.0f} s"
    )
    return shown, done


def searches(
    the_set: QuestionSet, course: Course, place: Place, shown: Coverage, folds: Folds | None = None
) -> list[tuple[Configuration, Ask]]:
    """Return how each configuration is asked."""
    memories: dict[str, list[Passage]] = {}
    for passage in the_set.passages:
        memories.setdefault(the_set.memory_of(passage), []).append(passage)
    chunks: dict[bool, dict[str, list[Chunk]]] = {
        False: {memory: single(ones) for memory, ones in memories.items()},
        True: {memory: windows(ones) for memory, ones in memories.items()} if the_set.talks else {},
    }
    unseen = None if folds is None else partial(folds.unseen, the_set.name)
    indexes: dict[bool, dict[str, FlatIndex]] = {False: {}, True: {}}
    asks: list[tuple[Configuration, Ask]] = []
    for one in course.configurations:
        if one.flat is None:
            asks.append((one, place.search(one, shown, course.ks[-1], unseen)))
        elif chunks[one.windows]:
            found = flat_search(one, chunks[one.windows], place.embedder, indexes[one.windows])
            asks.append((one, found))
    return asks


def _counted(name: str, total: int, place: Place, tell: Tell) -> Callable[[], None]:
    """Return what is to be called before each question."""
    told = _paced(lambda done: tell(f"{name}: {done} of {total} questions"))
    asked = iter(range(1, total + 1))

    def step() -> None:
        place.forget()
        told(next(asked))

    return step


def _paced(tell: Callable[[int], None], every_s: float = 5.0) -> Callable[[int], None]:
    """Return ``tell`` as it may be called at any time: it speaks every few seconds."""
    last = time.monotonic()

    def told(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= every_s:
            last = time.monotonic()
            tell(done)

    return told
