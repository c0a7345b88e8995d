from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest.context import Piece
from ingest.errors import CorruptFile, MaliciousFile
from ingest.model import ElementKind
from ingest.parsers.sheet import parse
from ingest.parsers.sheet_extras import margin_text
from tests.ingest.parsers.office_samples import OFFICE, read, relations, replace_part, zip_parts

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
XDR = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"


def workbook(path: Path, sheet: str, parts: Mapping[str, str] | None = None, **links: str) -> Path:
    """Write a workbook with one sheet "Plan" from the XML inside its worksheet element."""
    return zip_parts(
        path,
        {
            "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="Plan"'
            f' sheetId="1"'
            ' r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                ("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "sharedStrings", "strings.xml")
            ),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}">{sheet}</worksheet>',
            "xl/worksheets/_rels/sheet1.xml.rels": relations(
                *((kind, kind, target) for kind, target in links.items())
            ),
            **(parts or {}),
        },
    )


def pieces_of(path: Path, sheet: str, parts: Mapping[str, str] | None = None, **links: str) -> list[Piece]:
    return read(parse, workbook(path / "a.xlsx", sheet, parts, **links))[0]


def test_every_way_to_store_a_value(tmp_path: Path) -> None:
    rows = (
        '<sheetData><row><c t="b"><v>1</v></c><c t="e"><v>#DIV/0!</v></c><c t="str"><v>made</v></c>'
        '<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c t="s"><v>0</v></c><c><f>A1+B1'
        "</f></c>"
        '<c t="d"><v>2024-03-01T00:00:00</v></c><c t="s"><v>99</v></c></row><row r="5"><c r="C5"><v>7</v>'
        "</c></row>"
        "</sheetData>"
    )
    strings = f'<sst xmlns="{MAIN}"><si><t>one_x000D_&#10;two</t><rPh><t>ruby</t></rPh></si></sst>'
    found = pieces_of(tmp_path, rows, {"xl/strings.xml": strings})
    assert [cell.value for cell in found[1].cells] == [
        "TRUE", "#DIV/0!", "made", "inline", "one\ntwo", "=A1+B1", "2024-03-01",
    ]  # fmt: skip
    assert [cell.ref for cell in found[1].cells] == ["A1", "B1", "C1", "D1", "E1", "F1", "G1"]
    assert (found[2].text, found[2].anchor.label()) == ("7", "Plan!C5")


def test_hidden_rows_are_marked(tmp_path: Path) -> None:
    rows = '<sheetData><row r="1" hidden="1"><c r="A1"><v>1</v></c></row></sheetData>'
    assert pieces_of(tmp_path, rows)[1].metadata == {"hidden": True}


def test_threaded_comments_replace_their_copies(tmp_path: Path) -> None:
    threaded = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    parts = {
        "xl/comments1.xml": f'<comments xmlns="{MAIN}"><authors><author>tc=1</author><author>Bo</author>'
        f"</authors>"
        '<commentList><comment ref="B2" authorId="0"><text><t>[Threaded comment] copy</t></text></comment>'
        '<comment ref="C3" authorId="1"><text><r><t>Plain note</t></r></text></comment></commentList>'
        "</comments>",
        "xl/threaded1.xml": f'<ThreadedComments xmlns="{threaded}"><threadedComment ref="B2"'
        f' dT="2024-01-02T03:04:05"'
        ' personId="p1"><text>Is this right?</text></threadedComment><threadedComment ref="B2" personId="p1">'
        "<text>Yes</text></threadedComment></ThreadedComments>",
        "xl/persons/person.xml": f'<personList xmlns="{threaded}"><person displayName="Ada" id="p1"/>'
        f"</personList>",
    }
    found = pieces_of(
        tmp_path, "<sheetData/>", parts, comments="../comments1.xml", threadedComment="../threaded1.xml"
    )
    assert [(piece.text, piece.metadata.get("author"), piece.anchor.label()) for piece in found[1:]] == [
        ("Is this right?", "Ada", "Plan!B2"),
        ("Yes", "Ada", "Plan!B2"),
        ("Plain note", "Bo", "Plan!C3"),
    ]


def test_boxes_and_controls_count_once(tmp_path: Path) -> None:
    shape = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>Push me</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    drawing = (
        f'<xdr:wsDr xmlns:xdr="{XDR}" xmlns:a="{A}"'
        f' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<xdr:twoCellAnchor><xdr:from><xdr:col>1</xdr:col><xdr:row>4</xdr:row></xdr:from>"
        f"<mc:AlternateContent>"
        f"<mc:Choice>{shape}</mc:Choice><mc:Fallback>{shape}</mc:Fallback></mc:AlternateContent>"
        f"</xdr:twoCellAnchor>"
        "</xdr:wsDr>"
    )
    controls = (
        '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:x="urn:schemas-microsoft-com:office:excel">'
        "<v:shape>"
        '<v:textbox><div>Push me<br></div></v:textbox><x:ClientData ObjectType="Button"/></v:shape>'
        "<v:shape><v:textbox>"
        '<div>Agreed</div></v:textbox><x:ClientData ObjectType="Checkbox"><x:Anchor>2, 5, 6, 1, 3, 0, 7,'
        " 0</x:Anchor>"
        "<x:Checked>1</x:Checked></x:ClientData></v:shape><v:shape><v:textbox>Note copy</v:textbox>"
        '<x:ClientData ObjectType="Note"/></v:shape></xml>'
    )
    parts = {"xl/drawing1.xml": drawing, "xl/vml1.vml": controls}
    found = pieces_of(tmp_path, "<sheetData/>", parts, drawing="../drawing1.xml", vmlDrawing="../vml1.vml")
    assert [(piece.kind, piece.text, piece.anchor.label()) for piece in found[1:]] == [
        (ElementKind.TEXT_BOX, "Push me", "Plan!B5"),
        (ElementKind.FORM_FIELD, "☒ Agreed", "Plan!C7"),
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ('&L&"Arial,Bold"&12Left&CMiddle && more&RPage &P of &N', "Left | Middle & more | Page  of"),
        ("&C&K000000Plain&A&F&D&T", "Plain"),
        ("&P", ""),
    ],
)  # fmt: skip
def test_print_margins_lose_their_codes(code: str, text: str) -> None:
    assert margin_text(code) == text


def test_what_stands_before_the_damage_is_kept(tmp_path: Path) -> None:
    whole = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2'
    found, context = read(parse, workbook(tmp_path / "a.xlsx", whole))
    assert [piece.text for piece in found] == ["Plan", "1"]
    assert [warning.code for warning in context.warnings] == ["sheet_damaged"]
    with pytest.raises(CorruptFile):
        read(parse, workbook(tmp_path / "b.xlsx", '<sheetData><row r="1"><c'))


def test_entities_in_a_sheet_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", "")
    row = '<row><c t="str"><v>&a;</v></c></row>'
    bomb = f'<!DOCTYPE w [<!ENTITY a "x">]><worksheet xmlns="{MAIN}"><sheetData>{row}</sheetData></worksheet>'
    with pytest.raises(MaliciousFile):
        read(parse, replace_part(path, "xl/worksheets/sheet1.xml", bomb))


def test_an_absurd_used_range_costs_nothing(tmp_path: Path) -> None:
    rows = (
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="2"/>'
        '<row r="1048576"><c r="XFD1048576" s="1"/><c r="B1048576"><v>2</v></c></row></sheetData>'
        '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    )
    assert [piece.anchor.label() for piece in pieces_of(tmp_path, rows)] == [
        "Plan!A1",
        "Plan!A1",
        "Plan!B1048576",
    ]
