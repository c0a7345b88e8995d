from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, MaliciousFile
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers.opendocument import parse

PREFIXES = {
    "office": "office",
    "text": "text",
    "table": "table",
    "draw": "drawing",
    "meta": "meta",
    "style": "style",
}
NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in PREFIXES.items()
)
NAMES += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
META = (
    f"<office:document-meta {NAMES}><office:meta><dc:title>Moss</dc:title>"
    "<meta:initial-creator>Ada</meta:initial-creator>"
    "<meta:creation-date>2024-01-31T12:00:00</meta:creation-date></office:meta></office:document-meta>"
)
STYLES = (
    f"<office:document-styles {NAMES}>"
    "<style:master-page><style:header><text:p>Moss society</text:p></style:header>"
    "<style:footer><text:p>Page</text:p></style:footer></style:master-page></office:document-styles>"
)


def read(folder: Path, body: str, prolog: str = "") -> tuple[list[Piece], ParseContext]:
    path = folder / "d.odt"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        content = f"<office:body><office:text>{body}</office:text></office:body>"
        root = f"<office:document-content {NAMES}>{content}</office:document-content>"
        package.writestr("content.xml", prolog + root)
        package.writestr("meta.xml", META)
        package.writestr("styles.xml", STYLES)
    context = ParseContext(path, path.name, "", ParseLimits(), folder)
    return list(parse(context)), context


def test_blocks_with_their_headings(tmp_path: Path) -> None:
    pieces, context = read(
        tmp_path,
        '<text:h text:outline-level="1">Walls</text:h><text:h text:outline-level="2">North</text:h>'
        "<text:p>Moss<text:s/>grows <text:span>slowly</text:span>.</text:p>"
        "<text:list><text:list-item><text:p>stone</text:p><text:list><text:list-item><text:p>old</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>",
    )
    assert [(piece.kind, piece.level, piece.text) for piece in pieces] == [
        (ElementKind.HEADING, 1, "Walls"),
        (ElementKind.HEADING, 2, "North"),
        (ElementKind.PARAGRAPH, 0, "Moss grows slowly."),
        (ElementKind.LIST_ITEM, 1, "stone"),
        (ElementKind.LIST_ITEM, 2, "old"),
        (ElementKind.HEADER, 0, "Moss society"),
        (ElementKind.FOOTER, 0, "Page"),
    ]
    assert pieces[2].anchor.label() == "Walls > North, paragraph 3"
    assert (context.metadata.title, context.metadata.authors) == ("Moss", ("Ada",))
    assert context.metadata.occurred_at is not None


def test_notes_comments_boxes_and_deleted_text(tmp_path: Path) -> None:
    pieces, _ = read(
        tmp_path,
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:p>Moss<text:note text:note-class='footnote'>"
        "<text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>A plant.</text:p></text:note-body></text:note>"
        "<office:annotation><dc:creator>Bo</dc:creator><text:p>Really?</text:p></office:annotation>"
        "<draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame> is old.</text:p>",
    )
    assert [(piece.kind, piece.text) for piece in pieces[:4]] == [
        (ElementKind.PARAGRAPH, "Moss is old."),
        (ElementKind.FOOTNOTE, "A plant."),
        (ElementKind.COMMENT, "Really?"),
        (ElementKind.TEXT_BOX, "In a box"),
    ]
    assert pieces[2].metadata == {"author": "Bo"}
    assert not any("gone" in piece.text for piece in pieces)


def test_table_rows_name_their_cells(tmp_path: Path) -> None:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in [("Item", "Cost"), ("Rent", "1,200")]
    )
    pieces, _ = read(tmp_path, f'<table:table table:name="Budget">{rows}</table:table>')
    assert [piece.text for piece in pieces[:2]] == ["Item | Cost", "Rent | 1,200"]
    assert [(cell.name, cell.value) for cell in pieces[1].cells] == [("Item", "Rent"), ("Cost", "1,200")]
    assert pieces[1].metadata == {"table": "Budget", "row": 2}


def test_damage_and_entities(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(tmp_path, "<text:p>cut")
    with pytest.raises(MaliciousFile):
        read(tmp_path, "<text:p>&a;</text:p>", '<!DOCTYPE x [<!ENTITY a "aaaa">]>')
