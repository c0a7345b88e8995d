from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.anchors import CueAnchor
from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, FileTooLarge, IngestError
from ingest.limits import ParseLimits
from ingest.parsers.subtitles import parse


def read(
    folder: Path, source: str | bytes, name: str = "talk.vtt", **limits: int
) -> tuple[list[Piece], ParseContext]:
    path = folder / "source"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    context = ParseContext(path, name, "text/vtt", ParseLimits(**limits), folder)
    return list(parse(context)), context


def spoken(pieces: list[Piece]) -> list[tuple[float, float, str | None, str]]:
    found = []
    for piece in pieces:
        assert isinstance(piece.anchor, CueAnchor)
        assert piece.metadata.get("speaker") == piece.anchor.speaker
        found.append((piece.anchor.start_s, piece.anchor.end_s, piece.anchor.speaker, piece.text))
    return found


def test_voice_tags_and_long_ids(tmp_path: Path) -> None:
    source = (
        "\ufeffWEBVTT\r\n\r\n0f9a7c1e-1111-4222-8333-abcdefabcdef/12-0\r\n00:00:04.963 --> 00:00:08.5\r\n"
        "<v Moss, Ada>We keep\r\nthe &lt;old&gt; rope.</v>\r\n\r\n"
        "00:09.000 --> 00:10.000 align:start position:10%\r\n<v.loud Bo Li>Yes.</v><v Moss, Ada>Good.\r\n"
    )
    pieces, context = read(tmp_path, source)
    assert spoken(pieces) == [
        (4.963, 8.5, "Moss, Ada", "We keep\nthe <old> rope."),
        (9.0, 10.0, "Bo Li", "Yes."),
        (9.0, 10.0, "Moss, Ada", "Good."),
    ]
    assert context.metadata.participants == ("Moss, Ada", "Bo Li")
    assert context.metadata.extra["duration_s"] == 10.0


def test_names_before_a_colon(tmp_path: Path) -> None:
    source = (
        "WEBVTT\n\n1\n00:00:03,240 --> 00:00:05,910\nAna Petrović: The plan: eight percent.\n\n"
        "2\n00:00:06.100 --> 00:00:09.450\nDr. Daniel O'Brien (He/Him): At 10:30 we go.\n"
        "Ana Petrović: Fine.\n\n"
        "3\n01:00:00.000 --> 01:00:04.000\n李雷: 我同意。\n\n"
        "4\n01:00:05.000 --> 01:00:06.000\nnobody knows: this\n"
    )
    pieces, _ = read(tmp_path, source)
    assert spoken(pieces) == [
        (3.24, 5.91, "Ana Petrović", "The plan: eight percent."),
        (6.1, 9.45, "Dr. Daniel O'Brien (He/Him)", "At 10:30 we go."),
        (6.1, 9.45, "Ana Petrović", "Fine."),
        (3600.0, 3604.0, "李雷", "我同意。"),
        (3605.0, 3606.0, None, "nobody knows: this"),
    ]


def test_names_in_the_id(tmp_path: Path) -> None:
    source = (
        'WEBVTT FILE\n\n1 "Ada Moss" (123)\n00:00:01.000 --> 00:00:02.000\nOne\n'
        '2 "Bo" (4)\n00:00:02.000 --> 00:00:03.000\nTwo\n'
    )
    pieces, context = read(tmp_path, source)
    assert spoken(pieces) == [(1.0, 2.0, "Ada Moss", "One"), (2.0, 3.0, "Bo", "Two")]
    assert context.metadata.title is None


def test_a_single_colon_is_no_name(tmp_path: Path) -> None:
    cues = "".join(f"00:0{n}.000 --> 00:0{n}.900\nline {n}\n\n" for n in range(8))
    pieces, context = read(tmp_path, f"WEBVTT\n\n{cues}00:09.000 --> 00:10.000\nNote: bring rope\n")
    assert pieces[-1].text == "Note: bring rope"
    assert context.metadata.participants == ()


def test_what_is_not_spoken_is_dropped(tmp_path: Path) -> None:
    source = (
        "WEBVTT - Rope talk\nKind: captions\nLanguage: nb\n\nNOTE\nby Jill\nand Bo\n\n"
        "STYLE\n::cue { color: red }\n\n"
        "REGION\nid:a\n\nNOTE recorded 2024-03-05T10:00:00Z\n\n"
        "00:01.000 --> 00:02.000\n<c.red>One</c> <00:01.500><i>two</i> 1 < 2 &amp; <b>three</b>\n\n"
        "00:02.000 --> 00:03.000\n<ruby>漢<rt>かん</rt></ruby>\n\n00:03.000 --> 00:04.000\n\n"
    )
    pieces, context = read(tmp_path, source)
    assert [piece.text for piece in pieces] == ["One two 1 < 2 & three", "漢(かん)"]
    meta = context.metadata
    assert (meta.title, meta.language) == ("Rope talk", "nb")
    assert meta.occurred_at is not None
    assert meta.occurred_at.isoformat() == "2024-03-05T10:00:00+00:00"
    assert "zone_told" not in meta.extra


def test_the_start_may_stand_in_the_name(tmp_path: Path) -> None:
    _, context = read(tmp_path, "WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "2024-03-05 10.00 standup.vtt")
    assert context.metadata.occurred_at is not None
    assert context.metadata.occurred_at.hour == 10
    assert context.metadata.extra["zone_told"] is False


def test_sloppy_files_lose_nothing(tmp_path: Path) -> None:
    source = (
        "1\n00:01.000 --> 00:02.000\nno header\n2\n00:02.000 --> 00:03.000\nno blank line\n\n"
        "after a blank line\n\n"
        "00:00:03.000 --> 00:00:0x.000\nbad time\n\n00:00:05.000 -> 00:00:04.000\nbackwards\nthen --> on\n"
    )
    pieces, context = read(tmp_path, source)
    assert spoken(pieces) == [
        (1.0, 2.0, None, "no header"),
        (2.0, 3.0, None, "no blank line\nafter a blank line"),
        (3.0, 3.0, None, "bad time"),
        (5.0, 5.0, None, "backwards\nthen --> on"),
    ]
    assert [warning.code for warning in context.warnings] == ["bad_timing"]


def test_rolling_captions_are_read_once(tmp_path: Path) -> None:
    source = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\n \nhello<00:00.500><c> world</c>\n\n"
        "00:02.000 --> 00:02.010\nhello world\n \n\n"
        "00:02.010 --> 00:04.000\nhello world\nhow<00:03.000><c> are</c>\n"
    )
    pieces, _ = read(tmp_path, source)
    assert [piece.text for piece in pieces] == ["hello world", "how are"]


def test_a_header_alone_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, "WEBVTT")[0] == []


@pytest.mark.parametrize("source", ["no cues here\n", "\n\n", "00:0x --> 00:03\n"])
def test_neither_header_nor_cue_is_corrupt(tmp_path: Path, source: str) -> None:
    with pytest.raises(CorruptFile):
        read(tmp_path, source)


def test_the_number_of_cues_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(FileTooLarge, match="PARSE_MAX_ROWS"):
        read(tmp_path, "WEBVTT\n\n" + "00:01.000 --> 00:02.000\nx\n\n" * 11, max_rows=10)


PARTS = st.sampled_from(
    ["WEBVTT", "\n", "\n\n", "NOTE x", "STYLE", "00:01.000 --> 00:02.000", "9:9 --> 1",
     "-->", "<v Bo>",
     "</v>", "<v", "<ruby>", "<rt>", "&amp;", "&#x110000;", "Ann: hi", "：", ": ", "1",
     "<00:01.000>", "\r", "\x00", "漢"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(PARTS, max_size=40).map("".join).map(str.encode), st.binary(max_size=200)))
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, source: bytes) -> None:
    try:
        pieces, _ = read(tmp_path_factory.mktemp("vtt"), source)
    except IngestError:
        return
    assert all(piece.text for piece in pieces)


@pytest.mark.parametrize(
    "unit",
    ["<v ", "<v a>", "<ruby>", "<ruby><rt>", "<00:00:", "a ", ": ", "A: ", " " * 9, "&", "<", "1\n", "-->",
     "\n \n", "00:01.000 --> 00:02.000\n", "00:01.000 --> 00:02.000\nA <00:01.000>\n",
     "2024-", "a",
     "NOTE 2024-01-0"],
)  # fmt: skip
def test_time_grows_with_length_only(tmp_path: Path, unit: str) -> None:
    start = time.process_time()
    read(tmp_path, "WEBVTT\n\n00:01.000 --> 00:02.000\n" + unit * 20_000)
    assert time.process_time() - start < 10


def test_a_line_like_an_endless_id_costs_little(tmp_path: Path) -> None:
    start = time.process_time()
    read(tmp_path, f"WEBVTT\n\n00:01.000 --> 00:02.000\nx\n\n00000000-{'a' * 300_000} x\n")
    assert time.process_time() - start < 5
