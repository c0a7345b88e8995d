from __future__ import annotations

from pathlib import Path

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from ingest.anchors import SlideAnchor
from ingest.errors import CorruptFile
from ingest.model import ElementKind
from ingest.parsers.slides import parse
from tests.ingest.parsers.office_samples import read, zip_parts


def sample(path: Path) -> Path:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Harvest"
    first.placeholders[1].text = "Apples in September"
    first.notes_slide.notes_text_frame.text = "Mention the weather"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(3, 3, 0, 0, Inches(4), Inches(2)).table
    for row, values in enumerate([("Fruit", "Trees", "Yield"), ("Apple", "12", "340"), ("Pear", "7", "95")]):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "Inside a group"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Orchards", (4, 9))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    second._element.set("show", "0")
    deck.save(str(path))
    return path


def test_slides_with_notes_tables_groups_and_charts(tmp_path: Path) -> None:
    pieces, context = read(parse, sample(tmp_path / "d.pptx"))
    found = [(piece.kind, piece.text, piece.anchor.label()) for piece in pieces]
    assert (ElementKind.TITLE, "Harvest", "slide 1") in found
    assert (ElementKind.LIST_ITEM, "Apples in September", "slide 1") in found
    assert (ElementKind.NOTE, "Mention the weather", "slide 1, notes") in found
    assert (ElementKind.TEXT_BOX, "Inside a group", "slide 2") in found
    assert (ElementKind.FIGURE, "Orchards: East = 4; West = 9", "slide 2, figure") in found
    row = next(piece for piece in pieces if piece.text.startswith("Pear"))
    assert [(cell.name, cell.value) for cell in row.cells] == [
        ("Fruit", "Pear"),
        ("Trees", "7"),
        ("Yield", "95"),
    ]
    assert row.metadata["hidden"] is True
    assert context.metadata.page_count == 2
    assert context.children == []


def test_slide_numbers_are_those_of_python_pptx(tmp_path: Path) -> None:
    path = sample(tmp_path / "d.pptx")
    slides = list(pptx.Presentation(str(path)).slides)
    checked = 0
    for piece in read(parse, path)[0]:
        assert isinstance(piece.anchor, SlideAnchor)
        if piece.kind in (ElementKind.TITLE, ElementKind.LIST_ITEM):
            slide = slides[piece.anchor.slide - 1]
            assert piece.text in [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
            checked += 1
    assert checked == 2


def test_an_archive_without_presentation_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(parse, zip_parts(tmp_path / "d.pptx", {"readme.txt": "nothing"}))
