from __future__ import annotations

from datetime import UTC, datetime

import pytest

from extract.standing import name_speaker, speaks_of_itself, tell_day

AT = datetime(2026, 3, 12, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I will ship the module.", "en"),
        ("Then I went home.", "en"),
        ("Yes, I'm in.", "en"),
        ("We propose a new method.", "en"),
        ("Please tell us more.", "en"),
        ("我明天去北京。", "zh"),
        ("咱们下周见。", "zh"),
        ("Wir verschieben den Termin.", "de"),
        ("J’ai envoyé le contrat.", "fr"),
        ("Nosotros pagamos la factura.", "es"),
    ],
)
def test_who_says_i_is_named(text: str, language: str) -> None:
    assert speaks_of_itself(text, language)
    colon = "：" if language == "zh" else ": "
    assert name_speaker(text, "Alice Meyer", "Plan", language) == f"Alice Meyer{colon}{text}"
    assert name_speaker(text, None, "Plan 2026", language) == f"Plan 2026{colon}{text}"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("World War I began in 1914.", "en"),
        ("The crown of King George I was sold.", "en"),
        ("The US budget grew.", "en"),
        ('Bob said "I will go".', "en"),
        ("Bob sagte: „Ich gehe.“", "de"),
        ("长城是我国的古迹。", "zh"),
        ("她的自我评价很高。", "zh"),
        ("Alice owns the plan.", "en"),
    ],
)
def test_a_statement_that_stands_alone_is_left_as_it_is(text: str, language: str) -> None:
    assert not speaks_of_itself(text, language)
    assert name_speaker(text, "Carol", "Plan", language) == text


def test_a_speaker_who_is_named_already_is_not_named_twice() -> None:
    text = "Alice said that we ship in June."
    assert name_speaker(text, "Alice Meyer", "Plan", "en") == text


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Bob ships today.", "en", "Bob ships today. [12 March 2026]"),
        ("Bob now works for Acme.", "en", "Bob now works for Acme. [12 March 2026]"),
        ("王芳周末去上海。", "zh", "王芳周末去上海。（2026年3月12日）"),
        ("Bob ships tomorrow [13 March 2026].", "en", "Bob ships tomorrow [13 March 2026]."),
        ("Bob was born in 1999.", "en", "Bob was born in 1999."),
        ('The song is called "Yesterday".', "en", 'The song is called "Yesterday".'),
    ],
)
def test_a_day_that_counts_from_the_telling_is_told(text: str, language: str, expected: str) -> None:
    assert tell_day(text, AT, language) == expected
    assert tell_day(text, None, language) == text
