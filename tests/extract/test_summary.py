from __future__ import annotations

from extract.keyphrases import keyphrases
from extract.scripts import estimate_tokens
from extract.summary import MAX_TOKENS, Candidate, choose, join_sentences
from tests.extract.samples import MEETING, cues, document, extract_all, prose

REPORT = [
    "The harbour board met to discuss the new container terminal.",
    "Lunch was served at noon.",
    "The container terminal will cost 40 million euros according to the board.",
    "Somebody opened a window.",
    "The harbour board decided to build the container terminal in 2026.",
    "It rained.",
]


def test_the_chosen_sentences_are_central_decisive_and_in_order() -> None:
    chosen = choose([Candidate(sentence) for sentence in REPORT], "en")
    assert chosen == [REPORT[0], REPORT[2], REPORT[4]]


def test_a_summary_keeps_to_its_budget() -> None:
    long = [
        Candidate(f"The harbour board spoke at great length about container terminal number {at}. " * 3)
        for at in range(9)
    ]
    assert sum(map(estimate_tokens, choose(long, "en"))) <= MAX_TOKENS


def test_a_single_endless_sentence_is_shortened() -> None:
    (only,) = choose([Candidate("word " * 400)], "en")
    assert only.endswith("…")


def test_near_repeats_are_chosen_once() -> None:
    said = "The harbour board decided to build the terminal."
    assert (
        len(
            choose(
                [Candidate(said), Candidate(said + " Yes."), Candidate("The budget is 40 million euros.")],
                "en",
            )
        )
        == 2
    )


def test_fragments_are_set_apart() -> None:
    assert join_sentences(["Rooms up to 120 EUR", "Breakfast"]) == "Rooms up to 120 EUR; Breakfast"
    assert join_sentences(["决定推迟。", "通知客户"]) == "决定推迟。通知客户"


def test_nothing_gives_no_summary_sentence() -> None:
    assert choose([], "en") == []


def test_an_episode_of_talk_names_speakers_topics_and_the_decision() -> None:
    talk = cues(
        ("Alice", "The container terminal needs a new budget."),
        ("Bob", "I walked here through the rain this morning."),
        ("Alice", "We agreed to move the container terminal deadline to June 14."),
    )
    (extraction,) = extract_all(document("sync.vtt", occurred_at=MEETING), talk)
    assert extraction.episode.summary.startswith("Alice and Bob talk about container terminal")
    assert (
        "Alice: We agreed to move the container terminal deadline to June 14." in extraction.episode.summary
    )


def test_topics_are_what_recurs_without_verbs_numbers_and_speakers() -> None:
    topics = keyphrases(REPORT, "en", leave_out=("Alice",))
    assert topics[:2] == ("container terminal", "harbour board")
    assert keyphrases(["王芳负责新港口的集装箱码头。", "集装箱码头需要预算。"], "zh")[0] == "集装箱码头"
    assert keyphrases([], "en") == ()


def test_a_table_in_a_document_is_summed_up_by_its_columns() -> None:
    from ingest.model import Cell

    elements = prose(("heading", "Limits", 1), ("table_row", "Berlin | 130"), ("table_row", "Paris | 180"))
    named = [
        element.model_copy(
            update={
                "cells": tuple(
                    map(lambda n, v: Cell(name=n, value=v), ("City", "Limit"), element.text.split(" | "))
                )
            }
        )
        if element.kind == "table_row"
        else element
        for element in elements
    ]
    (extraction,) = extract_all(document("limits.docx"), named)
    assert (
        extraction.episode.summary == "Limits: 2 rows, columns City, Limit; e.g. City = Berlin; Limit = 130"
    )
    assert extraction.facts[0].text == "limits > Limits: City = Berlin; Limit = 130"
