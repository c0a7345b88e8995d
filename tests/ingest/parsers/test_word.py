from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.document import Document as WordDocument

from ingest.anchors import SectionAnchor
from ingest.errors import CorruptFile, MaliciousFile
from ingest.model import ElementKind
from ingest.parsers.word import parse
from tests.ingest.parsers.office_samples import WORD, read, replace_part, word_file


def sample() -> WordDocument:
    document = docx.Document()
    document.core_properties.title = "Harvest plan"
    document.core_properties.author = "Ada Example"
    document.add_heading("Orchard", 1)
    document.add_paragraph("Apples ripen in September.")
    document.add_heading("Tools", 2)
    document.add_paragraph("Ladder", style="List Bullet")
    table = document.add_table(rows=3, cols=3)
    for row, values in enumerate(
        [("Fruit", "Trees", "Yield"), ("Apple", "12", "340 kg"), ("Pear", "7", "95 kg")]
    ):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.sections[0].different_first_page_header_footer = True
    document.sections[0].first_page_footer.paragraphs[0].text = "Cover foot"
    document.add_comment(document.paragraphs[1].runs, text="Check the date", author="Bo", initials="B")
    return document


def test_reads_structure_written_by_python_docx(tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    sample().save(str(path))
    pieces, context = read(parse, path)
    by_kind = {(piece.kind, piece.text) for piece in pieces}
    assert (ElementKind.HEADING, "Orchard") in by_kind
    assert (ElementKind.LIST_ITEM, "Ladder") in by_kind
    assert (ElementKind.HEADER, "Confidential") in by_kind
    assert (ElementKind.FOOTER, "Cover foot") in by_kind
    comment = next(piece for piece in pieces if piece.kind is ElementKind.COMMENT)
    assert (comment.text, comment.metadata["author"]) == ("Check the date", "Bo")
    row = next(piece for piece in pieces if piece.text.startswith("Apple |"))
    assert [(cell.name, cell.value) for cell in row.cells] == [
        ("Fruit", "Apple"), ("Trees", "12"), ("Yield", "340 kg"),
    ]  # fmt: skip
    assert isinstance(row.anchor, SectionAnchor)
    assert row.anchor.heading_path == ("Orchard", "Tools")
    assert (context.metadata.title, context.metadata.authors) == ("Harvest plan", ("Ada Example",))


def test_paragraph_anchor_counts_blocks_as_python_docx_does(tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    sample().save(str(path))
    blocks = list(docx.Document(str(path)).iter_inner_content())
    checked = 0
    for piece in read(parse, path)[0]:
        assert isinstance(piece.anchor, SectionAnchor)
        if piece.anchor.part is None and not piece.cells:
            block = blocks[(piece.anchor.paragraph or 0) - 1]
            assert getattr(block, "text", None) == piece.text
            checked += 1
    assert checked == 4


def test_insertions_stay_and_deletions_go(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>The price is </w:t></w:r><w:del><w:r><w:delText>ten</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>twelve</w:t></w:r></w:ins><w:r><w:t> crowns.</w:t></w:r></w:p>"
    )
    pieces, _ = read(parse, word_file(tmp_path / "a.docx", body))
    assert [piece.text for piece in pieces] == ["The price is twelve crowns."]


def test_entities_are_refused(tmp_path: Path) -> None:
    path = word_file(tmp_path / "a.docx", "")
    bomb = (
        f'<!DOCTYPE d [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><w:document xmlns:w="{WORD}"><w:body><w:p><w:r>'
        "<w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
    )
    with pytest.raises(MaliciousFile):
        read(parse, replace_part(path, "word/document.xml", bomb))


def test_truncated_archive_is_corrupt(tmp_path: Path) -> None:
    path = word_file(tmp_path / "a.docx", "<w:p/>")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CorruptFile):
        read(parse, path)
