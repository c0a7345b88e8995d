"""Ranking weights that have not seen the questions they rank: fitted once per fold of conversations.

Weights that were fitted on a set say nothing when judged by it. Here a conversation (or, for texts, what
answers a question) is never both learned from and asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from api.cli.client import Client
from api.evaluation.ingest import Coverage, pages
from retrieval.evaluation.off_topic import evenly
from retrieval.evaluation.sets import Question, QuestionSet
from retrieval.filters import AllOf, Compare, Operator
from retrieval.fitting.fit import fit_weights
from retrieval.fitting.lessons import about_nothing
from retrieval.fitting.samples import Memory, Sample, group_of, samples
from retrieval.fitting.validation import folds_of
from retrieval.knobs import MragKnobs
from retrieval.protocols import Embedder, VectorStore
from retrieval.ranking.weights import FusionWeights

# Answerable questions of a set that a fit learns from; more change little and take long.
_LESSONS = 400


class Folds(NamedTuple):
    """Weights by fold, and the fold of each group of questions."""

    weights: tuple[FusionWeights, ...]
    fold_of: Mapping[str, int]

    def unseen(self, set_name: str, question: Question) -> FusionWeights:
        """Return weights that were not fitted on a question; questions about nothing are in no fold."""
        return self.weights[self.fold_of.get(group_of(set_name, question), 0)]


class School(NamedTuple):
    """Where samples are taken: a store with a set in it."""

    store: VectorStore
    embedder: Embedder
    client: Client
    knobs: MragKnobs

    def samples(
        self, the_set: QuestionSet, others: Sequence[QuestionSet], shown: Coverage, seed: int
    ) -> Iterator[Sample]:
        """Yield a sample for each of some questions of a set, and for some about nothing in it."""
        asked = evenly([one for one in the_set.questions if one.answerable], _LESSONS, seed)
        strange = about_nothing(the_set, [the_set, *others])
        memory = self._memory(the_set, shown)
        yield from samples(self.store, self.embedder, memory, [*asked, *strange], self.knobs, where=_owner)

    def _memory(self, the_set: QuestionSet, shown: Coverage) -> Memory:
        covers: dict[str, frozenset[str]] = dict(shown.episodes)
        words: dict[str, str] = {}
        for document in shown.listed:
            for episode in pages(self.client, f"/api/v1/documents/{document}/episodes"):
                covers.setdefault(episode["id"], shown.documents.get(document, frozenset()))
            for fact in pages(self.client, f"/api/v1/documents/{document}/facts"):
                covers[fact["id"]] = shown.of_fact(fact["anchors"], document)
                words[fact["id"]] = fact["quote"].casefold()
        return Memory(the_set, covers, words)


def _owner(question: Question) -> AllOf:
    return AllOf(parts=(Compare(field="user_id", operator=Operator.EQ, value=question.memory),))


def cross_fit(known: Sequence[Sample], encoder: str, folds: int, tell: Callable[[str], None]) -> Folds:
    """Fit once for each fold on all samples outside it.

    Args:
        known: samples of all sets.
        encoder: its fingerprint.
        folds: at least 2; a set with as many conversations leaves one out each time.
        tell: told in a line what is going on.

    Raises:
        FitImpossible: nothing can be learned, or scikit-learn is not installed.
    """
    fold_of = folds_of(known, folds)
    weights = []
    for fold in range(folds):
        tell(f"fitting without fold {fold + 1} of {folds}")
        weights.append(fit_weights([one for one in known if fold_of[one.group] != fold], encoder))
    return Folds(tuple(weights), fold_of)
