from __future__ import annotations

import pytest

from extract.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The index migration finished last night.", "en"),
        ("We ship on Friday because the customer and the legal team have agreed to what was proposed.", "en"),
        ("我们把上线时间推迟到六月。", "zh"),
        ("这个 bug 在 Kubernetes cluster 的 ingress controller 里", "zh"),
        ("我看了ドラえもん这部动画片，觉得很有意思。", "zh"),
        ("昨日は東京で会議でした", "ja"),
        ("안녕하세요 반갑습니다", "ko"),
        ("Der Vertrag endet am 31. März und wird nicht verlängert.", "de"),
        ("Привет, как дела сегодня?", "ru"),
        ("Mr. 王小明 visited our office in Berlin yesterday.", "en"),
        ("Ο χρόνος παράδοσης είναι τρεις ημέρες", "el"),
        ("12.4 | 3,000", "und"),
        ("ok", "und"),
        ("", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_a_hint_decides_where_the_text_is_too_short() -> None:
    assert detect_language("ok", "fr") == "fr"
    assert detect_language("42", "zh") == "zh"
    assert detect_language("ok", "zh") == "und"
