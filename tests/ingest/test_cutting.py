from ingest.cutting import cut_at, in_parts


def test_cuts_prefer_paragraphs_then_sentences_then_blanks() -> None:
    assert cut_at("aaa bbb\n\nccc. ddd eee", 15) == 9
    assert cut_at("aaaa bbbb ccc. ddd eee fff", 20) == 15
    assert cut_at("aaaa bbbb cccc", 12) == 10
    assert cut_at("x" * 30, 12) == 12


def test_parts_hold_the_whole_text() -> None:
    text = "The ferry leaves at nine. " * 100
    parts = list(in_parts(text, 200))
    assert max(map(len, parts)) <= 200
    assert " ".join(part.strip() for part in parts) == text.strip()
    assert list(in_parts("short", 200)) == ["short"]
    assert list(in_parts(" " * 900, 200)) == []
