from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.chat.answer import NotJson, find_object
from tests.extract.samples import PATIENT


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        'Sure! Here it is:\n```json\n{"a": 1}\n```\nAnything else?',
        '<think>{"a": 2} or so? The user wants {…}</think>\n{"a": 1}',
        'I think {"a": 9} is wrong.</think>{"a": 1}',
        '{"a": 1,}',
        '{"a": 1} {"a": 2}',
        '{not json} but {"a": 1}',
        'Open with { and go on. {"a": 1}',
    ],
)
def test_the_object_is_found_whatever_stands_around_it(text: str) -> None:
    assert find_object(text) == {"a": 1}


def test_bad_escapes_and_line_breaks_in_strings_are_read() -> None:
    assert find_object('{"a": "C:\\path\\d and \\$5"}') == {"a": "C:\\path\\d and \\$5"}
    assert find_object('{"a": "one\ntwo"}') == {"a": "one\ntwo"}
    assert find_object('{"a": "C:\\\\data", "b": "\\$5",}') == {"a": "C:\\data", "b": "\\$5"}
    assert find_object('{"a": ["x,]", 1,],}') == {"a": ["x,]", 1]}


def test_an_answer_that_speaks_of_thinking_is_not_taken_for_a_thought() -> None:
    assert find_object('{"a": "the tag </think> ends it"}') == {"a": "the tag </think> ends it"}


def test_an_answer_that_breaks_off_is_told_from_one_that_is_none() -> None:
    for text, unfinished in (('{"a": [{"b": 1}, {"b"', True), ("No.", False), ("{broken}", False)):
        with pytest.raises(NotJson) as caught:
            find_object(text)
        assert caught.value.unfinished is unfinished


def test_surrogate_pairs_are_joined_and_lone_halves_replaced() -> None:
    assert find_object('{"a": ["\\ud83d\\ude00", "\\ud83d!"]}') == {"a": ["😀", "\ufffd!"]}


def test_control_characters_that_no_database_takes_become_blanks() -> None:
    assert find_object('{"a": "one\\u0000two\\u0007"}') == {"a": "one two "}


@pytest.mark.parametrize("text", ["", "No.", '{"a": 1', '{"a": "never closed', "[1, 2]", "{broken}"])
def test_what_is_no_object_is_said_to_be_none(text: str) -> None:
    with pytest.raises(NotJson):
        find_object(text)


@PATIENT
@given(st.text('{}[]"\\ab:,<think>/\n\ud800', max_size=80))
def test_any_text_gives_an_object_or_the_one_error(text: str) -> None:
    with suppress(NotJson):
        assert isinstance(find_object(text), dict)
