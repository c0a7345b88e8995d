"""Results scored once more by a stronger model, and what becomes of them when it fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ingest.errors import StrataError
from retrieval.answering import Items
from retrieval.deadline import Deadline, Overdue
from retrieval.errors import RerankerRefused, RerankerUnavailable
from retrieval.extra_knobs import RerankKnobs
from retrieval.model import Degraded
from retrieval.passes import Found
from retrieval.protocols import Reranker
from retrieval.ranking.fusion import sigmoid


class Rerank:
    """Puts results into the order of a reranker.

    Args:
        reranker: scores texts.
        knobs: how many, how long, how much of each.
    """

    def __init__(self, reranker: Reranker, knobs: RerankKnobs) -> None:
        self._reranker = reranker
        self._knobs = knobs
        self._deadline = Deadline()

    @property
    def name(self) -> str:
        """The model."""
        return self._reranker.name

    def wanted(self, count: int) -> int:
        """Return how many results it wants to choose ``count`` from."""
        return self._knobs.multiplier * count

    def order(
        self, question: str, found: Sequence[Found], items: Items
    ) -> tuple[list[Found], Degraded | None]:
        """Return results in their new order, scored by the reranker; as they came when it fails.

        Args:
            question: what was asked.
            found: results in their fused order.
            items: holds what they say.
        """
        known = [one for one in found if items.known(one)]
        if not known:
            return [], None
        texts = [self._shown(one, items) for one in known]
        try:
            scores = self._deadline.run(
                lambda: _checked(self._reranker.scores(question, texts), len(texts)), self._knobs.timeout_s
            )
        except (Overdue, StrataError) as error:
            said = error.detail if isinstance(error, StrataError) else f"The reranker gave {error}."
            return known, Degraded(part="reranker", reason=f"{said} The fused order stands.")
        ranked = sorted(range(len(known)), key=lambda at: (-scores[at], at))
        return [_moved(known[at], scores[at], at - place) for place, at in enumerate(ranked)], None

    def _shown(self, one: Found, items: Items) -> str:
        title, text = items.title(one), items.text(one)
        return (text if title in text else f"{title}: {text}")[: self._knobs.text_chars]


def _checked(scores: Sequence[float], count: int) -> list[float]:
    """Return scores from 0 to 1; where some are not, all are logits."""
    found = np.asarray(scores, dtype=np.float64)
    if found.shape != (count,):
        raise RerankerRefused(f"The reranker scored {found.size} texts of {count}.")
    if not np.isfinite(found).all():
        raise RerankerUnavailable("The reranker gave a score that is no number.")
    if found.min() < 0 or found.max() > 1:
        found = sigmoid(found)
    return [float(score) for score in found]


def _moved(one: Found, score: float, gained: int) -> Found:
    update = {"rerank_score": score, "rerank_change": gained}
    return one._replace(score=score, trace=one.trace.model_copy(update=update))
