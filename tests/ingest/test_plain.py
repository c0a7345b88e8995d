from pathlib import Path

from ingest.context import ParseContext, Piece
from ingest.formats import PLAIN
from ingest.limits import ParseLimits
from ingest.parsers import plain


def read(tmp_path: Path, data: bytes) -> list[Piece]:
    path = tmp_path / "blob"
    path.write_bytes(data)
    return list(plain.parse(ParseContext(path, "t.txt", PLAIN, ParseLimits(), tmp_path)))


def test_blank_lines_and_form_feeds_part_paragraphs(tmp_path: Path) -> None:
    pieces = read(tmp_path, b"one\r\ntwo\r\n \r\nthree\fpage\rmore")
    assert [piece.text for piece in pieces] == ["one\ntwo", "three", "page\nmore"]
    assert [piece.anchor.label() for piece in pieces] == ["lines 1-2", "line 4", "lines 4-5"]


def test_a_log_without_blank_lines_comes_in_parts(tmp_path: Path) -> None:
    pieces = read(tmp_path, b"".join(b"%05d event\n" % number for number in range(2_000)))
    assert len(pieces) > 4
    assert max(len(piece.text) for piece in pieces) <= plain.PARAGRAPH_CHARS
    assert "\n".join(piece.text for piece in pieces).splitlines()[1999] == "01999 event"
    assert pieces[-1].anchor.label().endswith("-2000")


def test_an_endless_line_is_cut_between_sentences_and_loses_nothing(tmp_path: Path) -> None:
    sentence = "The ferry leaves at nine and comes back at noon. "
    pieces = read(tmp_path, (sentence * 500).encode() + b"\nlast")
    assert all(piece.text.endswith("noon.") for piece in pieces[:-1])
    assert sum(piece.text.count("ferry") for piece in pieces) == 500
    assert pieces[-1].text.endswith("last")
    assert pieces[-1].anchor.label().endswith("2")
