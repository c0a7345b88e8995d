import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ingest.errors import IngestError, UnsupportedFile
from ingest.formats import FORMATS, Format, by_media_type, by_name, extension_of, load_parser

ROOT = Path(__file__).parents[2]
HEAVY = ("pymupdf", "openpyxl", "docx", "pptx", "lxml", "onnxruntime", "numpy", "rapidocr", "unstructured",
         "selectolax", "PIL", "icalendar", "markdown_it", "olefile", "python_calamine")  # fmt: skip


def test_no_two_rows_claim_the_same_name() -> None:
    extensions = [extension for row in FORMATS for extension in row.extensions]
    assert len(extensions) == len(set(extensions))
    media_types = [row.media_type for row in FORMATS]
    assert len(media_types) == len(set(media_types))
    assert all(media_type == media_type.lower() for media_type in media_types)


@pytest.mark.parametrize("row", FORMATS, ids=[row.extensions[0] for row in FORMATS])
def test_every_row_leads_to_a_parser(row: Format) -> None:
    module = f"ingest.parsers.{row.parser.partition(':')[0]}"
    if find_spec(module) is None:
        with pytest.raises(UnsupportedFile, match=row.extensions[0]):
            load_parser(row)
    else:
        assert callable(load_parser(row))


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("a.TXT", "txt"),
        ("archive.tar.gz", "gz"),
        (".profile", ""),
        ("README", ""),
        ("a.", ""),
        ("ü.Docx ", "docx"),
    ],
)
def test_extensions(name: str, extension: str) -> None:
    assert extension_of(name) == extension


def test_rows_are_found_by_name_and_media_type() -> None:
    row = by_name("Page.HTM")
    assert row is not None
    assert by_media_type("Text/HTML; charset=utf-8") is row
    assert by_media_type("video/mp4") is None
    assert by_name("movie.mkv") is None


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("ingest.parse", ()),
        ("ingest.forkserver", ()),
        ("ingest.detect", ()),
        ("ingest.parsers.plain", ()),
        ("ingest.parsers.table", ()),
        ("ingest.parsers.markdown", ("markdown_it",)),
    ],
)
def test_a_module_loads_no_library_of_another(module: str, allowed: tuple[str, ...]) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) & set(HEAVY) <= set(allowed)


def test_the_manual_lists_every_extension_and_error() -> None:
    manual = (ROOT / "docs/formats.md").read_text("utf-8")
    words = set(manual.replace(",", " ").replace("|", " ").split())
    assert {extension for row in FORMATS for extension in row.extensions} <= words
    assert {f"`{error.code}`" for error in IngestError.__subclasses__()} <= words


@pytest.mark.parametrize("parser", ["no_such_module:parse", "plain_without_library:parse"])
def test_a_missing_library_is_named(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ingest.parsers.plain_without_library", None)
    with pytest.raises(UnsupportedFile, match="not installed") as caught:
        load_parser(FORMATS[0]._replace(parser=parser))
    assert "docs/formats.md" in caught.value.next_step
