"""Open the anchors of facts drawn over all formats with other readers than ours.

    CORPUS_DIR=… python -m tests.bench.bench_anchors [--facts 60] [--per-format 3]

Without CORPUS_DIR the sample files of the project are read. Prints, for each format, in how many of the
places the quote stands, and each fact that is not where its anchor says.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from tests.extract import openers
from tests.extract.drawn_facts import draw, table

SAMPLES = Path(__file__).parents[2] / "api" / "samples"
_MAX_BYTES = 2_000_000


def files_by_format() -> dict[str, list[Path]]:
    """Return the files to draw from: those of the corpus that are to be read, or our samples."""
    known = {*openers.PLAIN, *openers.WITH_ENCODING}
    if not openers.HAS_TESSERACT:
        known -= openers.PIXELS
    found: dict[str, list[Path]] = {}
    if "CORPUS_DIR" in os.environ:
        corpus = Path(os.environ["CORPUS_DIR"])
        entries = map(json.loads, (corpus / "manifest.jsonl").read_text("utf-8").splitlines())
        paths = [
            corpus / entry["file"] for entry in entries if entry["expect"] == "ok" and entry["must_contain"]
        ]
    else:
        paths = sorted(SAMPLES.iterdir())
    for path in paths:
        name = path.suffix.lstrip(".").lower()
        if name in known and path.stat().st_size <= _MAX_BYTES and "bad" not in path.parts:
            found.setdefault(name, []).append(path)
    return found


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--facts", type=int, default=60)
    options.add_argument("--per-format", type=int, default=3)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(files_by_format(), chosen.facts, Path(folder), chosen.per_format)
    for one in drawn:
        if not one.is_there:
            print(f"{one.path.name}: {one.fact.anchors}\n  quote  {one.fact.quote!r}")
            print(f"  found  {one.opened[:400]!r}")
    print(table(drawn))


if __name__ == "__main__":
    main()
