from __future__ import annotations

from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, MaliciousFile
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.ocr import OcrLine
from ingest.ocr_picture import PictureText
from ingest.parsers import ocr_budget
from ingest.parsers.svg import parse

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300">'


def read(folder: Path, body: str, head: str = HEAD) -> tuple[list[Piece], ParseContext]:
    path = folder / "d.svg"
    path.write_text(f"{head}{body}</svg>", encoding="utf-8")
    context = ParseContext(path, path.name, "image/svg+xml", ParseLimits(), folder)
    return list(parse(context)), context


def texts(folder: Path, body: str) -> list[str]:
    return [piece.text for piece in read(folder, body)[0]]


def test_title_description_and_texts_but_no_scripts(tmp_path: Path) -> None:
    pieces, context = read(
        tmp_path,
        "<title>Moss map</title><desc>Where moss grows</desc><script>alert('x')</script>"
        "<style>.a{}</style><text x='10' y='40'>North wall</text>",
    )
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (ElementKind.TITLE, "Moss map"),
        (ElementKind.FIGURE, "Where moss grows"),
        (ElementKind.FIGURE, "North wall"),
    ]
    assert context.metadata.title == "Moss map"


def test_lines_come_in_reading_order_whatever_their_order_in_the_file(tmp_path: Path) -> None:
    body = (
        "<g transform='translate(0,100)'><text x='10' y='60'>third</text></g>"
        "<text x='10' y='40'>first</text><text x='10' y='100' font-size='12'>second</text>"
    )
    assert texts(tmp_path, body) == ["first", "second", "third"]


def test_lines_of_a_paragraph_and_words_of_a_line_are_joined(tmp_path: Path) -> None:
    body = (
        "<text x='10' y='40'>Moss grows on the</text><text x='10' y='58'>north "
        "<tspan font-weight='bold'>wall</tspan>"
        "<tspan x='10' y='76'>of the house.</tspan></text>"
    )
    assert texts(tmp_path, body) == ["Moss grows on the north wall of the house."]


def test_places_follow_the_transforms(tmp_path: Path) -> None:
    body = "<g transform='scale(2) translate(10 20)'><text x='5' y='10' font-size='10'>ab</text></g>"
    (piece,), _ = read(tmp_path, body)
    assert piece.anchor.bbox == (30, 44, 50, 65)


def test_name_space_entities_of_drawing_programs_are_fine(tmp_path: Path) -> None:
    names = '<!ENTITY ns_svg "http://www.w3.org/2000/svg"><!ENTITY who "moss">'
    head = f'<!DOCTYPE svg [{names}]><svg xmlns="&ns_svg;">'
    pieces, _ = read(tmp_path, "<text y='9'>We like &who;</text>", head)
    assert [piece.text for piece in pieces] == ["We like moss"]


@pytest.mark.parametrize(
    "entities",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        "".join(f'<!ENTITY e{n} "{"&e" + str(n - 1) + ";" if n else "lol"}">' * 1 for n in range(30)),
    ],
)
def test_entities_that_grow_or_reach_out_are_malicious(tmp_path: Path, entities: str) -> None:
    head = f'<!DOCTYPE svg [{entities}]><svg xmlns="http://www.w3.org/2000/svg">'
    with pytest.raises(MaliciousFile):
        read(tmp_path, "<text y='9'>x</text>", head)


def test_broken_xml_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(tmp_path, "<text>half")
    with pytest.raises(CorruptFile):
        read(tmp_path, "", head="<html>")


def test_drawing_without_text_is_rendered_small_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def see(picture: object) -> PictureText:
        sizes.append(picture.size)
        return PictureText([OcrLine("Sign", 0.99, ((100, 10), (300, 10), (300, 60), (100, 60)))], 0, 0.0, 0)

    monkeypatch.setattr(ocr_budget, "read_picture", see)
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="1000000000" height="1000000000">'
    pieces, _ = read(tmp_path, "<rect width='9' height='9'/>", head)
    assert [(piece.kind, piece.text) for piece in pieces] == [(ElementKind.IMAGE_TEXT, "Sign")]
    assert max(sizes[0]) <= 5000
