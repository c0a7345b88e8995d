"""The questions a fit learns from: those of the sets, and questions about nothing in their memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from retrieval.evaluation.off_topic import evenly, nonsense
from retrieval.evaluation.sets import Question, QuestionSet
from retrieval.fitting.samples import Sample, remember, samples
from retrieval.knobs import MragKnobs
from retrieval.protocols import Embedder, VectorStore

OFF_TOPIC = "off-topic"
_NONSENSE = 30
_STRANGE = 80
_LONGEST = 400


Room = Callable[[str], AbstractContextManager[tuple[VectorStore, Embedder]]]


def lessons(
    room: Room,
    sets: Sequence[QuestionSet],
    knobs: MragKnobs,
    limit: int,
    tell: Callable[[str], None],
) -> list[Sample]:
    """Return the samples of all sets.

    Args:
        room: holds an empty store, and the encoder to fit for, while a set of this name is in it. Each set
            needs its own: how rare a word is counts over the whole store.
        sets: question sets.
        knobs: depths of the searches.
        limit: questions taken of a set at most, spread evenly.
        tell: told what has been done.
    """
    found: list[Sample] = []
    for one in sets:
        asked = evenly([question for question in one.questions if question.answerable], limit)
        strange = about_nothing(one, sets)
        with room(one.name) as (store, embedder):
            memory = remember(store, embedder, one)
            tell(f"{one.name}: {len(memory.words)} facts in memory")
            found += samples(store, embedder, memory, [*asked, *strange], knobs)
        tell(f"{one.name}: {len(asked)} questions asked, and {len(strange)} about nothing in it")
    return found


def about_nothing(one: QuestionSet, sets: Sequence[QuestionSet]) -> list[Question]:
    """Return questions that a set's memories hold nothing about: of no meaning, and those of other sets.

    A question that names people of another conversation may look at home, so the sets, not the
    conversations, have to differ. Long ones are left out: they touch on many things.
    """
    texts = nonsense(_NONSENSE)
    others = [other for other in sets if other.name != one.name]
    for other in others:
        fit = [
            question.text
            for question in other.questions
            if question.answerable and len(question.text) <= _LONGEST
        ]
        texts += evenly(fit, _STRANGE // len(others))
    memories = sorted({(question.scope, question.language) for question in one.questions}, key=str)
    asked = []
    for number, text in enumerate(texts):
        scope, language = memories[number % len(memories)]
        asked.append(Question(f"{OFF_TOPIC}-{number}", text, OFF_TOPIC, scope, {}, language))
    return asked
