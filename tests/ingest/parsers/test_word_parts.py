from __future__ import annotations

from pathlib import Path

import docx
import pytest

from ingest.anchors import SectionAnchor
from ingest.context import Piece
from ingest.model import ElementKind
from ingest.parsers.word import parse
from tests.ingest.parsers.office_samples import OFFICE, WORD, read, relations, word_file, zip_parts

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"


def p(text: str, properties: str = "") -> str:
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def tc(inside: str, properties: str = "") -> str:
    return f"<w:tc>{properties}{inside}</w:tc>"


def pieces_of(tmp_path: Path, body: str, parts: dict[str, str] | None = None, **links: str) -> list[Piece]:
    return read(parse, word_file(tmp_path / "a.docx", body, parts, **links))[0]


def texts(tmp_path: Path, body: str, parts: dict[str, str] | None = None, **links: str) -> list[str]:
    return [piece.text for piece in pieces_of(tmp_path, body, parts, **links)]


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


BOX = (
    "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor><wp:docPr descr='A hut'/>"
    "<a:graphic>"
    "<a:graphicData><wps:wsp><wps:txbx><w:txbxContent>{0}</w:txbxContent></wps:txbx></wps:wsp>"
    "</a:graphicData>"
    "</a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>"
    "<w:txbxContent>{0}"
    "</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "<w:p><w:moveFrom><w:r><w:t>old place</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>new place"
            "</w:t></w:r>"
            "</w:moveTo></w:p>", ["new place"], id="moved text counts once",
        ),
        pytest.param(
            p("One ", "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>") + p("line."), ["One line."],
            id="a deleted paragraph mark joins",
        ),
        pytest.param(
            f"<w:p>{field('begin')}<w:r><w:instrText>PAGEREF x</w:instrText></w:r>{field('begin')}<w:r>"
            f"<w:instrText>"
            f"DATE</w:instrText></w:r>{field('separate')}<w:r><w:t>inner</w:t>"
            f"</w:r>{field('end')}{field('separate')}"
            f"<w:r><w:t>shown</w:t></w:r>{field('end')}</w:p>", ["shown"], id="nested field",
        ),
        pytest.param(
            f"<w:p>{field('begin')}<w:r><w:instrText>TOC</w:instrText></w:r>{field('separate')}<w:r>"
            f"<w:t>First</w:t>"
            f"</w:r></w:p><w:p><w:r><w:t>Second</w:t></w:r>{field('end')}</w:p>", ["First", "Second"],
            id="field over paragraphs",
        ),
        pytest.param(
            "<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:checkBox><w:checked/></w:checkBox>"
            "</w:ffData>"
            "</w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r><w:r><w:fldChar"
            " w:fldCharType='end'/></w:r><w:r><w:t>Paid</w:t></w:r></w:p>", ["☒Paid"], id="check box",
        ),
        pytest.param(
            "<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList><w:result w:val='1'/><w:listEntry"
            " w:val='red'/><w:listEntry w:val='blue'/></w:ddList></w:ffData></w:fldChar></w:r>"
            "</w:p>", ["blue"],
            id="drop-down",
        ),
        pytest.param(
            "<w:sdt><w:sdtContent>" + p("controlled") + "</w:sdtContent></w:sdt><w:p><w:sdt>"
            "<w:sdtContent><w:r><w:t>"
            "inline</w:t></w:r></w:sdtContent></w:sdt></w:p>", ["controlled", "inline"], id="content"
            " controls",
        ),
        pytest.param(
            "<w:p><w:r><w:t>left</w:t><w:tab/><w:t>right</w:t><w:br/><w:t>below</w:t><w:noBreakHyphen/>"
            "</w:r></w:p>",
            ["left\tright\nbelow\u2011"], id="tabs and breaks",
        ),
        pytest.param(
            "<w:p><w:r><w:sym w:font='Wingdings' w:char='F0FC'/><w:sym w:font='Symbol' w:char='F061'/>"
            "</w:r></w:p>",
            ["✓α"], id="symbols",
        ),
        pytest.param(
            "<w:p><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
            "</m:den></m:f>"
            "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
            "</m:oMath></w:p>",
            ["(a+b)/2x^2"], id="formula",
        ),
        pytest.param(
            "<w:p><w:r><w:ruby><w:rt><w:r><w:t>reading</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>word</w:t>"
            "</w:r>"
            "</w:rubyBase></w:ruby></w:r></w:p>", ["word"], id="phonetic guide",
        ),
        pytest.param(f"<w:p>{BOX.format(p('in the box'))}</w:p>", ["A hut", "in the box"], id="text box"
        " once"),
    ],
)  # fmt: skip
def test_what_a_reader_sees(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert texts(tmp_path, body) == expected


def test_numbers_headings_and_localised_styles(tmp_path: Path) -> None:
    styles = (
        f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="berschrift1"><w:name'
        f' w:val="heading 1"/>'
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:type="paragraph"'
        ' w:styleId="Eigen">'
        '<w:name w:val="Mein Titel"/><w:basedOn w:val="berschrift2"/></w:style><w:style w:type="paragraph"'
        ' w:styleId="berschrift2"><w:name w:val="Unter"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>'
        "</w:style></w:styles>"
    )
    numbering = (
        f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start'
        f' w:val="1"/>'
        '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/>'
        '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum><w:num w:numId="1">'
        '<w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )

    def styled(text: str, style: str) -> str:
        return p(text, f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>')

    def listed(text: str, level: int) -> str:
        numbers = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return p(text, f"<w:pPr>{numbers}</w:pPr>")

    body = styled("Anfang", "berschrift1") + styled("Teil", "Eigen") + listed("eins", 1) + listed("zwei", 1)
    body += styled("Ende", "berschrift1")
    parts = {"word/styles.xml": styles, "word/numbering.xml": numbering}
    found = pieces_of(tmp_path, body, parts, styles="styles.xml", numbering="numbering.xml")
    assert [(piece.kind, piece.level, piece.text) for piece in found] == [
        (ElementKind.HEADING, 1, "I. Anfang"),
        (ElementKind.HEADING, 2, "Teil"),
        (ElementKind.LIST_ITEM, 2, "I.1 eins"),
        (ElementKind.LIST_ITEM, 2, "I.2 zwei"),
        (ElementKind.HEADING, 1, "II. Ende"),
    ]
    anchor = found[2].anchor
    assert isinstance(anchor, SectionAnchor)
    assert anchor.heading_path == ("I. Anfang", "Teil")


def test_tables_carry_merged_cells_and_keep_nested_rows(tmp_path: Path) -> None:
    inner = "<w:tbl><w:tr>" + tc(p("inner a")) + tc(p("inner b")) + "</w:tr></w:tbl>"
    start, go_on = "<w:tcPr><w:vMerge w:val='restart'/></w:tcPr>", "<w:tcPr><w:vMerge/></w:tcPr>"
    deleted = "<w:tr><w:trPr><w:del/></w:trPr>" + tc(p("gone")) + "</w:tr>"
    body = (
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>" + tc(p("Region")) + tc(p("Town")) + "</w:tr>"
        "<w:tr>" + tc(p("North"), start) + tc(p("Oslo") + inner) + "</w:tr>"
        "<w:tr>" + tc("<w:p/>", go_on) + tc(p("Bergen")) + "</w:tr>" + deleted + "</w:tbl>"
    )  # fmt: skip
    found = pieces_of(tmp_path, body)
    assert [piece.text for piece in found] == ["Region | Town", "North | Oslo", "inner a | inner b", "Bergen"]
    assert {cell.name: cell.value for cell in found[3].cells} == {"Region": "North", "Town": "Bergen"}


def test_notes_follow_their_references_in_tables_too(tmp_path: Path) -> None:
    note = "<w:r><w:footnoteReference w:id='2'/></w:r>"
    parts = {
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:type="separator"'
        f' w:id="0">{p("----")}'
        f'</w:footnote><w:footnote w:id="2">{p("The fine print")}</w:footnote></w:footnotes>',
    }
    body = (
        f"<w:tbl><w:tr>{tc(f'<w:p><w:r><w:t>Term</w:t></w:r>{note}</w:p>')}{tc(p('x'))}</w:tr></w:tbl>"
        + p("End")
    )
    found = pieces_of(tmp_path, body, parts, footnotes="footnotes.xml")
    assert [(piece.kind, piece.text) for piece in found] == [
        (ElementKind.TABLE_ROW, "Term | x"),
        (ElementKind.FOOTNOTE, "The fine print"),
        (ElementKind.PARAGRAPH, "End"),
    ]
    anchor = found[1].anchor
    assert isinstance(anchor, SectionAnchor)
    assert anchor.part == "footnote 1"


def test_charts_and_diagrams(tmp_path: Path) -> None:
    chart = (
        f'<c:chartSpace xmlns:c="{C}" xmlns:a="{A}"><c:title><c:tx><c:rich><a:p><a:r><a:t>Harvest</a:t>'
        f"</a:r></a:p>"
        "</c:rich></c:tx></c:title><c:ser><c:tx><c:v>Apples</c:v></c:tx><c:cat><c:pt idx='0'><c:v>2023"
        "</c:v></c:pt>"
        "<c:pt idx='1'><c:v>2024</c:v></c:pt></c:cat><c:val><c:pt idx='0'><c:v>4</c:v></c:pt><c:pt idx='1'>"
        "<c:v>9</c:v></c:pt></c:val></c:ser></c:chartSpace>"
    )

    def point(key: str, text: str, kind: str = "node") -> str:
        inside = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>"
        return f'<dgm:pt modelId="{key}" type="{kind}">{inside}</dgm:pt>'

    points = point("0", "", "doc") + point("2", "Second") + point("1", "First") + point("9", "layout", "pres")
    diagram = (
        f'<dgm:dataModel xmlns:dgm="{DGM}" xmlns:a="{A}"><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>'
        '<dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="0" destId="2" srcOrd="1"/>'
        "</dgm:cxnLst></dgm:dataModel>"
    )
    body = (
        f"<w:p><w:r><w:drawing><c:chart xmlns:c='{C}' r:id='chart'/></w:drawing></w:r><w:r><w:drawing>"
        f"<dgm:relIds xmlns:dgm='{DGM}' r:dm='diagramData'/></w:drawing></w:r></w:p>"
    )
    parts = {"word/chart.xml": chart, "word/data.xml": diagram}
    found = pieces_of(tmp_path, body, parts, chart="chart.xml", diagramData="data.xml")
    assert [(piece.kind, piece.text) for piece in found] == [
        (ElementKind.FIGURE, "Harvest\nApples: 2023 = 4; 2024 = 9"),
        (ElementKind.FIGURE, "First\nSecond"),
    ]


def test_embedded_documents_are_read_in_place_or_attached(tmp_path: Path) -> None:
    inner = tmp_path / "inner.docx"
    word = docx.Document()
    word.add_heading("Inside", 2)
    word.add_paragraph("Text of the inner document")
    word.save(str(inner))
    body = p("Before") + "<w:altChunk r:id='aFChunk'/><w:altChunk r:id='other'/>" + p("After")
    parts: dict[str, str | bytes] = {"word/inner.docx": inner.read_bytes(), "word/data.xyz": b"unknown"}
    path = word_file(tmp_path / "a.docx", body, parts, aFChunk="inner.docx", other="data.xyz")
    found, context = read(parse, path)
    assert [piece.text for piece in found] == ["Before", "Inside", "Text of the inner document", "After"]
    anchor = found[3].anchor
    assert isinstance(anchor, SectionAnchor)
    assert anchor.heading_path == ("Inside",)
    assert [child.name for child in context.children] == ["data.xyz"]
    assert [path.name for path in context.child_dir.iterdir()] == ["00000.bin"]


def test_embedded_files_are_attached(tmp_path: Path) -> None:
    path = word_file(
        tmp_path / "a.docx",
        p("See the sheet"),
        {"word/embeddings/b.xlsx": b"PK sheet"},
        package="embeddings/b.xlsx",
    )
    _, context = read(parse, path)
    assert [(child.name, child.part, child.size_bytes) for child in context.children] == [
        ("b.xlsx", "word/embeddings/b.xlsx", 8)
    ]


def test_headers_of_sections_come_once_each(tmp_path: Path) -> None:
    def header(text: str) -> str:
        return f'<w:hdr xmlns:w="{WORD}">{p(text)}</w:hdr>'

    def section(*references: tuple[str, str]) -> str:
        inside = "".join(f'<w:headerReference w:type="{kind}" r:id="{key}"/>' for kind, key in references)
        return f"<w:sectPr>{inside}</w:sectPr>"

    body = f"<w:p><w:pPr>{section(('first', 'r1'), ('default', 'r2'))}</w:pPr></w:p>"
    body += section(("even", "r3"))
    document = f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body>{body}</w:body></w:document>'
    path = zip_parts(
        tmp_path / "a.docx",
        {
            "_rels/.rels": relations(("r0", "officeDocument", "word/document.xml")),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": relations(*((f"r{n}", "header", f"h{n}.xml") for n in (1, 2, 3))),
            "word/h1.xml": header("Cover"),
            "word/h2.xml": header("Running"),
            "word/h3.xml": header("Running"),
        },
    )
    found, _ = read(parse, path)
    assert [(piece.text, piece.metadata["pages"]) for piece in found] == [
        ("Cover", "first"),
        ("Running", "default"),
    ]


def test_strict_namespaces_and_damaged_markup(tmp_path: Path) -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    whole = f'<w:document xmlns:w="{strict}"><w:body>{p("kept")}{p("lost")}</w:body></w:document>'
    links = relations(("r0", "officeDocument", "word/document.xml"))
    path = zip_parts(tmp_path / "a.docx", {"_rels/.rels": links, "word/document.xml": whole})
    assert [piece.text for piece in read(parse, path)[0]] == ["kept", "lost"]
    cut = whole[: whole.index("lost") - 10]
    path = zip_parts(tmp_path / "b.docx", {"_rels/.rels": links, "word/document.xml": cut})
    found, context = read(parse, path)
    assert [piece.text for piece in found] == ["kept"]
    assert [warning.code for warning in context.warnings] == ["document_damaged"]
