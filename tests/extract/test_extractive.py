from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from extract.extractive import ExtractiveExtractor
from extract.grounding import SourceWords
from extract.model import Granularity, Origin
from extract.segments import split_segments
from ingest.ids import episode_id, fact_id
from tests.extract.samples import (
    MEETING,
    PATIENT,
    cues,
    document,
    extract_all,
    facts_of,
    messages,
    prose,
    rows,
    slides,
)

SYNC = document("weekly sync.vtt", "text/vtt", occurred_at=MEETING)
TALK = cues(
    ("Alice", "Good morning everyone."),
    ("Bob", "Hi Alice."),
    ("Alice", "The index migration"),
    ("Alice", "finished last night with 1.2 million chunks."),
    ("Bob", "Great. What about the Q2 deadline?"),
    ("Alice", "Let's move the Q2 deadline to June 14."),
    ("Carol", "So we agree?"),
    ("Bob", "Yes."),
    ("Carol", "Legal asked us to delete audio recordings after 14 days."),
    ("Alice", "Okay."),
)
ZH_TALK = cues(
    ("王芳", "大家好。"),
    ("李强", "好的。"),
    ("王芳", "测试还没有完成，"),
    ("王芳", "所以我建议把上线时间推迟到6月22日。"),
    ("李强", "数据库扩容什么时候做？"),
    ("赵敏", "月底之前完成，费用大约一万二。"),
    ("赵敏", "我下周五通知客户。"),
)


def test_the_decision_comes_out_whole_with_speaker_date_and_cues() -> None:
    decision = next(
        fact for fact in facts_of(SYNC, TALK) if "June 14" in fact.text and "deadline?" in fact.text
    )
    assert decision.text == (
        "Bob (12 March 2024): What about the Q2 [2024] deadline? "
        "Alice: Let's move the Q2 [2024] deadline to June 14 [2024]."
    )
    assert decision.quote == "What about the Q2 deadline? Let's move the Q2 deadline to June 14."
    assert decision.speaker == "Alice"
    assert decision.participants == ("Bob", "Alice")
    assert [anchor.label() for anchor in decision.anchors] == ["00:00:20 Bob", "00:00:25 Alice"]
    assert decision.occurred is not None
    assert decision.occurred.start == datetime(2024, 6, 14, tzinfo=UTC)
    assert decision.occurred.expression == "June 14"
    assert decision.origin is Origin.EXTRACTIVE


def test_a_sentence_over_two_cues_is_one_fact_with_both_anchors() -> None:
    fact = next(fact for fact in facts_of(SYNC, TALK) if "migration" in fact.text)
    assert fact.text == (
        "Alice (12 March 2024): The index migration finished last night [11 March 2024] "
        "with 1.2 million chunks."
    )
    assert len(fact.anchors) == 2


def test_greetings_and_backchannels_give_no_fact_but_stay_in_the_episode() -> None:
    (extraction,) = extract_all(SYNC, TALK)
    assert not any("morning" in fact.text or "Okay" in fact.text for fact in extraction.facts)
    assert "Alice: Good morning everyone." in extraction.episode.text
    assert "Alice: Okay." in extraction.episode.text


def test_a_bare_agreement_carries_what_was_agreed() -> None:
    fact = next(fact for fact in facts_of(SYNC, TALK) if "So we agree?" in fact.text)
    assert (
        fact.text
        == "Carol (12 March 2024): [Alice: Let's move the Q2 deadline to June 14.] So we agree? Bob: Yes."
    )


def test_a_chinese_meeting_gives_chinese_facts() -> None:
    talk = document("周会.vtt", "text/vtt", occurred_at=datetime(2024, 6, 4, 10, tzinfo=UTC))
    (extraction,) = extract_all(talk, ZH_TALK)
    assert [fact.text for fact in extraction.facts] == [
        "王芳（2024年6月4日）：测试还没有完成，所以我建议把上线时间推迟到6月22日（2024年）。",
        "李强（2024年6月4日）：数据库扩容什么时候做？赵敏：月底之前完成，费用大约一万二。",
        "赵敏（2024年6月4日）：我下周五（2024年6月14日）通知客户。",
    ]
    assert extraction.episode.language == "zh"
    assert extraction.episode.participants == ("王芳", "李强", "赵敏")
    assert "推迟到6月22日" in extraction.episode.summary


def test_prose_facts_carry_their_headings_and_lean_on_what_came_before() -> None:
    facts = facts_of(
        document("policy.md"),
        prose(
            ("title", "Travel policy"),
            ("heading", "Meals", 1),
            ("paragraph", "Employees may claim up to 40 EUR a day. It was 35 EUR until 2023."),
            ("heading", "Hotels", 1),
            ("paragraph", "The following are covered:"),
            ("list_item", "Rooms up to 120 EUR a night", 1),
            ("list_item", "Breakfast", 1),
        ),
    )
    assert [fact.text for fact in facts] == [
        "Travel policy > Meals: Employees may claim up to 40 EUR a day.",
        "Travel policy > Meals: [Employees may claim up to 40 EUR a day.] It was 35 EUR until 2023.",
        "Travel policy > Hotels: [The following are covered] Rooms up to 120 EUR a night",
        "Travel policy > Hotels: [The following are covered] Breakfast",
    ]
    assert [fact.topic_name for fact in facts] == ["Meals", "Meals", "Hotels", "Hotels"]
    assert facts[1].quote == "It was 35 EUR until 2023."


def test_rows_are_rendered_with_their_columns_and_header_rows_give_no_fact() -> None:
    table = rows("Budget", ("Item", "Cost"), ("Item", "Cost"), ("Rent", "1,200"), ("", ""), first_row=11)
    (extraction,) = extract_all(document("budget.xlsx"), table)
    (fact,) = extraction.facts
    assert fact.text == "Sheet Budget, row 12: Item = Rent; Cost = 1,200"
    assert fact.quote == "Rent | 1,200"
    assert fact.anchors[0].label() == "Budget!A12:B12"
    assert extraction.episode.summary == (
        "Sheet Budget, rows 11–13: 2 rows, columns Item, Cost; e.g. Item = Rent; Cost = 1,200"
    )


def test_a_very_wide_row_becomes_several_facts_with_its_first_value_in_each() -> None:
    names = tuple(f"Measurement number {at}" for at in range(26))
    table = rows("Wide", names, tuple(f"value of cell {at}" for at in range(26)))
    facts = facts_of(document("wide.xlsx"), table)
    assert len(facts) > 1
    assert all("Measurement number 0 = value of cell 0" in fact.text for fact in facts)
    source = SourceWords(table)
    assert all(source.find(fact.quote) for fact in facts)


def test_messages_carry_sender_and_their_own_date() -> None:
    facts = facts_of(
        document("chat", "application/json"),
        messages(
            ("Caroline", "2023-05-08T13:56:00+00:00", "Hey Mel! Good to see you!"),
            (
                "Caroline",
                "2023-05-08T13:57:00+00:00",
                "I went to a support group yesterday. It was powerful.",
            ),
        ),
    )
    (fact,) = facts
    assert (
        fact.text
        == "Caroline (8 May 2023): I went to a support group yesterday [7 May 2023]. It was powerful."
    )
    assert fact.occurred is not None
    assert (fact.occurred.granularity, fact.occurred.start.day) == (Granularity.DAY, 7)


def test_slides_take_their_title_as_topic() -> None:
    facts = facts_of(
        document("deck.pptx"), slides((3, "title", "Roadmap"), (3, "body", "Ship the importer in June"))
    )
    assert [(fact.topic_name, fact.quote) for fact in facts] == [("Roadmap", "Ship the importer in June")]


def test_a_document_of_headings_alone_still_gives_facts() -> None:
    facts = facts_of(document(), prose(("title", "Annual report of the harbour board")))
    assert [fact.quote for fact in facts] == ["Annual report of the harbour board"]


def test_empty_text_gives_no_fact() -> None:
    (extraction,) = extract_all(document(), prose(("paragraph", "  "), ("paragraph", "…")))
    assert extraction.facts == ()


def test_repeated_statements_are_kept_once() -> None:
    facts = facts_of(document(), prose(*[("paragraph", "The harbour opens at six.")] * 3))
    assert len(facts) == 1


def test_ids_come_from_the_document_and_positions_and_runs_are_equal() -> None:
    first, second = extract_all(SYNC, TALK), extract_all(SYNC, TALK)
    assert first == second
    for extraction in first:
        assert extraction.episode.id == episode_id(SYNC.id, extraction.episode.position)
        assert [fact.id for fact in extraction.facts] == [
            fact_id(extraction.episode.id, at) for at in range(len(extraction.facts))
        ]
        assert extraction.episode.recorded_at == SYNC.received_at


KINDS = st.sampled_from(
    [
        "paragraph",
        "heading",
        "list_item",
        "table_row",
        "caption",
        "footnote",
        "quote",
        "comment",
        "header",
        "code",
    ]
)
WORDS = st.text("ab Cd.?!，。今天3月文:：-\n“”", max_size=120)


@PATIENT
@given(st.lists(st.tuples(KINDS, WORDS, st.integers(0, 3)), max_size=25))
def test_every_fact_is_grounded_and_anchored(parts) -> None:
    elements = prose(*parts)
    doc = document()
    for segment in split_segments(doc, elements, 80):
        extraction = ExtractiveExtractor().extract(doc, segment)
        source = SourceWords(segment.elements)
        for fact in extraction.facts:
            assert fact.anchors
            assert source.find(fact.quote) is not None


@PATIENT
@given(st.lists(st.tuples(st.sampled_from(["A", "B", None]), WORDS), max_size=25))
def test_every_spoken_fact_is_grounded_and_anchored(turns) -> None:
    elements = cues(*turns)
    for extraction in extract_all(SYNC, elements, 80):
        for fact in extraction.facts:
            anchors = SourceWords(elements).find(fact.quote)
            assert anchors is not None
            assert fact.anchors
