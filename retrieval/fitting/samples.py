"""What a fit learns from: the candidates of a question with their signals, and which of them answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.anchors import MessageAnchor
from retrieval.evaluation.corpus import documents, extractions
from retrieval.evaluation.metrics import Covered
from retrieval.evaluation.sets import EVERYWHERE, Question, QuestionSet
from retrieval.filters import AllOf, Compare, Operator
from retrieval.hybrid import Probe, gather
from retrieval.index import index_document
from retrieval.knobs import MragKnobs
from retrieval.model import SearchQuery
from retrieval.protocols import Embedder, VectorStore
from retrieval.ranking.asked import ask
from retrieval.ranking.fusion import Floats, rrf
from retrieval.ranking.pools import EpisodePool, FactPool
from retrieval.ranking.scoring import RrfScorer
from retrieval.ranking.signals import episode_signals, fact_signals, search_signals
from retrieval.trips import Trips

Truth = NDArray[np.bool_]
TENANT = "default"
_WANTED = 10


class Memory(NamedTuple):
    """A question set in the store.

    Attributes:
        covers: ids of the passages each fact and each episode shows.
        words: the words of each fact.
    """

    questions: QuestionSet
    covers: Mapping[str, frozenset[str]]
    words: Mapping[str, str]


class Sample(NamedTuple):
    """One question with its candidates.

    Attributes:
        set_name, group: where it comes from; a group is never both learned from and judged by.
        kind: type of the question.
        talk: its memory is talks; else texts.
        facts, episodes: signals by name.
        search: signals of the search as a whole.
        parent: row of each fact's episode, -1 where that is no candidate.
        answers: facts that answer.
        holds: episodes that hold an answer.
        shows: passages each fact shows; gold: those that answer. Both empty where nothing does.
        bm25, cosine: raw best episode matches, per term of the question and as they are; NaN for none.
        flat: flat reciprocal rank fusion of the same facts, the measure to beat.
    """

    set_name: str
    group: str
    kind: str
    talk: bool
    facts: dict[str, Floats]
    episodes: dict[str, Floats]
    search: dict[str, float]
    parent: NDArray[np.intp]
    answers: Truth
    holds: Truth
    shows: Covered
    gold: frozenset[str]
    bm25: Floats
    cosine: Floats
    flat: Floats


def remember(store: VectorStore, embedder: Embedder, questions: QuestionSet) -> Memory:
    """Put a question set into the store, extracted without a model."""
    covers: dict[str, frozenset[str]] = {}
    words: dict[str, str] = {}
    for document, elements in documents(questions.passages, TENANT):
        name = document.source.name
        made = list(extractions(document, elements))
        index_document(store, embedder, document, made)
        for one in made:
            within = elements[one.episode.first : one.episode.last + 1]
            covers[one.episode.id] = _shown((element.anchor for element in within), name)
            for fact in one.facts:
                covers[fact.id] = _shown(fact.anchors, name)
                words[fact.id] = fact.quote.casefold()
    return Memory(questions, covers, words)


def _shown(anchors: Iterable[object], name: str) -> frozenset[str]:
    return frozenset(
        one.message_id if isinstance(one, MessageAnchor) and one.message_id else name for one in anchors
    )


def samples(
    store: VectorStore,
    embedder: Embedder,
    memory: Memory,
    questions: Sequence[Question],
    knobs: MragKnobs,
    where: Callable[[Question], AllOf] | None = None,
) -> Iterator[Sample]:
    """Yield a sample per question, with the candidates a search would rank; none where there are none.

    Args:
        store: where the memory is.
        embedder: the encoder it was stored with.
        memory: the set.
        questions: of the set; those without gold teach when nothing is to be found.
        knobs: depths.
        where: whose memory a question is asked in; as ``remember`` puts it there when None.
    """
    for question in questions:
        asked = ask(question.text)
        probe = Probe(embedder.embed_query(question.text), asked.terms)
        query = SearchQuery(text=question.text[:4000], tenant=TENANT, where=(where or _where)(question))
        found = gather(Trips(store, query), asked, probe, RrfScorer(knobs.rrf_k), knobs, _WANTED)
        if found.facts.ids:
            yield _sample(memory, question, found.episodes, found.facts, len(asked.terms.indices))._replace(
                facts=fact_signals(asked, found.facts),
                episodes=episode_signals(asked, found.episodes, found.facts),
                search=search_signals(asked, found.facts),
            )


def group_of(set_name: str, question: Question) -> str:
    """Return what must not be both learned from and judged by: a talk, or the text that answers."""
    gold = question.gold if question.answerable else ()
    return f"{set_name}/{question.scope or min(gold, default=question.id)}"


def _where(question: Question) -> AllOf:
    parts = [Compare(field="user_id", operator=Operator.EQ, value=question.scope or EVERYWHERE)]
    if question.language:
        parts.append(Compare(field="language", operator=Operator.EQ, value=question.language))
    return AllOf(parts=tuple(parts))


def _sample(memory: Memory, question: Question, episodes: EpisodePool, facts: FactPool, terms: int) -> Sample:
    gold = frozenset(question.gold) if question.answerable else frozenset()
    row = {id_: at for at, id_ in enumerate(episodes.ids)}
    shows = [memory.covers[id_] for id_ in facts.ids]
    return Sample(
        set_name=memory.questions.name,
        group=group_of(memory.questions.name, question),
        kind=question.kind,
        talk=any(one.talk for one in facts.traits),
        facts={},
        episodes={},
        search={},
        parent=np.array([row.get(parent, -1) for parent in facts.parents], dtype=np.intp),
        answers=_answers(memory, question, facts, [bool(gold & one) for one in shows]),
        holds=np.array([bool(gold & memory.covers[id_]) for id_ in episodes.ids], dtype=bool),
        shows=shows,
        gold=gold,
        bm25=episodes.bm25 / max(1, terms),
        cosine=episodes.cosine,
        flat=rrf([facts.cosine, facts.bm25], 60),
    )


def _answers(memory: Memory, question: Question, facts: FactPool, golden: Sequence[bool]) -> Truth:
    """Gold says which passages answer; where statements of one hold the answer's words, it is those."""
    truth = np.array(golden, dtype=bool)
    if question.scope is not None or not question.answer:
        return truth
    said = question.answer.casefold()
    exact: Truth = truth & np.array([said in memory.words[id_] for id_ in facts.ids], dtype=bool)
    told = {memory.covers[id_] for id_, holds in zip(facts.ids, exact.tolist(), strict=True) if holds}
    elsewhere = np.array([memory.covers[id_] not in told for id_ in facts.ids], dtype=bool)
    found: Truth = exact | (truth & elsewhere)
    return found
