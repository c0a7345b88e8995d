"""From samples to ranking weights.

1. Episodes: which holds the answer, by a listwise regression.
2. Facts: which answers, by another one that also sees the score of the fact's episode.
3. How much a fact loses behind better ones of its own episode, by trying.
4. How sure a rank is: a plain logistic regression over the leaders of answerable questions.
5. How sure it is that memory holds an answer: another one, over answerable and unanswerable questions; and a
   last one that turns both together into honest chances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import numpy as np

from retrieval.errors import FitImpossible
from retrieval.evaluation.metrics import recall_at
from retrieval.fitting.calibration import calibrate, squash
from retrieval.fitting.listwise import Ranked, fit_listwise
from retrieval.fitting.presence import fit_presence, fit_sharpness
from retrieval.fitting.rough import Rough, fair_shares
from retrieval.fitting.samples import Sample
from retrieval.ranking.fusion import Floats
from retrieval.ranking.signals import EPISODE_SIGNALS, FACT_SIGNALS, SIGNALS_VERSION
from retrieval.ranking.weights import FusionWeights
from retrieval.tokenizer import TOKENIZER_VERSION

# Texts have no speakers, and their headings and lists end in no question mark.
_TALK_ONLY = frozenset({"named", "partner", "question", "answers", "confidence"})
# A match speaks for a candidate or says nothing. Left free, a match of the neighbours turns negative where
# gold is a whole passage, and then pushes the sentence beside the answer out of an ordinary document.
_NEVER_AGAINST = frozenset(
    name
    for name in (*FACT_SIGNALS, *EPISODE_SIGNALS)
    if name.endswith(("cosine", "bm25")) or name in ("named", "partner", "time", "number", "period")
)
# What a date in the question is worth does not hang on the kind of source; sets of texts hardly ask for one.
_TAUGHT_BY_TALKS = ("period",)
_RIDGE = 30.0
# Beyond the last a second statement of a source hardly ever stands in an answer, and nothing is gained.
_SIBLING_TRIED = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
_LEAST_EPISODE_SHARE = 0.05


def fit_weights(learned_from: Sequence[Sample], encoder: str) -> FusionWeights:
    """Return weights fitted to samples.

    Args:
        learned_from: of one or several sets; a set counts by the square root of its number of questions.
        encoder: fingerprint of the encoder they were made with.

    Raises:
        FitImpossible: no question teaches anything, or scikit-learn is not installed.
    """
    if find_spec("sklearn") is None:
        raise FitImpossible(
            "Fitting needs scikit-learn.", next_step="Install it with: pip install 'strata-memory[fit]'."
        )
    kinds = {talk: [one for one in learned_from if one.talk is talk] for talk in (True, False)}
    # Where one kind of source is missing, the other has to stand in for it.
    talks = fit_rough(kinds[True] or kinds[False], talk=bool(kinds[True]))
    rough = {True: talks, False: fit_rough(kinds[False] or kinds[True], talk=False, shared=talks)}
    layers = calibrate(learned_from, rough)
    presence = fit_presence(learned_from)
    return FusionWeights(
        encoder=encoder,
        signals=SIGNALS_VERSION,
        tokenizer=TOKENIZER_VERSION,
        talk=layers[True],
        text=layers[False],
        presence=presence,
        hybrid=fit_sharpness(learned_from, layers, presence),
        vector=squash([(one.cosine, one.holds) for one in learned_from]),
        keyword=squash([(one.bm25, one.holds) for one in learned_from]),
        fitted_on=tuple(sorted({one.set_name for one in learned_from})),
    )


def fit_rough(own: Sequence[Sample], *, talk: bool, shared: Rough | None = None) -> Rough:
    """Return the uncalibrated ranking of one kind of source.

    Args:
        own: its samples; unanswerable ones are passed over.
        talk: weigh what only talks have, too.
        shared: the ranking of talks, of which texts take over what they cannot teach.
    """
    names = [name for name in FACT_SIGNALS if talk or name not in _TALK_ONLY]
    coarse_names = [name for name in EPISODE_SIGNALS if talk or name != "named"]
    answerable = [one for one in own if one.gold]
    fair = fair_shares(answerable)
    coarse = fit_listwise(
        [Ranked(one.episodes, one.holds, fair[one.set_name]) for one in answerable],
        coarse_names,
        _RIDGE,
        never_against=_NEVER_AGAINST,
        given=_taken_over(shared.episodes) if shared else None,
    )
    lists = [
        Ranked({**one.facts, "episode": _lifted(one, coarse)}, one.answers, fair[one.set_name])
        for one in answerable
    ]
    fine = fit_listwise(
        lists,
        [*names, "episode"],
        _RIDGE,
        never_against=_NEVER_AGAINST,
        given=_taken_over(shared.facts) if shared else None,
    )
    share = max(_LEAST_EPISODE_SHARE, fine.pop("episode"))
    made = Rough(fine, coarse, share, 0.0)
    tried = [(_worth(answerable, fair, made._replace(sibling=one)), -one) for one in _SIBLING_TRIED]
    return made._replace(sibling=-max(tried)[1])


def _taken_over(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: weights[name] for name in _TAUGHT_BY_TALKS if name in weights}


def _lifted(one: Sample, coarse: dict[str, float]) -> Floats:
    return Rough({}, coarse, 1.0, 0.0).scores(one)


def _worth(own: Sequence[Sample], fair: dict[str, float], rough: Rough) -> float:
    return float(np.mean([fair[one.set_name] * _recall(one, rough) for one in own]))


def _recall(one: Sample, rough: Rough) -> float:
    order = np.argsort(-rough.ranked(one), kind="stable")[:10].tolist()
    hits = [one.shows[at] for at in order]
    return (recall_at(hits, one.gold, 5) + recall_at(hits, one.gold, 10)) / 2
