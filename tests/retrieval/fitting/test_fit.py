from __future__ import annotations

import numpy as np
import pytest

from retrieval.errors import FitImpossible
from retrieval.fitting.fit import fit_weights
from retrieval.fitting.listwise import Ranked, fit_listwise
from retrieval.fitting.presence import fit_presence
from retrieval.fitting.samples import Sample
from retrieval.fitting.validation import final, validate
from retrieval.ranking.fusion import sigmoid
from retrieval.ranking.signals import EPISODE_SIGNALS, FACT_SIGNALS, SEARCH_SIGNALS

FACTS, EPISODES = 40, 8


def sample(number: int, *, talk: bool = True, about_nothing: bool = False) -> Sample:
    """A question whose answer matches well by words, in an episode that does; the rest is noise."""
    draw = np.random.default_rng(number + 1000 * talk)
    facts = {name: draw.normal(size=FACTS) for name in FACT_SIGNALS}
    episodes = {name: draw.normal(size=EPISODES) for name in EPISODE_SIGNALS}
    parent = np.arange(FACTS) // (FACTS // EPISODES)
    answer = int(draw.integers(FACTS))
    if not about_nothing:
        facts["bm25"][answer] += 4
        episodes["bm25"][parent[answer]] += 2
    answers, holds = np.zeros(FACTS, dtype=bool), np.zeros(EPISODES, dtype=bool)
    answers[answer] = holds[parent[answer]] = not about_nothing
    return Sample(
        set_name="talks" if talk else "texts",
        group=f"{talk}-{number % 5}",
        kind="off-topic" if about_nothing else "plain",
        talk=talk,
        facts=facts,
        episodes=episodes,
        search={name: 0.2 + 0.3 * (not about_nothing) + 0.05 * draw.normal() for name in SEARCH_SIGNALS},
        parent=parent,
        answers=answers,
        holds=holds,
        shows=[frozenset({f"p{at}"}) for at in range(FACTS)],
        gold=frozenset() if about_nothing else frozenset({f"p{answer}"}),
        bm25=episodes["bm25"],
        cosine=episodes["cosine"],
        flat=draw.normal(size=FACTS),
    )


KNOWN = [
    sample(number, talk=talk, about_nothing=number % 4 == 0) for talk in (True, False) for number in range(40)
]


def test_listwise_finds_what_tells_right_from_wrong() -> None:
    lists = [Ranked(one.facts, one.answers) for one in KNOWN if one.gold]
    weights = fit_listwise(lists, ["bm25", "cosine"], ridge=1.0)
    assert weights["bm25"] > 1
    assert abs(weights["cosine"]) < 0.5


def test_a_stronger_pull_gives_smaller_weights() -> None:
    lists = [Ranked(one.facts, one.answers) for one in KNOWN if one.gold]
    free, held = (fit_listwise(lists, ["bm25"], ridge)["bm25"] for ridge in (0.1, 500.0))
    assert 0 < held < free


def test_lists_without_a_choice_teach_nothing() -> None:
    with pytest.raises(FitImpossible):
        fit_listwise([Ranked({"bm25": np.ones(3)}, np.ones(3, dtype=bool))], ["bm25"], 1.0)


def test_a_fit_ranks_what_it_has_not_seen_and_knows_when_nothing_answers() -> None:
    found = validate(KNOWN, "enc", folds=5)
    whole = {row.set_name: row for row in found.rows if row.kind == "all"}
    for row in whole.values():
        assert row.after.recall_5 > 0.9 > row.before.recall_5
    assert min(found.auroc.values()) > 0.95
    assert found.error < 0.15


def test_scores_are_chances_and_both_layers_share_one_scale() -> None:
    weights = fit_weights(KNOWN, "enc")
    assert weights.fitted_on == ("talks", "texts")
    assert weights.unknown == ()
    chances, truths = [], []
    for one in KNOWN:
        scores = final(one, weights)
        best = np.argsort(-scores)[:3]
        chances.append(scores[best])
        truths.append(one.answers[best])
    assert np.mean(chances) == pytest.approx(np.mean(truths), abs=0.05)
    episodes = np.concatenate([weights.talk.episodes(one.episodes) for one in KNOWN if one.gold])
    # One of five statements answers where one does; an episode's own score must not promise more.
    assert float(sigmoid(episodes).mean()) < 0.2


def test_without_questions_about_nothing_every_search_counts_as_answerable() -> None:
    weights = fit_weights([one for one in KNOWN if one.gold], "enc")
    assert weights.presence(KNOWN[0].search) > 0.95


def test_each_way_between_scripts_has_its_own_usual_value() -> None:
    # The same lead says less where most questions are about nothing than where most are answered.
    def asked(number: int, way: str, *, answered: bool) -> Sample:
        one = sample(number, about_nothing=not answered)
        lead = float(np.random.default_rng(number).normal(0.5 + 0.1 * answered, 0.05))
        known = {f"lead_{way}": lead} if way == "to_cjk" else {"cosine_latin": lead}
        return one._replace(search=dict.fromkeys(SEARCH_SIGNALS, float("nan")) | known, set_name="one")

    known = [asked(at, "latin", answered=at % 5 > 0) for at in range(200)]
    known += [asked(at, "to_cjk", answered=at % 5 == 0) for at in range(200, 400)]
    presence = fit_presence(known)
    nothing = dict.fromkeys(SEARCH_SIGNALS, float("nan"))
    usual = presence(nothing | {"cosine_latin": 0.6}), presence(nothing | {"lead_to_cjk": 0.6})
    assert usual[0] > usual[1] + 0.1


def test_with_talks_alone_texts_are_ranked_too() -> None:
    weights = fit_weights([one for one in KNOWN if one.talk], "enc")
    assert weights.text.facts.weights["bm25"] > 0
    assert "named" not in weights.text.facts.weights


def test_a_match_never_speaks_against_a_candidate() -> None:
    lists = []
    for one in KNOWN:
        if one.gold:
            spoilt = {**one.facts, "context_bm25": np.where(one.answers, -3.0, one.facts["context_bm25"])}
            lists.append(Ranked(spoilt, one.answers))
    assert fit_listwise(lists, ["bm25", "context_bm25"], ridge=1.0)["context_bm25"] < -0.5
    kept = fit_listwise(lists, ["bm25", "context_bm25"], ridge=1.0, never_against=("context_bm25",))
    assert kept["context_bm25"] == 0.0
    assert kept["bm25"] > 1


def test_a_known_weight_is_kept_and_reckoned_with() -> None:
    lists = [Ranked(one.facts, one.answers) for one in KNOWN if one.gold]
    weights = fit_listwise(lists, ["bm25", "period"], ridge=1.0, given={"period": 2.0})
    assert weights["period"] == pytest.approx(2.0)
    assert weights["bm25"] > 1


def test_texts_take_over_what_talks_teach_of_dates() -> None:
    layers = fit_weights(KNOWN, "encoder")
    ratio = layers.text.facts.weights["period"] / layers.text.facts.weights["bm25"]
    assert layers.talk.facts.weights["period"] >= 0
    assert ratio >= 0
    assert min(layers.text.facts.weights[name] for name in ("cosine", "bm25", "context_bm25")) >= 0
