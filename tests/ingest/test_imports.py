"""What importing a parser loads, each in an interpreter of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ingest.formats import FORMATS

ROOT = Path(__file__).parents[2]
LIBRARIES = {
    "PIL", "charset_normalizer", "cv2", "docutils", "docx", "lxml", "markdown_it", "numpy", "olefile",
    "onnxruntime", "openpyxl", "pptx", "pymupdf", "rapidocr", "selectolax", "spacy", "striprtf",
    "unstructured",
}  # fmt: skip
_OFFICE = {"lxml", "olefile"}  # what is embedded in an Office file, and what is locked, is an OLE file
_PIXELS = {"PIL", "numpy"}
OWN = {
    "book": {"lxml"},
    "image": _PIXELS,
    "legacy_sheet": _OFFICE,
    "legacy_slides": _OFFICE,
    "legacy_word": _OFFICE,
    "markdown": {"markdown_it"},
    "opendocument": {"lxml"},
    "outlook": {"olefile"},
    "pdf": {"pymupdf", *_PIXELS},
    "restructured": {"docutils"},
    "sheet": _OFFICE,
    "slides": _OFFICE,
    "svg": {"lxml"},
    "word": _OFFICE,
}
# Forks, so that what every parser needs anyway is loaded once.
SCRIPT = """
import importlib, json, os, sys
sys.path.insert(0, sys.argv[1])
import ingest.reading
for name in sys.argv[2:]:
    reader, writer = os.pipe()
    if os.fork() == 0:
        importlib.import_module(f"ingest.parsers.{name}")
        os.write(writer, json.dumps(sorted({module.partition(".")[0] for module in sys.modules})).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as said:
        print(json.dumps([name, json.loads(said.read())]))
"""


def test_importing_a_parser_loads_no_library_of_another() -> None:
    parsers = sorted({row.parser.partition(":")[0] for row in FORMATS})
    command = [sys.executable, "-I", "-c", SCRIPT, str(ROOT), *parsers]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    loaded = {name: LIBRARIES.intersection(modules) for name, modules in map(json.loads, lines)}
    assert loaded == {name: OWN.get(name, set()) for name in parsers}
