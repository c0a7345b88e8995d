"""Facts stand where their anchors say: other readers than ours open the places."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from ingest.anchors import PageAnchor
from ingest.artifacts import read_jsonl
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import parse_file
from tests.extract import openers
from tests.extract.drawn_facts import draw, stands_in, table

SAMPLES = Path(__file__).parents[2] / "api" / "samples"
# Large files cost more than they prove here; `tests/bench/bench_anchors.py` draws from all.
_MAX_BYTES = 200_000


def by_format(paths: list[Path], known: set[str]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        if (name := path.suffix.lstrip(".").lower()) in known and path.stat().st_size <= _MAX_BYTES:
            found.setdefault(name, []).append(path)
    return found


def test_sixty_facts_of_all_sample_formats_stand_at_their_anchors(tmp_path: Path) -> None:
    files = by_format(sorted(SAMPLES.iterdir()), {*openers.PLAIN, *openers.WITH_ENCODING} - openers.PIXELS)
    assert len(files) >= 11
    drawn = draw(files, 60, tmp_path, per_format=1)
    assert len(drawn) == 60
    assert {one.format for one in drawn} == set(files)
    assert [one for one in drawn if not one.is_there] == [], table(drawn)


@pytest.mark.corpus
@pytest.mark.skipif("CORPUS_DIR" not in os.environ, reason="set CORPUS_DIR to the folder of real files")
def test_sixty_facts_of_real_files_stand_at_their_anchors(tmp_path: Path) -> None:
    corpus = Path(os.environ["CORPUS_DIR"])
    entries = map(json.loads, (corpus / "manifest.jsonl").read_text("utf-8").splitlines())
    paths = [
        corpus / entry["file"]
        for entry in entries
        if entry["expect"] == "ok" and entry["must_contain"] and not entry["needs_ocr"]
    ]
    files = by_format(paths, {*openers.PLAIN, *openers.WITH_ENCODING} - openers.PIXELS)
    drawn = draw(files, 60, tmp_path, per_format=2)
    assert len(drawn) == 60
    assert [one for one in drawn if not one.is_there] == [], table(drawn)


def test_words_in_a_picture_stand_where_they_were_drawn(tmp_path: Path) -> None:
    words = {"Moss": (40, 30), "Ferns": (420, 180), "Lichen": (60, 320)}
    picture = Image.new("RGB", (640, 420), "white")
    pen = ImageDraw.Draw(picture)
    for word, place in words.items():
        pen.text(place, f"{word} grows here", fill="black", font_size=28)
    picture.save(tmp_path / "a.png")
    parse_file(tmp_path / "a.png", "a.png", ParseLimits(), tmp_path / "out")
    elements = list(read_jsonl(tmp_path / "out" / "elements.jsonl", Element))
    for word, (x, y) in words.items():
        (anchor,) = [element.anchor for element in elements if word in element.text]
        assert isinstance(anchor, PageAnchor)
        assert anchor.bbox is not None
        assert (anchor.bbox[0], anchor.bbox[1]) == pytest.approx((x, y), abs=14)


@pytest.mark.parametrize(
    ("quote", "text", "there"),
    [
        ("Rent | 1,200", "Item\nRent\n1,200.00 1,200", True),
        ("Rent | 1,200", "Rent\n1,300", False),
        ("1. Dig the well-\nknown hole", "Dig the well-known hole", True),
        ("Ferns: 2019 = 5; 2020 = 7", "Ferns Sheet1!$A$2 2019 2020 General 5 7", True),
        ("Ferns: 2019 = 5; 2020 = 8", "Ferns Sheet1!$A$2 2019 2020 General 5 7", False),
        ("first thing second thing", "first thing r second thing", True),
        ("second thing first", "first thing r second thing", False),
        ("Dig", "nothing", False),
        ("| |", "anything", False),
    ],
)
def test_how_a_quote_is_looked_for(quote: str, text: str, there: bool) -> None:
    assert stands_in(quote, text) is there
