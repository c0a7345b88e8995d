from __future__ import annotations

from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

from ingest.ocr import OcrLine, confidence, is_sure
from ingest.ocr_picture import read_picture


def line(
    text: str, x: float, y: float, width: float = 200, height: float = 20, score: float = 0.99
) -> OcrLine:
    return OcrLine(text, score, ((x, y), (x + width, y), (x + width, y + height), (x, y + height)))


class Scripted:
    """An engine whose answer is computed from the picture, and which remembers what it was shown."""

    def __init__(self, answer: Callable[[Image.Image], list[OcrLine]]) -> None:
        self.answer = answer
        self.shown: list[Image.Image] = []

    def read(self, picture: Image.Image) -> list[OcrLine]:
        self.shown.append(picture)
        return self.answer(picture)


class Nothing:
    def read(self, picture: Image.Image) -> list[OcrLine]:
        return []


def marked(size: tuple[int, int] = (1200, 800)) -> Image.Image:
    """A picture whose top left corner is red."""
    picture = Image.new("RGB", size, "white")
    ImageDraw.Draw(picture).rectangle((0, 0, 40, 40), fill="red")
    return picture


def test_upside_down_picture_is_turned_and_places_are_those_of_the_picture_given() -> None:
    def answer(picture: Image.Image) -> list[OcrLine]:
        upright = picture.getpixel((1190, 790)) == (255, 0, 0)
        return [line("Read me the right way", 100, 50)] if upright else [line("Kead wa", 0, 0, score=0.6)]

    found = read_picture(marked(), Scripted(answer), Nothing())
    assert found.turn == 2
    assert [item.text for item in found.lines] == ["Read me the right way"]
    assert found.lines[0].quad[0] == (1100, 750)


def test_good_reading_costs_one_look() -> None:
    engine = Scripted(lambda _: [line("All is clear here", 10, 10)])
    assert read_picture(marked(), engine, Nothing()).turn == 0
    assert len(engine.shown) == 1


def test_small_type_in_a_small_picture_is_read_again_at_double_size() -> None:
    def answer(picture: Image.Image) -> list[OcrLine]:
        if picture.width == 600:
            return [line("tiny letters", 20, 20, 160, 16)]
        return [line("tin", 10, 10, 80, 8)]

    found = read_picture(marked((300, 200)), Scripted(answer), Nothing())
    assert [(item.text, item.quad[0]) for item in found.lines] == [("tiny letters", (10, 10))]


def test_long_picture_is_read_in_strips_and_no_line_twice() -> None:
    rows = {y: f"row at {y}" for y in range(100, 5900, 200)}
    whole = Image.new("RGB", (800, 6000), "white")
    for y in rows:
        whole.paste((y % 256, y // 256, 7), (0, y, 1, y + 1))

    def answer(picture: Image.Image) -> list[OcrLine]:
        marks = [(at, picture.getpixel((0, at))) for at in range(picture.height)]
        return [line(rows[r + 256 * g], 20, at, 300) for at, (r, g, b) in marks if b == 7]

    engine = Scripted(answer)
    found = read_picture(whole, engine, Nothing())
    assert sorted((item.quad[0][1], item.text) for item in found.lines) == sorted(rows.items())
    assert all(part.height < 2000 for part in engine.shown)


def test_other_engine_replaces_what_the_first_cannot_read() -> None:
    first = Scripted(lambda _: [line("Template for day 1", 10, 10), line("JD|0| X", 10, 50, score=0.6)])
    other = Scripted(
        lambda _: [line("Template for dav 1", 10, 10, score=0.9), line("안녕하세요", 10, 50, score=0.8)]
    )
    found = read_picture(marked(), first, other)
    assert [item.text for item in found.lines] == ["Template for day 1", "안녕하세요"]


def test_faint_contrast_is_spread() -> None:
    picture = Image.new("RGB", (1200, 300), (200, 200, 200))
    ImageDraw.Draw(picture).rectangle((100, 100, 600, 200), fill=(170, 170, 170))
    engine = Scripted(lambda _: [line("faint", 0, 0)])
    read_picture(picture, engine, Nothing())
    assert engine.shown[0].convert("L").getextrema() == (0, 255)


def test_skew_is_measured() -> None:
    slanted = OcrLine("slanted line", 0.99, ((0, 0), (100, 10), (98, 30), (-2, 20)))
    found = read_picture(marked(), Scripted(lambda _: [slanted]), Nothing())
    assert found.skew == pytest.approx(5.71, abs=0.01)


@pytest.mark.parametrize(
    ("text", "score", "sure"),
    [("Total", 0.6, True), ("Total", 0.4, False), ("7", 0.7, False), ("7", 0.9, True), ("***", 0.99, False)],
)
def test_what_counts_as_read(text: str, score: float, sure: bool) -> None:
    assert is_sure(line(text, 0, 0, score=score)) is sure


def test_confidence_weighs_letters() -> None:
    assert confidence([line("abcd", 0, 0, score=1.0), line("ef", 0, 9, score=0.4)]) == pytest.approx(0.8)
    assert confidence([]) == 0.0
