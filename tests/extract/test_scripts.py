from __future__ import annotations

from extract.scripts import estimate_tokens, glue, is_mostly_cjk, one_line, shorten


def test_tokens_are_counted_by_script() -> None:
    english = "Employees may claim up to forty euros a day for meals while they travel for the company."
    chinese = "员工出差期间每天最多可以报销四十欧元的餐费，需要提供发票。"
    assert 16 <= estimate_tokens(english) <= 25
    assert 18 <= estimate_tokens(chinese) <= 27


def test_lines_are_joined_as_the_script_joins_words() -> None:
    assert one_line("one\n two\t three ") == "one two three"
    assert one_line("会议决定\n推迟上线") == "会议决定推迟上线"
    assert glue("好的。", "1995") == ""
    assert glue("end", "start") == " "


def test_texts_are_shortened_at_words_and_wide_characters_count_twice() -> None:
    assert shorten("The committee read the report", 20) == "The committee read…"
    assert shorten("会议决定推迟上线时间", 8) == "会议决定…"
    assert shorten("short", 20) == "short"


def test_a_third_of_chinese_makes_a_text_chinese() -> None:
    assert is_mostly_cjk("会议 meeting 推迟到六月")
    assert not is_mostly_cjk("The meeting of 王芳 was moved to June")
