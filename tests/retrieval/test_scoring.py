from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.embedders.e5 import E5Embedder
from retrieval.errors import FingerprintMismatch, WeightsDamaged
from retrieval.knobs import MragKnobs
from retrieval.ranking.asked import ask
from retrieval.ranking.fusion import sigmoid
from retrieval.ranking.pools import EpisodePool, FactPool
from retrieval.ranking.scoring import LrScorer, RrfScorer, Scorer, make_scorer, unpacked_scorer
from retrieval.ranking.signals import SEARCH_SIGNALS, SIGNALS_VERSION
from retrieval.ranking.weights import FusionWeights, Layers, Linear, Presence, Sharpness, load_weights
from retrieval.tokenizer import TOKENIZER_VERSION
from retrieval.traits import Traits

ENCODER = "enc-1"
LAYERS = Layers(
    facts=Linear(intercept=1.0, weights={"cosine": 2.0}),
    episodes=Linear(intercept=-1.0, weights={"bm25": 0.5}),
    sibling=0.5,
)


def weights(**more: object) -> FusionWeights:
    fields = {
        "encoder": ENCODER, "signals": SIGNALS_VERSION, "tokenizer": TOKENIZER_VERSION,
        "talk": LAYERS, "text": Layers(facts=Linear(), episodes=Linear()), **more,
    }  # fmt: skip
    return FusionWeights.model_validate(fields)


def pools(*, talk: bool = True) -> tuple[EpisodePool, FactPool]:
    told = Traits(talk=talk, language="en")
    episodes = EpisodePool(("e", "g"), (told, told), np.array([0.8, 0.7]), np.array([5.0, 0.0]))
    traits = tuple(told._replace(parent=parent, place=at) for at, parent in enumerate("eeg"))
    cosine = np.array([0.8, 0.9, 0.7])
    return episodes, FactPool(("1", "2", "3"), traits, cosine, np.zeros(3), cosine, np.zeros(3))


def test_signals_are_weighed_and_siblings_stand_back() -> None:
    asked = ask("tomatoes")
    plain = weights(talk=LAYERS.model_copy(update={"sibling": 0.0}))
    free, held = (LrScorer(one).score(asked, *pools()) for one in (plain, weights()))
    assert list(np.argsort(-free.facts)) == [1, 0, 2]
    assert free.facts - held.facts == pytest.approx([0.5 * np.log(2), 0, 0])
    assert held.episodes[0] > held.episodes[1]


def test_talks_and_texts_have_weights_of_their_own() -> None:
    scores = LrScorer(weights()).score(ask("tomatoes"), *pools(talk=False))
    assert list(scores.facts) == [0, 0, 0]
    assert list(scores.episodes) == [0, 0]


def test_scores_become_probabilities_that_tell_how_well_anything_matches() -> None:
    presence = Presence(intercept=1.0, typical={"cosine_latin": 0.7}, weights={"cosine_latin": 10.0})
    scores = LrScorer(weights(presence=presence)).score(ask("tomatoes"), *pools())
    assert scores.unit(0.0) == pytest.approx(float(sigmoid(np.array(1 + 10 * (0.9 - 0.7)))) / 2)
    assert 0 < scores.unit(-50) < scores.unit(0) < scores.unit(50) <= 1


def test_a_signal_that_is_missing_counts_as_usual() -> None:
    presence = Presence(intercept=1.0, typical={"cosine_latin": 0.7}, weights={"cosine_latin": 10.0})
    usual = dict.fromkeys(SEARCH_SIGNALS, float("nan"))
    assert presence(usual) == presence({**usual, "cosine_latin": 0.7})


def test_ranks_are_scores_already() -> None:
    scores = RrfScorer().score(ask("tomatoes"), *pools())
    assert scores.unit(0.25) == 0.25
    assert scores.unit(1.25) == 1.0


def test_one_lane_scores_grow_with_the_lane() -> None:
    for scorer in (RrfScorer(), LrScorer(weights())):
        asked = ask("red tomatoes")
        assert 0 <= scorer.keyword(asked, 1.0) < scorer.keyword(asked, 9.0) <= 1
        assert 0 <= scorer.vector(0.2) < scorer.vector(0.9) <= 1


def test_what_is_shipped_fits_the_default_encoder() -> None:
    encoder = E5Embedder().fingerprint
    assert isinstance(make_scorer(MragKnobs(), encoder), LrScorer)
    assert isinstance(make_scorer(MragKnobs.model_validate({"fusion": "rrf"}), encoder), RrfScorer)


def test_an_encoder_without_weights_ranks_by_ranks_unless_weights_are_demanded() -> None:
    assert isinstance(make_scorer(MragKnobs(), "another"), RrfScorer)
    with pytest.raises(FingerprintMismatch, match="another"):
        make_scorer(MragKnobs.model_validate({"fusion": "lr"}), "another")


@pytest.mark.parametrize("field", ["encoder", "signals", "tokenizer"])
def test_weights_fitted_for_something_else_are_refused(tmp_path: Path, field: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(weights(**{field: "other"}).model_dump_json(), encoding="utf-8")
    with pytest.raises(FingerprintMismatch, match="other"):
        load_weights(path, ENCODER)


def test_weights_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(weights().model_dump_json(), encoding="utf-8")
    assert load_weights(path, ENCODER) == weights()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read"),
        ("{", "not a weights file"),
        (json.dumps({"encoder": ENCODER}), "signals"),
        (weights(talk={"facts": {"weights": {"colour": 1.0}}, "episodes": {}}).model_dump_json(), "colour"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, content: str | None, complaint: str) -> None:
    path = tmp_path / "weights.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(WeightsDamaged, match=complaint):
        load_weights(path, ENCODER)


@given(st.floats(0, 1), st.floats(-40, 40), st.floats(-40, 40), st.floats(0, 4), st.floats(-1, 1))
def test_one_chance_is_that_of_an_array(
    presence: float, odds: float, among: float, slope: float, crowd: float
) -> None:
    sharpness = Sharpness(intercept=-0.3, slope=slope, crowd=crowd)
    assert sharpness.one(presence, odds, among) == pytest.approx(
        float(sharpness(presence, np.array(odds), among))
    )


@pytest.mark.parametrize("scorer", [LrScorer(weights()), RrfScorer(7)])
def test_a_scorer_written_down_scores_the_same(scorer: Scorer) -> None:
    again, asked = unpacked_scorer(scorer.packed), ask("tomatoes")
    assert type(again) is type(scorer)
    one, other = scorer.score(asked, *pools()), again.score(asked, *pools())
    assert (list(one.facts), list(one.episodes)) == (list(other.facts), list(other.episodes))
    assert scorer.keyword(asked, 3.0) == again.keyword(asked, 3.0)


def test_surroundings_count_where_a_weight_says_so() -> None:
    around = Layers(facts=Linear(weights={"context_bm25": 0.1}), episodes=Linear())
    scorer = LrScorer(weights(talk=around))
    assert [scorer.counts_context(kinds) for kinds in ({True}, {False}, {True, False}, set())] == [
        True, False, True, False,
    ]  # fmt: skip
    assert RrfScorer().counts_context({False})
