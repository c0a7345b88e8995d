from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, EncryptedFile
from ingest.limits import ParseLimits
from ingest.parsers.book import parse

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>On moss</dc:title>
<dc:creator>Ada</dc:creator><dc:date>2024-01-31</dc:date><dc:language>en</dc:language></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="two%20.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/></spine></package>"""


def read(folder: Path, **members: str) -> tuple[list[Piece], ParseContext]:
    path = folder / "b.epub"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("META-INF/container.xml", CONTAINER)
        package.writestr("OEBPS/book.opf", OPF)
        for name, text in members.items():
            package.writestr({"locks": "META-INF/encryption.xml"}.get(name, f"OEBPS/{name}.xhtml"), text)
    context = ParseContext(path, path.name, "", ParseLimits(), folder)
    return list(parse(context)), context


def page(text: str) -> str:
    return f"<html><body><h1>{text}</h1><p>About {text}.</p></body></html>"


def test_chapters_follow_the_spine(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, nav=page("Contents"), **{"two ": page("Ferns")}, one=page("Moss"))
    assert [piece.text for piece in pieces] == ["Moss", "About Moss.", "Ferns", "About Ferns."]
    assert pieces[3].anchor.label() == "Ferns, chapter 2, line 1"
    assert (context.metadata.title, context.metadata.authors, context.metadata.language) == (
        "On moss",
        ("Ada",),
        "en",
    )
    assert context.warnings == []


def test_missing_chapter_is_told(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, one=page("Moss"))
    assert [piece.text for piece in pieces] == ["Moss", "About Moss."]
    assert [warning.code for warning in context.warnings] == ["chapter_unreadable"]


def test_nothing_readable_and_locked_books(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read(tmp_path)
    lock = '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></EncryptedData></encryption>'
    with pytest.raises(EncryptedFile):
        read(tmp_path, one=page("Moss"), locks=lock)
