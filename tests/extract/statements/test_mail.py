from __future__ import annotations

from datetime import UTC, datetime

from extract.grounding import SourceWords
from tests.extract.samples import document, extract_all, facts_of, mail

HEADERS = (
    ("field", "headers", "Subject: Q2 deadline"),
    ("field", "headers", "From: Alice Smith <alice@example.com>"),
    ("field", "headers", "To: Bob <bob@example.com>"),
)
MAIL = document(
    "note.eml",
    "message/rfc822",
    title="Q2 deadline",
    authors=("Alice Smith <alice@example.com>",),
    participants=("Alice Smith <alice@example.com>", "Bob <bob@example.com>"),
    occurred_at=datetime(2024, 3, 12, 9, 30, tzinfo=UTC),
)


def test_the_envelope_and_each_sentence_are_facts_of_the_sender() -> None:
    elements = mail(*HEADERS, ("paragraph", "1", "We ship next Friday. Legal agreed yesterday."))
    facts = facts_of(MAIL, elements)
    assert [fact.text for fact in facts] == [
        "Mail from Alice Smith to Bob on 12 March 2024 about “Q2 deadline”",
        "Alice Smith (12 March 2024, “Q2 deadline”): We ship next Friday [22 March 2024].",
        "Alice Smith (12 March 2024, “Q2 deadline”): Legal agreed yesterday [11 March 2024].",
    ]
    assert {fact.speaker for fact in facts} == {"Alice Smith"}
    assert facts[0].participants == ("Alice Smith", "Bob")


def test_the_summary_names_both_ends_and_what_is_said() -> None:
    (extraction,) = extract_all(MAIL, mail(*HEADERS, ("paragraph", "1", "We move the deadline to June 14.")))
    assert extraction.episode.summary == (
        "Mail from Alice Smith to Bob on 12 March 2024 about “Q2 deadline”: We move the deadline to June 14."
    )


def test_quoted_words_belong_to_whom_they_are_quoted_from() -> None:
    elements = mail(
        *HEADERS,
        ("quote", "1", "On Mon, 11 Mar 2024 at 10:00, Carol Jones <carol@example.com> wrote:"),
        ("quote", "1", "Can the report wait until June?"),
        ("paragraph", "1", "Yes, the report can wait until June."),
    )
    facts = facts_of(MAIL, elements)[1:]
    assert [(fact.speaker, fact.text) for fact in facts] == [
        (
            "Carol Jones",
            "Carol Jones (11 March 2024, quoted, “Q2 deadline”): Can the report wait until June [2024]?",
        ),
        (
            "Alice Smith",
            "Alice Smith (12 March 2024, “Q2 deadline”): Yes, the report can wait until June [2024].",
        ),
    ]


def test_headers_of_an_answered_mail_name_its_writer_and_give_no_fact() -> None:
    elements = mail(
        *HEADERS,
        (
            "quote",
            "1",
            "From: Dan Brown [mailto:dan@example.com]\nSent: Monday, March 11, 2024 9:49 PM\nTo: Alice",
        ),
        ("quote", "1", "The harbour report is late."),
    )
    (fact,) = facts_of(MAIL, elements)[1:]
    assert fact.text == "Dan Brown (11 March 2024, quoted, “Q2 deadline”): The harbour report is late."


def test_a_meeting_in_a_calendar_part_is_one_fact() -> None:
    elements = mail(*HEADERS, ("field", "2", "Summary: Review"), ("field", "2", "Location: Room 5"))
    (fact,) = facts_of(MAIL, elements)[1:]
    assert fact.text == "Q2 deadline: Summary: Review; Location: Room 5"
    assert SourceWords(elements).find(fact.quote) is not None


def test_a_chinese_mail_gives_chinese_facts() -> None:
    doc = document(
        "信.eml",
        "message/rfc822",
        title="上线时间",
        authors=("王芳 <wf@example.com>",),
        participants=("王芳 <wf@example.com>", "李强 <lq@example.com>"),
        occurred_at=datetime(2024, 6, 4, 10, tzinfo=UTC),
    )
    facts = facts_of(
        doc,
        mail(
            ("field", "headers", "Subject: 上线时间"),
            ("paragraph", "1", "上线推迟到6月22日，请在下周五之前通知所有客户。"),
        ),
    )
    assert [fact.text for fact in facts] == [
        "王芳致李强的邮件，2024年6月4日，主题“上线时间”",
        "王芳（2024年6月4日，“上线时间”）：上线推迟到6月22日（2024年），请在下周五（2024年6月14日）之前通知所有客户。",
    ]
    assert {fact.language for fact in facts} == {"zh"}
