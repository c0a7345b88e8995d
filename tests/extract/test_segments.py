from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.model import SegmentKind
from extract.segments import MAX_ROWS, split_segments
from ingest.anchors import MailAnchor
from ingest.model import Element, ElementKind
from tests.extract.samples import MEETING, PATIENT, cues, document, messages, pages, prose, rows, slides

SENTENCE = "The committee read the report on the new harbour and asked for a second opinion. "


def split(elements: list[Element], max_tokens: int = 120, **meta: object):
    return list(split_segments(document(**meta), elements, max_tokens))


def texts(segment) -> list[str]:
    return [element.text for element in segment.elements]


def test_headings_start_segments_and_give_titles() -> None:
    found = split(
        prose(
            ("title", "Travel policy"),
            ("heading", "Meals", 1),
            ("paragraph", SENTENCE * 4),
            ("heading", "Hotels", 1),
            ("paragraph", SENTENCE * 4),
        )
    )
    assert [segment.title for segment in found] == ["Travel policy > Meals", "Travel policy > Hotels"]
    assert [segment.heading_path for segment in found] == [(), ("Travel policy",)]
    assert all(segment.kind is SegmentKind.PROSE for segment in found)


def test_tiny_sections_of_one_chapter_are_merged_and_chapters_are_not_mixed() -> None:
    found = split(
        prose(
            ("heading", "Rules", 1),
            ("heading", "Meals", 2),
            ("paragraph", "Up to 40 EUR a day."),
            ("heading", "Hotels", 2),
            ("paragraph", "Up to 120 EUR a night."),
            ("heading", "Contacts", 1),
            ("paragraph", "Ask Alice."),
        )
    )
    assert [segment.title for segment in found] == ["Rules > Meals; Hotels", "Contacts"]


def test_a_long_section_is_cut_in_even_parts_at_paragraphs() -> None:
    found = split(prose(("heading", "History", 1), *[("paragraph", SENTENCE * 2)] * 8))
    assert [segment.title for segment in found] == [
        "History",
        *(f"History ({at})" for at in range(2, len(found) + 1)),
    ]
    sizes = [len(segment.elements) for segment in found]
    assert max(sizes) - min(sizes) <= 1
    assert all(segment.heading_path == ("History",) for segment in found[1:])


def test_an_oversized_element_is_a_segment_of_its_own() -> None:
    found = split(prose(("paragraph", "Short."), ("paragraph", SENTENCE * 40), ("paragraph", "Short too.")))
    assert [len(segment.elements) for segment in found] == [1, 1, 1]


def test_pages_part_a_document_without_headings() -> None:
    found = split(pages((1, SENTENCE * 4), (2, SENTENCE * 4)), page_count=2)
    assert [segment.title for segment in found] == ["notes, p. 1", "notes, p. 2"]


def test_a_sentence_across_pages_keeps_them_together() -> None:
    found = split(
        pages((1, "The committee read the report and"), (2, "asked for a second opinion.")), page_count=2
    )
    assert len(found) == 1


def test_sheets_are_never_mixed_and_rows_come_in_groups() -> None:
    first = rows("Budget", ("Item", "Cost"), *[(f"Item {at}", str(at)) for at in range(120)])
    second = rows("Staff", ("Name",), ("Alice",))
    elements = [e.model_copy(update={"position": at}) for at, e in enumerate([*first, *second])]
    found = split(elements, 420)
    assert [segment.title for segment in found][-1] == "Sheet Staff"
    assert all(len(segment.elements) <= MAX_ROWS for segment in found)
    assert found[0].title.startswith("Sheet Budget, rows 2–")
    assert {segment.kind for segment in found} == {SegmentKind.TABLE}


def test_each_full_slide_is_a_segment_and_small_ones_join() -> None:
    full = split(
        slides(
            (1, "title", "Roadmap"),
            (1, "body", SENTENCE * 3),
            (2, "title", "Risks"),
            (2, "body", SENTENCE * 3),
        )
    )
    assert [segment.title for segment in full] == ["Slide 1: Roadmap", "Slide 2: Risks"]
    small = split(slides((1, "title", "Thanks"), (2, "title", "Questions")))
    assert [segment.title for segment in small] == ["Slide 1–2: Thanks"]


def test_a_transcript_breaks_at_long_pauses_and_knows_when_it_was() -> None:
    talk = cues(("Alice", SENTENCE * 2), ("Bob", SENTENCE * 2), step_s=1000)
    found = split(talk, occurred_at=MEETING)
    assert len(found) == 2
    assert found[1].occurred_at == datetime(2024, 3, 12, 10, 16, 40, tzinfo=UTC)
    assert found[1].participants == ("Bob",)


def test_a_transcript_is_cut_between_turns_not_after_a_question() -> None:
    talk = cues(*[("Alice", SENTENCE), ("Bob", "What about the deadline of the second quarter then?")] * 8)
    for segment in split(talk)[:-1]:
        assert not segment.elements[-1].text.endswith("?")


def test_a_conversation_breaks_by_day_and_pause_but_not_at_midnight() -> None:
    found = split(
        messages(
            ("Alice", "2024-03-12T23:55:00+00:00", "The deadline moves to June 14."),
            ("Bob", "2024-03-13T00:05:00+00:00", "Fine with me."),
            ("Bob", "2024-03-14T09:00:00+00:00", "Legal has answered at last."),
        )
    )
    assert [len(segment.elements) for segment in found] == [2, 1]
    assert found[0].title == "Alice and Bob, 12 March 2024: The deadline moves to June 14."


def test_quoted_replies_stand_apart_from_the_mail() -> None:
    elements = prose(("paragraph", SENTENCE * 5), ("quote", SENTENCE * 5))
    mail = [element.model_copy(update={"anchor": MailAnchor(part="1")}) for element in elements]
    found = split(mail, title="Harbour", authors=("Alice",))
    assert [texts(segment) for segment in found] == [[SENTENCE * 5], [SENTENCE * 5]]
    assert found[0].title == "Harbour"
    assert found[0].kind is SegmentKind.MAIL


def test_chinese_is_measured_with_its_own_ruler() -> None:
    found = split(prose(*[("paragraph", "会议讨论了新港口的报告并要求提供第二份意见书。" * 3)] * 8))
    assert len(found) == 4


def test_a_huge_table_is_read_as_a_stream() -> None:
    def endless():
        for at in range(10_000):
            if at > 400:
                pytest.fail("read far ahead of what was asked for")
            yield rows("S", ("A",), (f"value {at}",))[0].model_copy(update={"position": at})

    stream = split_segments(document(), endless())
    assert len(next(stream).elements) <= MAX_ROWS


@st.composite
def any_elements(draw) -> list[Element]:
    kinds = st.sampled_from(
        ["paragraph", "heading", "title", "list_item", "table_row", "caption", "footnote"]
    )
    rows_ = draw(st.lists(st.tuples(kinds, st.text("ab c.文", max_size=80), st.integers(0, 4)), max_size=60))
    return prose(*rows_)


@PATIENT
@given(any_elements(), st.integers(10, 200))
def test_every_element_is_in_exactly_one_segment_in_order(elements: list[Element], max_tokens: int) -> None:
    found = split(elements, max_tokens)
    assert [element for segment in found for element in segment.elements] == elements
    assert [segment.position for segment in found] == list(range(len(found)))


@PATIENT
@given(st.lists(st.tuples(st.sampled_from(["A", "B", None]), st.text("ab c.?文", max_size=60)), max_size=60))
def test_every_cue_is_in_exactly_one_segment_in_order(turns) -> None:
    elements = cues(*turns)
    assert [element for segment in split(elements, 40) for element in segment.elements] == elements


def test_nothing_gives_nothing() -> None:
    assert split([]) == []


def test_titles_that_say_nothing_give_way_to_the_file_name() -> None:
    elements = prose(("paragraph", "Some words."))
    assert split(elements, name="q2_budget.docx", title="Microsoft Word - untitled")[0].title == "q2 budget"
    assert split(elements, name="x.docx", title="Microsoft Word - Harbour plan")[0].title == "Harbour plan"
    assert elements[0].kind is ElementKind.PARAGRAPH
