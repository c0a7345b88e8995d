"""The weights of a fitted ranking: a small JSON file, made for one encoder and one meaning of the signals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import exp, log
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationError

from ingest.anchors import Frozen
from retrieval.errors import FingerprintMismatch, WeightsDamaged
from retrieval.ranking.fusion import CLIP, Floats, log_odds, sigmoid
from retrieval.ranking.signals import EPISODE_SIGNALS, FACT_SIGNALS, SEARCH_SIGNALS, SIGNALS_VERSION
from retrieval.tokenizer import TOKENIZER_VERSION

SHIPPED = Path(__file__).parents[1] / "shipped"


class Linear(Frozen):
    """A sum of weighted signals, in log-odds.

    Attributes:
        intercept: where every signal is 0.
        weights: per unit of each signal; signals without a weight do not count.
    """

    intercept: float = 0.0
    weights: dict[str, float] = Field(default_factory=dict)

    def __call__(self, signals: Mapping[str, Floats]) -> Floats:
        """Return the log-odds, aligned with the signals."""
        size = len(next(iter(signals.values()), ()))
        total = np.full(size, self.intercept, dtype=np.float64)
        for name in self.counting:
            total += self.weights[name] * signals[name]
        return total

    @cached_property
    def counting(self) -> frozenset[str]:
        """Names of the signals that change anything."""
        return frozenset(name for name, weight in self.weights.items() if weight)


class Layers(Frozen):
    """How one kind of source is ranked.

    Attributes:
        facts, episodes: log-odds of each layer if memory holds an answer, on one scale, made to be mixed half
            and half.
        sibling: what a fact loses when better facts of its episode stand before it: this times
            log(1 + their number). One source must not fill the whole answer.
    """

    facts: Linear
    episodes: Linear
    sibling: float = Field(default=0.0, ge=0)


class Presence(Frozen):
    """How likely it is that memory holds an answer at all.

    Attributes:
        intercept: log-odds of a search that matches as answerable ones usually do.
        typical: the value of each signal in an answerable search, moved where questions from that script to
            that one are answered more or less often; a missing signal counts as this.
        weights: log-odds per unit above the typical value.
    """

    intercept: float = 0.0
    typical: dict[str, float] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=dict)

    def __call__(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1."""
        odds = self.intercept + sum(
            weight * (signals[name] - self.typical.get(name, 0.0))
            for name, weight in self.weights.items()
            if not np.isnan(signals[name])
        )
        return float(sigmoid(np.array(odds)))


class Squash(Frozen):
    """A raw score as a probability: the logistic function of a rising straight line."""

    intercept: float = 0.0
    slope: float = Field(default=1.0, ge=0)

    def __call__(self, value: float) -> float:
        """Return the chance, 0 to 1."""
        return float(sigmoid(np.array(self.intercept + self.slope * value)))


def _logistic(odds: float) -> float:
    return 1 / (1 + exp(-odds)) if odds >= 0 else exp(odds) / (1 + exp(odds))


class Sharpness(Frozen):
    """Final log-odds as honest chances.

    A good match among many good ones is less likely the answer than one that stands alone, so the chance also
    rests on the crowd: the log of the sum of all facts' odds.

    Attributes:
        intercept: where everything is 0.
        slope: per unit of the log-odds that memory holds an answer and that this is it.
        crowd: per unit of the crowd.
    """

    intercept: float = 0.0
    slope: float = Field(default=1.0, ge=0)
    crowd: float = 0.0

    def __call__(self, presence: float, odds: Floats, crowd: float) -> Floats:
        """Return chances.

        Args:
            presence: that memory holds an answer.
            odds: log-odds that this is it.
            crowd: of the search.
        """
        both = log_odds(presence * sigmoid(odds))
        return sigmoid(self.intercept + self.slope * both + self.crowd * crowd)

    def one(self, presence: float, odds: float, crowd: float) -> float:
        """Return a single chance; the same without arrays, which take longer than the sum."""
        chance = min(max(presence * _logistic(odds), CLIP), 1 - CLIP)
        both = log(chance / (1 - chance))
        return _logistic(self.intercept + self.slope * both + self.crowd * crowd)


class FusionWeights(Frozen):
    """Everything a fit yields.

    Attributes:
        encoder: fingerprint of the encoder it was fitted for.
        signals, tokenizer: versions of what the signals mean and of what a word is.
        talk: for conversations, mail and transcripts; text: for everything else.
        presence: of the search as a whole.
        hybrid: of the mixed log-odds.
        vector: of an episode's cosine; keyword: of its BM25 sum per term of the question.
        fitted_on: names of the question sets.
    """

    encoder: str
    signals: str
    tokenizer: str
    talk: Layers
    text: Layers
    presence: Presence = Presence(intercept=4.0)
    hybrid: Sharpness = Sharpness()
    vector: Squash = Squash()
    keyword: Squash = Squash()
    fitted_on: tuple[str, ...] = ()

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Names of signals that do not exist."""
        asked = {
            *((name, FACT_SIGNALS) for one in (self.talk, self.text) for name in one.facts.weights),
            *((name, EPISODE_SIGNALS) for one in (self.talk, self.text) for name in one.episodes.weights),
            *((name, SEARCH_SIGNALS) for name in self.presence.weights),
        }
        return tuple(sorted(name for name, known in asked if name not in known))


def shipped(encoder: str) -> Path | None:
    """Return the weights file that comes with Strata for an encoder, None where there is none."""
    path = SHIPPED / f"{encoder}.json"
    return path if path.is_file() else None


def load_weights(path: Path, encoder: str) -> FusionWeights:
    """Read a weights file.

    Args:
        path: the file.
        encoder: fingerprint of the encoder in use.

    Raises:
        WeightsDamaged: the file is missing or is not a weights file.
        FingerprintMismatch: it was fitted for another encoder, tokenizer or meaning of the signals.
    """
    try:
        weights = FusionWeights.model_validate_json(path.read_bytes())
    except OSError as error:
        raise WeightsDamaged(f"The weights file {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise WeightsDamaged(f"{path} is not a weights file: {place}: {first['msg']}.") from error
    for what, fitted, used in (
        ("encoder", weights.encoder, encoder),
        ("tokenizer", weights.tokenizer, TOKENIZER_VERSION),
        ("set of signals", weights.signals, SIGNALS_VERSION),
    ):
        if fitted != used:
            raise FingerprintMismatch(f"{path} was fitted for the {what} {fitted}; in use is {used}.")
    if weights.unknown:
        raise WeightsDamaged(f"{path} weighs signals that do not exist: {', '.join(weights.unknown)}.")
    return weights
