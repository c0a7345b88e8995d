from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.chat.model import ChatReply, ChatRequest, Rung, Usage
from extract.errors import ModelUnavailable
from extract.model import Extraction
from ingest.model import Document, Source
from retrieval.bridges import Reading, covered, names_in, next_questions
from retrieval.embedders.fake import HashEmbedder
from retrieval.extra_knobs import AgenticKnobs
from retrieval.index import index_document
from retrieval.judging import Judge, ModelJudge
from retrieval.knobs import Fusion, MragKnobs
from retrieval.model import HitTrace, Include, SearchAnswer, SearchMethod
from retrieval.passes import Found
from retrieval.rounds import Rounds, interleave
from retrieval.search import Extras, Searcher
from tests.fakes import MemoryStore
from tests.retrieval.builders import NOW, a_fact, an_episode, owner
from tests.retrieval.test_search import ask

EMBEDDER = HashEmbedder()
NOTES = {
    "Leland": ["Leland is a town.", "The film Maximum Overdrive was shot in Leland in 1986."],
    "Maximum Overdrive": ["Maximum Overdrive is a film about machines.", "Stephen King directed it."],
    "Stephen King": ["Stephen King was born in Portland.", "He writes novels."],
    **{f"Town {at}": [f"The film club of town {at} meets on Mondays.", "It rained."] for at in range(12)},
}
QUESTION = "Who directed the film that was shot in Leland in 1986?"


def notes() -> MemoryStore:
    store = MemoryStore()
    for number, (title, texts) in enumerate(NOTES.items()):
        name = f"doc-{number}"
        source = Source(name=f"{title}.txt", media_type="text/plain", sha256="0" * 64, size_bytes=1)
        document = Document(id=name, owner=owner(), source=source, received_at=NOW)
        episode = an_episode(name, text=" ".join(texts), title=title, language="en").episode
        facts = tuple(
            a_fact(name, 0, at, text=text, topic_name=title, language="en").fact
            for at, text in enumerate(texts)
        )
        index_document(store, EMBEDDER, document, [Extraction(episode=episode, facts=facts)])
    return store


def search(judge: Judge | None = None, **knobs: object) -> SearchAnswer:
    rounds = Rounds(judge, AgenticKnobs.model_validate(knobs))
    mrag = MragKnobs(fusion=Fusion.RRF)
    searcher = Searcher(notes(), EMBEDDER, mrag, extras=Extras(rounds=rounds))
    query = ask(QUESTION, method=SearchMethod.AGENTIC, top_k=4, include=[Include.TRACE])
    return searcher.search(query)


def titles(answer: SearchAnswer) -> set[str]:
    return {hit.indexed.episode.title for hit in answer.episodes}


class Scripted:
    name = "scripted"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []

    def ask(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(prompt_tokens=100, completion_tokens=20)
        return ChatReply(text=answer, complete=True, usage=usage, rung=Rung.SCHEMA)


def verdict(*questions: str, enough: bool = False) -> str:
    return json.dumps({"enough": enough, "questions": list(questions)})


def test_without_a_model_the_second_hop_is_found_through_the_name_between() -> None:
    answer = search()
    assert {"Leland", "Maximum Overdrive"} <= titles(answer)
    assert answer.trace is not None
    first, second, *_ = answer.trace.agentic
    assert (first.questions, first.judge) == ((QUESTION,), "caller")
    assert second.judge == "text"
    assert any("Maximum Overdrive" in question for question in second.questions)
    traces = [hit.trace for hit in (*answer.facts, *answer.episodes) if hit.trace]
    assert {trace.round for trace in traces} >= {1, 2}
    assert answer.degraded == ()


def test_results_are_sorted_unique_and_no_more_than_wanted() -> None:
    answer = search()
    standing = [hit for hit in answer.episodes if hit.answers]
    assert len(answer.facts) + len(standing) == 4
    assert not {hit.indexed.fact.episode_id for hit in answer.facts} & {
        hit.indexed.episode.id for hit in standing
    }
    scores = [hit.score for hit in answer.facts]
    assert scores == sorted(scores, reverse=True)


def test_one_round_is_hybrid() -> None:
    answer = search(rounds=1)
    assert answer.trace is not None
    assert len(answer.trace.agentic) == 1
    assert answer.trace.stopped == "rounds"


def test_a_model_asks_and_stops_when_it_has_enough() -> None:
    chat = Scripted(verdict("Who directed Maximum Overdrive?"), verdict(enough=True))
    answer = search(ModelJudge(chat))
    assert "Maximum Overdrive" in titles(answer)
    assert answer.trace is not None
    assert answer.trace.agentic[1].questions == ("Who directed Maximum Overdrive?",)
    assert (answer.trace.agentic[1].tokens, answer.trace.stopped) == (120, "enough")
    assert "Asked already: Who directed Maximum Overdrive?" in chat.asked[1].messages[-1].content
    assert "Maximum Overdrive was shot in Leland" in chat.asked[0].messages[-1].content


@pytest.mark.parametrize("said", ["no idea", "{}", '{"enough": "yes", "questions": []}', '{"enough": false}'])
def test_a_model_that_fails_is_named_and_names_are_asked_about(said: str) -> None:
    answer = search(ModelJudge(Scripted(said)))
    assert "Maximum Overdrive" in titles(answer)
    assert [one.part for one in answer.degraded] == ["judge"]


def test_a_model_that_is_away_is_named_too() -> None:
    answer = search(ModelJudge(Scripted(ModelUnavailable("Gone fishing."))))
    assert "Gone fishing" in answer.degraded[0].reason
    assert "Maximum Overdrive" in titles(answer)


def test_rounds_end_at_the_bounds() -> None:
    tired = Scripted(verdict("a?"), verdict("b?"), verdict("c?"))
    answer = search(ModelJudge(tired), tokens=100)
    assert answer.trace is not None
    assert (answer.trace.stopped, tired.asked) == ("tokens", [])
    ticks = iter(range(1000))
    late = Rounds(None, AgenticKnobs(seconds=0.5), clock=lambda: float(next(ticks)))
    mrag = MragKnobs(fusion=Fusion.RRF)
    searcher = Searcher(notes(), EMBEDDER, mrag, extras=Extras(rounds=late))
    query = ask(QUESTION, method=SearchMethod.AGENTIC, include=[Include.TRACE])
    trace = searcher.search(query).trace
    assert trace is not None
    assert (trace.stopped, len(trace.agentic)) == ("time", 1)
    repeats = Scripted(verdict(QUESTION, "  ", "?!"))
    answer = search(ModelJudge(repeats))
    assert answer.trace is not None
    assert answer.trace.stopped == "no further question"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The film Maximum Overdrive was shot in Leland.", ["Maximum Overdrive", "Leland"]),
        ("It was made for the Bank of England.", ["Bank of England"]),
        ("He met Ludwig van Beethoven in Bonn. Then he left.", ["Ludwig van Beethoven", "Bonn"]),
        ("Yeah, I saw Paris! Thanks.\nStephen King was there.", ["Paris", "Stephen King"]),
        ("nothing to see here", []),
        ("《红楼梦》是一部小说。", ["红楼梦"]),
    ],
)
def test_names(text: str, names: Sequence[str]) -> None:
    found = list(names_in(text))
    assert found == list(names) or (text[0] == "《" and found[0] == names[0])


def test_next_questions_leave_out_what_is_known() -> None:
    reading = Reading("Leland", "The film Maximum Overdrive was shot in Leland in 1986.")
    (asked,) = next_questions(QUESTION, [reading], 4)
    assert asked == "Maximum Overdrive Who directed that"
    assert next_questions(QUESTION, [reading], 4, known=[asked]) == []
    assert next_questions(QUESTION, [], 4) == []
    assert next_questions("《红楼梦》的作者是谁？", [Reading("红楼梦", "《红楼梦》的作者是曹雪芹。")], 2)


def test_a_question_that_one_result_covers_ends_the_search() -> None:
    assert covered(
        "Where was Maximum Overdrive shot?", [Reading("Leland", "Maximum Overdrive was shot there.")]
    )
    assert not covered("Who directed Maximum Overdrive?", [Reading("Leland", "Maximum Overdrive was shot.")])
    assert not covered("Anything?", [])
    rounds = Searcher(notes(), EMBEDDER, MragKnobs(fusion=Fusion.RRF))
    query = ask("Where was Stephen King born?", method=SearchMethod.AGENTIC, include=[Include.TRACE])
    trace = rounds.search(query).trace
    assert trace is not None
    assert (trace.stopped, len(trace.agentic)) == ("enough", 1)


def found(id_: str, parent: str | None, score: float) -> Found:
    return Found(id_, parent, score, HitTrace())


LISTS = st.lists(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.floats(0, 1)),
        max_size=8,
        unique_by=lambda one: one[:2],
    ),
    min_size=1,
    max_size=4,
)


@given(LISTS, st.integers(1, 6))
def test_interleaving_keeps_the_promises(rows: list[list[tuple[int, int, float]]], count: int) -> None:
    # As a pass gives them: no parent beside its own fact.
    told = [{e for e, f, _ in one if f} for one in rows]
    lists = [
        [
            found(f"{e}" if f == 0 else f"{e}.{f}", None if f == 0 else f"{e}", score)
            for e, f, score in one
            if f or e not in speaking
        ]
        for one, speaking in zip(rows, told, strict=True)
    ]
    merged = interleave(lists, count)
    ids = [one.id for one in merged]
    assert len(ids) == len(set(ids)) <= count
    assert not {one.parent for one in merged} & set(ids)
    scores = [one.score for one in merged]
    assert scores == sorted(scores, reverse=True)
    ceiling = max((one.score for one in lists[0]), default=0.0)
    assert all(score <= ceiling for score in scores)
    kept = [one.id for one in lists[0][: min(3, count // 2)]]
    assert ids[: len(kept)] == kept
    items = [item for one in lists for item in one]
    speaking = {one.parent for one in items if one.parent}
    assert len(merged) >= min(count, len({one.episode for one in items}))
    assert len(merged) <= len({one.id for one in items} - (speaking - set(ids)))
