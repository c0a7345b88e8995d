"""The extractor that asks a language model, with answers written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.chat.cache import AnswerCache
from extract.chat.model import ChatReply, ChatRequest, Rung, Usage
from extract.errors import AnswerCut, ContextTooLong, MalformedAnswer, ModelUnavailable
from extract.extractive import ExtractiveExtractor
from extract.llm import NOTHING_GROUNDED, LlmExtractor
from extract.model import Extraction, Granularity, Origin
from extract.questioning import Questioner
from extract.segments import split_segments
from ingest.model import Document, Element
from tests.extract.samples import MEETING, PATIENT, cues, document, mail, messages, prose

NOTES = prose(
    ("paragraph", "The board moved the launch of Atlas from June 30 to July 14, 2026."),
    ("paragraph", "Maria Lopez owns the migration of the billing tables."),
    ("paragraph", "The audit of the Hamburg office costs 24,500 euros this year."),
)
LAUNCH = {"text": "The board moved the launch of Atlas to July 14, 2026.",
          "quote": "moved the launch of Atlas from June 30 to July 14, 2026"}  # fmt: skip
OWNER = {"text": "Maria Lopez owns the migration of the billing tables.", "quote": NOTES[1].text}
INVENTED = {"text": "The committee cancelled Hermes in 2031.", "quote": "Hermes was cancelled in 2031 by all"}


def said(*facts: dict[str, str], **changes: Any) -> str:
    answer = {
        "title": "Atlas launch", "summary": "The board moved the launch of Atlas and named owners.",
        "topics": ["Atlas"], "participants": [], "facts": list(facts),
    }  # fmt: skip
    return json.dumps({**answer, **changes}, ensure_ascii=False)


class Scripted:
    """A model that says what it is told, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str | Exception | ChatReply) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []

    def ask(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(text=answer, complete=True, usage=Usage(), rung=Rung.SCHEMA)


CUT = ChatReply(text='{"title": "Atl', complete=False, usage=Usage(), rung=Rung.SCHEMA)


def extract(
    chat: Scripted, folder: Path, elements: Sequence[Element] = NOTES, about: Document | None = None,
    *, fallback: bool = True,
) -> Extraction:  # fmt: skip
    about = about or document()
    (segment,) = split_segments(about, elements)
    questioner = Questioner(chat, AnswerCache(folder), 1000)
    return LlmExtractor(chat, questioner, ExtractiveExtractor() if fallback else None).extract(about, segment)


def test_an_answer_becomes_an_episode_and_facts(tmp_path: Path) -> None:
    made = extract(Scripted(said(LAUNCH, OWNER)), tmp_path)
    assert made.episode.title == "Atlas launch"
    assert [fact.quote for fact in made.facts] == [LAUNCH["quote"], OWNER["quote"]]
    assert {fact.origin for fact in made.facts} == {Origin.LLM}
    assert [fact.anchors[0].line_start for fact in made.facts] == [1, 2]  # type: ignore[union-attr]
    launch = made.facts[0].occurred
    assert launch is not None
    assert (launch.start.date().isoformat(), launch.granularity) == ("2026-07-14", Granularity.DAY)
    assert launch.expression == "July 14, 2026"


def test_blank_and_repeated_facts_are_dropped_without_another_question(tmp_path: Path) -> None:
    chat = Scripted(
        said(
            OWNER,
            {"text": " ", "quote": ""},
            {"text": "Yes", "quote": "x"},
            {**OWNER, "text": OWNER["text"].upper()},
        )
    )
    assert len(extract(chat, tmp_path).facts) == 1
    assert len(chat.asked) == 1


def test_headings_and_list_marks_copied_as_facts_are_no_facts(tmp_path: Path) -> None:
    notes = prose(
        ("title", "Atlas roadmap 2026"), ("heading", "Open risks"),
        ("list_item", "The SMS provider has not signed yet"),
    )  # fmt: skip
    copied = [{"text": one, "quote": one} for one in ("Atlas roadmap 2026", "Open risks")]
    risk = {"text": "- The SMS provider has not signed yet", "quote": "- The SMS provider has not signed yet"}
    made = extract(Scripted(said(*copied, risk)), tmp_path, notes)
    assert [fact.text for fact in made.facts] == ["The SMS provider has not signed yet"]
    alone = extract(Scripted(said(copied[0])), tmp_path / "b", notes[:1])
    assert [fact.text for fact in alone.facts] == ["Atlas roadmap 2026"]


def test_a_quote_of_a_word_or_two_leaves_a_long_fact_doubtful(tmp_path: Path) -> None:
    fact = {"text": "Maria Lopez was promoted to director of all billing tables.", "quote": "Maria Lopez"}
    (made,) = extract(Scripted(said(fact)), tmp_path).facts
    assert (made.grounded, made.confidence) == (True, 0.5)


def test_a_fact_without_a_quote_does_not_spoil_the_others(tmp_path: Path) -> None:
    chat = Scripted(said(OWNER, LAUNCH, {"text": "The board met in a hurry."}))
    assert [fact.grounded for fact in extract(chat, tmp_path).facts] == [True, True, False]
    assert len(chat.asked) == 1


def test_an_invented_quote_is_kept_and_marked(tmp_path: Path) -> None:
    chat = Scripted(said(LAUNCH, OWNER, INVENTED))
    made = extract(chat, tmp_path)
    assert [fact.grounded for fact in made.facts] == [True, True, False]
    assert made.facts[2].confidence < 0.5
    assert len(chat.asked) == 1


def test_mostly_invented_quotes_are_asked_for_again_and_the_better_answer_counts(tmp_path: Path) -> None:
    chat = Scripted(
        said(OWNER, INVENTED, INVENTED | {"text": "The committee gave up Apollo."}), said(OWNER, LAUNCH)
    )
    assert all(fact.grounded for fact in extract(chat, tmp_path).facts)
    assert "Hermes was cancelled" in chat.asked[1].messages[-1].content
    worse = Scripted(
        said(OWNER, INVENTED, INVENTED | {"text": "The committee gave up Apollo."}), said(INVENTED)
    )
    assert [fact.grounded for fact in extract(worse, tmp_path / "b").facts] == [True, False, False]


def test_where_nothing_rests_on_the_source_model_free_facts_stand_beside(tmp_path: Path) -> None:
    made = extract(Scripted(said(INVENTED), said(INVENTED)), tmp_path)
    assert made.replaced == NOTHING_GROUNDED
    assert [fact.origin for fact in made.facts] == [Origin.LLM, *[Origin.EXTRACTIVE] * 3]
    assert [fact.position for fact in made.facts] == [0, 1, 2, 3]
    assert len({fact.id for fact in made.facts}) == 4
    bare = extract(Scripted(said(INVENTED), said(INVENTED)), tmp_path / "b", fallback=False)
    assert [fact.grounded for fact in bare.facts] == [False]


def test_what_the_model_passes_over_can_be_filled_in(tmp_path: Path) -> None:
    (segment,) = split_segments(document(), NOTES)
    chat = Scripted(said(OWNER))
    questioner = Questioner(chat, AnswerCache(tmp_path), 1000)
    filling = LlmExtractor(chat, questioner, gaps=ExtractiveExtractor())
    made = filling.extract(document(), segment)
    assert [(fact.origin, fact.quote) for fact in made.facts] == [
        (Origin.LLM, NOTES[1].text), (Origin.EXTRACTIVE, NOTES[0].text), (Origin.EXTRACTIVE, NOTES[2].text),
    ]  # fmt: skip
    assert [fact.position for fact in made.facts] == [0, 1, 2]
    assert made.replaced == ""
    assert filling.fingerprint != LlmExtractor(chat, questioner).fingerprint


def test_an_empty_list_of_facts_is_asked_about_once(tmp_path: Path) -> None:
    chat = Scripted(said(), said(OWNER))
    assert len(extract(chat, tmp_path).facts) == 1
    assert len(chat.asked) == 2


def test_an_answer_in_another_language_is_asked_for_again(tmp_path: Path) -> None:
    note = prose(("paragraph", "客户门户将于四月二十二日上线，由王芳负责迁移计费数据。"))
    fact = {"text": "客户门户将于四月二十二日上线。", "quote": "客户门户将于四月二十二日上线"}
    english = said({"text": "The customer portal goes live on April 22.", "quote": fact["quote"]})
    chinese = said(fact, title="客户门户上线", summary="客户门户将于四月二十二日上线，王芳负责迁移。")
    chat = Scripted(english, chinese)
    made = extract(chat, tmp_path, note)
    assert made.episode.language == "zh"
    assert made.facts[0].text.startswith("客户门户")
    assert "Write in Chinese" in chat.asked[0].messages[0].content
    assert "Chinese" in chat.asked[1].messages[-1].content
    with pytest.raises(MalformedAnswer):
        extract(Scripted(english, english), tmp_path / "b", note, fallback=False)


@pytest.mark.parametrize("answer", ["Sorry.", "{broken}", '{"title": 5}', said(facts="none")])
def test_an_answer_without_form_is_repaired_once(answer: str, tmp_path: Path) -> None:
    chat = Scripted(answer, said(OWNER))
    assert len(extract(chat, tmp_path).facts) == 1
    assert chat.asked[1].messages[-2].content == answer
    replaced = extract(Scripted(answer, answer), tmp_path / "b")
    assert replaced.replaced == MalformedAnswer.code
    assert {fact.origin for fact in replaced.facts} == {Origin.EXTRACTIVE}
    with pytest.raises(MalformedAnswer):
        extract(Scripted(answer, answer), tmp_path / "c", fallback=False)


@pytest.mark.parametrize("trouble", [CUT, ContextTooLong()])
def test_what_is_too_long_is_asked_for_in_halves_and_never_whole_again(
    trouble: ChatReply | Exception, tmp_path: Path
) -> None:
    chat = Scripted(trouble, said(LAUNCH), ModelUnavailable())
    with pytest.raises(ModelUnavailable):
        extract(chat, tmp_path)
    # A second run knows that the whole does not fit, and has the first half.
    again = Scripted(said(OWNER))
    made = extract(again, tmp_path)
    assert len(again.asked) == 1
    assert [fact.text for fact in made.facts] == [LAUNCH["text"], OWNER["text"]]


def test_an_answer_that_breaks_off_twice_without_a_word_counts_as_cut(tmp_path: Path) -> None:
    chat = Scripted(CUT.text, CUT.text, said(LAUNCH), said(OWNER))
    assert len(extract(chat, tmp_path).facts) == 2


def test_a_single_piece_that_is_too_long_ends(tmp_path: Path) -> None:
    with pytest.raises(AnswerCut):
        extract(Scripted(CUT), tmp_path, NOTES[:1], fallback=False)


def test_a_failed_improvement_does_not_cost_the_first_answer(tmp_path: Path) -> None:
    made = extract(Scripted(said(OWNER, INVENTED, INVENTED), ModelUnavailable()), tmp_path)
    assert [fact.grounded for fact in made.facts] == [True, False]


def test_a_valid_answer_is_asked_for_once_and_an_invalid_one_is_never_kept(tmp_path: Path) -> None:
    with pytest.raises(MalformedAnswer):
        extract(Scripted("No.", "No."), tmp_path, fallback=False)
    first = extract(Scripted(said(OWNER)), tmp_path)
    nobody = Scripted()
    assert extract(nobody, tmp_path) == first
    assert nobody.asked == []
    another_tenant = document().model_copy(
        update={"owner": document().owner.model_copy(update={"tenant": "b"})}
    )
    chat = Scripted(said(OWNER))
    extract(chat, tmp_path, about=another_tenant)
    assert len(chat.asked) == 1
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".json", ".json"]


def test_who_says_i_and_which_day_is_today_are_told(tmp_path: Path) -> None:
    talk = cues(("Alice Meyer", "I will send the contract tomorrow."), ("Bob", "Our audit is done today."))
    meeting = document("standup.vtt", "text/vtt", occurred_at=MEETING)
    answer = said(
        {"text": "I will send the contract tomorrow.", "quote": "I will send the contract tomorrow."},
        {"text": "Our audit is done today.", "quote": "Our audit is done today."},
    )
    texts = [fact.text for fact in extract(Scripted(answer), tmp_path, talk, meeting).facts]
    assert texts == [
        "Alice Meyer: I will send the contract tomorrow [13 March 2024].",
        "Bob: Our audit is done today. [12 March 2024]",
    ]


def test_a_mails_i_is_its_sender(tmp_path: Path) -> None:
    letter = mail(("paragraph", "1", "I accept the offer of 12,000 euros for the Hamburg audit."))
    about = document(
        "offer.eml", "message/rfc822", occurred_at=datetime(2024, 3, 12, 9, tzinfo=UTC),
        authors=("Alice Meyer <alice@example.com>",),
    )  # fmt: skip
    answer = said(
        {"text": "I accept the offer of 12,000 euros.", "quote": "I accept the offer of 12,000 euros"}
    )
    (fact,) = extract(Scripted(answer), tmp_path, letter, about).facts
    assert fact.text == "Alice Meyer: I accept the offer of 12,000 euros."


def test_time_words_are_resolved_against_the_message_they_stand_in(tmp_path: Path) -> None:
    chat = messages(
        ("Ann", "2024-03-12T10:00:00+00:00", "We leave for Rome next Friday with the whole team."),
        ("Ben", "2024-03-12T10:05:00+00:00", "Great news for all of us, book the hotel."),
    )
    answer = said(
        {"text": "Ann leaves for Rome next Friday.", "quote": "We leave for Rome next Friday",
         "time": "next Friday", "speaker": "Ann"}
    )  # fmt: skip
    (fact,) = extract(Scripted(answer), tmp_path, chat, document("chat.json", "application/json")).facts
    assert fact.occurred is not None
    assert fact.occurred.start.date().isoformat() == "2024-03-22"
    assert fact.occurred.expression == "next Friday"
    assert fact.speaker == "Ann"


def test_a_number_the_source_does_not_hold_makes_a_fact_doubtful(tmp_path: Path) -> None:
    answer = said({"text": "Maria Lopez owns 17 migrations.", "quote": OWNER["quote"]}, OWNER)
    doubtful, sure = extract(Scripted(answer), tmp_path).facts
    assert doubtful.confidence < 0.6 < sure.confidence


def test_a_chinese_mail_gives_chinese_facts_with_resolved_dates(tmp_path: Path) -> None:
    letter = mail(
        ("paragraph", "1", "各位好，我们决定下周五发布客户门户，预算为二十四万元，由赵敏负责通知客户。")
    )
    about = document(
        "portal.eml", "message/rfc822", occurred_at=datetime(2024, 3, 12, 9, tzinfo=UTC),
        authors=("王芳 <wang@example.com>",),
    )  # fmt: skip
    answer = said(
        {"text": "我们决定下周五发布客户门户。", "quote": "我们决定下周五发布客户门户", "time": "下周五"},
        {"text": "赵敏负责通知客户。", "quote": "由赵敏负责通知客户"},
        title="客户门户发布", summary="王芳说客户门户下周五发布，预算二十四万元，赵敏负责通知客户。",
    )  # fmt: skip
    chat = Scripted(answer)
    made = extract(chat, tmp_path, letter, about)
    assert made.episode.language == "zh"
    assert "Write in Chinese" in chat.asked[0].messages[0].content
    first, second = made.facts
    assert first.text == "王芳：我们决定下周五（2024年3月22日）发布客户门户。"
    assert first.occurred is not None
    assert first.occurred.start.date().isoformat() == "2024-03-22"
    assert first.occurred.expression == "下周五"
    assert (first.language, second.text) == ("zh", "赵敏负责通知客户。")


WORDS = st.text(
    st.sampled_from("aIwe 我们明天 \"'“”[]（）:：.!…\n\t0123/-\u200bé")
    | st.characters(exclude_categories=["Cs"]),
    max_size=60,
)


@PATIENT
@given(
    st.lists(
        st.fixed_dictionaries(
            {"text": WORDS, "quote": WORDS | st.sampled_from([one.text for one in NOTES]), "time": WORDS,
             "speaker": WORDS, "topic": WORDS}
        ),
        max_size=4,
    ),
    WORDS,
)  # fmt: skip
def test_whatever_a_model_says_makes_facts_that_can_be_stored(
    facts: list[dict[str, str]], words: str
) -> None:
    with TemporaryDirectory() as folder:
        answer = said(*facts, title=words, summary=words, participants=[words])
        made = extract(Scripted(answer, answer), Path(folder))
    assert Extraction.model_validate_json(made.model_dump_json()) == made
    assert all(fact.text.strip() for fact in made.facts)
    for fact in made.facts:
        assert not fact.grounded or fact.quote in " ".join(one.text for one in NOTES)
