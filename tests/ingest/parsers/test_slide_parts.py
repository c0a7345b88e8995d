from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.slides import parse
from tests.ingest.parsers.office_samples import OFFICE, read, relations, zip_parts

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"


def shape(text: str, placeholder: str = "", more: str = "") -> str:
    mark = f"<p:nvPr>{placeholder}</p:nvPr>"
    body = f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>" if text else ""
    return f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x' {more}/>{mark}</p:nvSpPr>{body}</p:sp>"


def slide(*shapes: str, name: str = "sld") -> str:
    return (
        f'<p:{name} xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{OFFICE}"><p:cSld><p:spTree>{"".join(shapes)}'
        f"</p:spTree>"
        f"</p:cSld></p:{name}>"
    )


def deck(path: Path, slides: list[str], parts: Mapping[str, str | bytes] | None = None, **links: str) -> Path:
    """Write a presentation; ``links`` are relations of the first slide, ``parts`` further parts."""
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    return zip_parts(
        path,
        {
            "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{P}" xmlns:r="{OFFICE}">'
            f'<p:sldIdLst>{listed}</p:sldIdLst>'
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(
                *((f"r{n}", "slide", f"slides/slide{n}.xml") for n in numbers),
                ("c", "commentAuthors", "authors1.xml"), ("d", "authors", "authors2.xml"),
            ),
            "ppt/slides/_rels/slide1.xml.rels": relations(*((kind, kind, links[kind]) for kind in links)),
            **{f"ppt/slides/slide{n}.xml": slides[n - 1] for n in numbers},
            **(parts or {}),
        },
    )  # fmt: skip


def found(path: Path) -> list[tuple[ElementKind, str, str]]:
    pieces: list[Piece] = read(parse, path)[0]
    return [(piece.kind, piece.text, piece.anchor.label()) for piece in pieces]


def test_old_and_new_comments_with_their_authors(tmp_path: Path) -> None:
    new = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
    parts = {
        "ppt/authors1.xml": f'<p:cmAuthorLst xmlns:p="{P}"><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>',
        "ppt/authors2.xml": f'<n:authorLst xmlns:n="{new}"><n:author id="{{G}}" name="Bo"/></n:authorLst>',
        "ppt/old.xml": f'<p:cmLst xmlns:p="{P}"><p:cm authorId="0" dt="2024-01-02"><p:text>Old one'
        f"</p:text></p:cm></p:cmLst>",
        "ppt/new.xml": f'<n:cmLst xmlns:n="{new}" xmlns:a="{A}"><n:cm authorId="{{G}}"'
        f' created="2024-01-03"><n:replyLst>'
        '<n:reply authorId="{G}"><n:txBody><a:p><a:r><a:t>Answer</a:t></a:r></a:p></n:txBody></n:reply>'
        "</n:replyLst>"
        "<n:txBody><a:p><a:r><a:t>New one</a:t></a:r></a:p></n:txBody></n:cm></n:cmLst>",
    }
    for target, expected in (
        ("../old.xml", [("Old one", "Ada")]),
        ("../new.xml", [("New one", "Bo"), ("Answer", "Bo")]),
    ):
        pieces, _ = read(parse, deck(tmp_path / "a.pptx", [slide()], parts, comments=target))
        assert [(piece.text, piece.metadata["author"]) for piece in pieces] == expected
        assert {piece.anchor.label() for piece in pieces} == {"slide 1, comment"}


def test_footers_and_master_drawings_come_once_and_prompts_never(tmp_path: Path) -> None:
    footer = shape("Confidential", '<p:ph type="ftr"/>')
    parts = {
        "ppt/layout.xml": slide(
            shape("Click to edit", '<p:ph type="title"/>'), shape("Our motto"), name="sldLayout"
        ),
        "ppt/_rels/layout.xml.rels": relations(("m", "slideMaster", "master.xml")),
        "ppt/master.xml": slide(
            shape("&lt;footer&gt;", '<p:ph type="ftr"/>'), shape("Our motto"), name="sldMaster"
        ),
    }
    slides = [slide(shape("One"), footer), slide(shape("Two"), footer, shape("7", '<p:ph type="sldNum"/>'))]
    assert found(deck(tmp_path / "a.pptx", slides, parts, slideLayout="../layout.xml")) == [
        (ElementKind.TEXT_BOX, "One", "slide 1"),
        (ElementKind.FOOTER, "Confidential", "slide 1"),
        (ElementKind.TEXT_BOX, "Our motto", "slide 1"),
        (ElementKind.TEXT_BOX, "Two", "slide 2"),
    ]


def test_groups_alternatives_and_descriptions(tmp_path: Path) -> None:
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    group = f"<p:grpSp><p:grpSp>{shape('Deep inside')}</p:grpSp></p:grpSp>"
    twice = (
        f'<mc:AlternateContent xmlns:mc="{mc}"><mc:Choice>{shape("Drawn twice")}</mc:Choice><mc:Fallback>'
        f"{shape('Drawn twice')}</mc:Fallback></mc:AlternateContent>"
    )
    picture = "<p:pic><p:nvPicPr><p:cNvPr id='3' name='y' descr='A red hut'/></p:nvPicPr></p:pic>"
    assert found(deck(tmp_path / "a.pptx", [slide(group, twice, picture)])) == [
        (ElementKind.TEXT_BOX, "Deep inside", "slide 1"),
        (ElementKind.TEXT_BOX, "Drawn twice", "slide 1"),
        (ElementKind.FIGURE, "A red hut", "slide 1, figure"),
    ]


def test_merged_cells_of_a_table(tmp_path: Path) -> None:
    def cell(text: str, mark: str = "") -> str:
        return f"<a:tc {mark}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = [
        cell("Region") + cell("Town") + cell("Huts"),
        cell("North", "rowSpan='2'") + cell("Oslo") + cell("4"),
        cell("", "vMerge='1'") + cell("Bergen") + cell("5"),
    ]
    inside = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    graphic = f"<a:graphic><a:graphicData><a:tbl>{inside}</a:tbl></a:graphicData></a:graphic>"
    frame = f"<p:graphicFrame>{graphic}</p:graphicFrame>"
    pieces, _ = read(parse, deck(tmp_path / "a.pptx", [slide(frame)]))
    assert pieces[2].text == "Bergen | 5"
    assert {one.name: one.value for one in pieces[2].cells} == {
        "Region": "North",
        "Town": "Bergen",
        "Huts": "5",
    }


def test_a_damaged_slide_costs_only_itself(tmp_path: Path) -> None:
    path = deck(tmp_path / "a.pptx", [slide(shape("One")), "<p:sld", slide(shape("Three"))])
    pieces, context = read(parse, path)
    assert [(piece.text, piece.anchor.label()) for piece in pieces] == [
        ("One", "slide 1"),
        ("Three", "slide 3"),
    ]
    assert [warning.code for warning in context.warnings] == ["slide_unreadable"]
