from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from ingest.artifacts import read_jsonl
from ingest.context import ParseContext, Piece
from ingest.errors import MaliciousFile, UnsupportedFile
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import parse_file
from ingest.parsers.general import parse

XML = "<report><para>Moss grows slowly on the north wall.</para><para>We counted 12.</para></report>"


def read(folder: Path, text: str) -> list[Piece]:
    path = folder / "r.xml"
    path.write_text(text, encoding="utf-8")
    return list(parse(ParseContext(path, path.name, "application/xml", ParseLimits(), folder)))


def test_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnsupportedFile, match="unstructured") as caught:
        read(tmp_path, XML)
    assert "strata-memory[general]" in caught.value.next_step


@pytest.mark.filterwarnings("ignore")  # of the libraries behind it
def test_reads_xml_offline(tmp_path: Path) -> None:
    shown = " ".join(piece.text for piece in read(tmp_path, XML))
    assert "Moss grows slowly on the north wall." in shown
    assert "We counted 12." in shown
    with pytest.raises(MaliciousFile):
        read(tmp_path, '<!DOCTYPE r [<!ENTITY a "aaaa">]><report>&a;</report>')


def test_reads_xml_in_the_confined_process(tmp_path: Path) -> None:
    source = tmp_path / "blob"
    source.write_text(XML, encoding="utf-8")
    outcome = parse_file(source, "count.xml", ParseLimits(), tmp_path / "out")
    read_back = read_jsonl(tmp_path / "out" / "elements.jsonl", Element)
    assert outcome.media_type == "application/xml"
    assert [element.text for element in read_back] == [
        "Moss grows slowly on the north wall.",
        "We counted 12.",
    ]
