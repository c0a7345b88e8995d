from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.sentences import sentence_spans, split_sentences
from tests.extract.samples import PATIENT


@pytest.mark.parametrize(
    "parts",
    [
        "We ship in June.|Alice agreed.",
        "Dr. Smith met Mr. J. R. Jones at 3.14 p.m.|They left.",
        "The U.S. Government paid $1.5 million.|It was late.",
        "Acme Inc. Chairman Bob left.|He works at Acme Inc.|The firm is old.",
        'He asked, "Really?" and left.|"Yes."|She smiled.',
        "No. 5 is alive.|No.|We will not.",
        "See Fig. 3 for details.|Wait... what?",
        "Is that ok?|yes it is",
        "Er kam am 3. März 2024.|Danach ging er.",
        "Use a cache, e.g. Redis.|It is fast, i.e. under 1 ms.",
        "会议决定将截止日期改到6月14日！|大家同意吗？|同意。",
        "她说：“我们明天去。”|他点头。",
        "“我不去。”他说。|然后走了。",
        "价格是3.5元。|版本2.0发布了。",
        "彼は「明日行きます。必ず。」と言った。|会議は3時です。",
        "(1) 申请人应当提交材料。|(2) 审批。",
        "我……我不知道。",
        "我去了北京.|他没去.",
    ],
)
def test_sentences(parts: str) -> None:
    wanted = parts.split("|")
    joiner = " " if parts.isascii() or "ä" in parts else ""
    assert split_sentences(joiner.join(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("1. Introduction\n2. Methods\n- apples", ["1. Introduction", "2. Methods", "- apples"]),
        ("A wrapped line that goes on\nuntil here. And more\ntext.", 2),
        ("First block\n\nSecond block", ["First block", "Second block"]),
        ("申请材料\n一、身份证\n二、户口本", ["申请材料", "一、身份证", "二、户口本"]),
    ],
)
def test_line_breaks_end_items_but_not_wrapped_lines(text: str, sentences: list[str] | int) -> None:
    found = split_sentences(text)
    assert (len(found) if isinstance(sentences, int) else found) == sentences


def test_an_endless_sentence_is_cut_at_clauses() -> None:
    text = "，".join(["这一条款适用于所有参加本次会议的部门和人员"] * 20)
    parts = split_sentences(text)
    assert len(parts) > 1
    assert all(len(part) <= 160 for part in parts)
    assert "".join(parts) == text


@PATIENT
@given(st.text(alphabet='ab Cd.?!。！？，\n"”’」「(1)-“— …é', max_size=200))
def test_spans_are_in_order_and_lose_only_blanks(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert not text[at:start].strip()
        assert start < end
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()
